import { repeatedOptionsOf } from '../../../cli/repeated-options.ts'
import type { ParsedArgs } from '../../../config/args.ts'
import { shellWord } from '../../../domain/shell-quote.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { linkSpan, plainText, type StyledLine, styled } from '../../../output/styled-text.ts'
import { textWidth } from '../../../output/text-width.ts'
import { describeEnd, type EndedWait, type Pieces, shortCommits, signOfEnd } from './describe-end.ts'

/** A next step: what it is for, and the command. */
type Step = readonly [purpose: string, command: string]

/** What the commands of next steps repeat of the command line. */
export interface RepeatedArgs {
  readonly repo: Repository
  readonly args: ParsedArgs
}

/** Returns the command that continues the wait for pull requests. */
export function waitCommand(pullRequests: readonly number[], { repo, args }: RepeatedArgs): string {
  const [until] = args.get('--until') ?? []
  const goal = until === undefined ? '' : ` --until ${shellWord(until)}`
  return `mergeq pr wait ${pullRequests.join(' ')}${goal}${repeatedOptionsOf(repo, args)}`
}

/** Returns what a person can do after the end of a wait. */
function nextSteps({ pr, state, end }: EndedWait, repeated: RepeatedArgs, isOnly: boolean): readonly Step[] {
  const options = repeatedOptionsOf(repeated.repo, repeated.args)
  const details: Step = ['Details', `mergeq pr explain ${pr}${options}`]
  const submit = `mergeq pr submit ${pr}${options}`
  if (end.isSkipped) return []
  const ended = end.outcome === 'left' ? state.state?.toLowerCase() : end.outcome
  switch (ended) {
    case 'failed':
      return [details, ['After a fix', submit]]
    case 'cancelled':
      return [details, ['To submit it again', submit]]
    case 'stale': {
      const [, found] = shortCommits(end.head?.expected, end.head?.found)
      return [['To wait for this head', `mergeq pr wait ${pr} --match-head ${found}${options}`]]
    }
    case 'timed-out':
    case 'pending':
      if (state.state === undefined && state.missingSince !== undefined && state.submission === undefined)
        return [['To submit it', submit]]
      return [
        // For several pull requests a single command follows all results.
        ...(isOnly ? [['To continue waiting', waitCommand([pr], repeated)] as const] : []),
        ...(end.isPaused
          ? [['To resume the queue', `mergeq queue resume${options}`] as const]
          : isOnly
            ? [details]
            : []),
      ]
    default:
      return []
  }
}

/** Returns steps on one line, or each on a line of its own where they are too long for that. */
export function stepLines(steps: readonly Step[], columns: number): readonly StyledLine[] {
  const texts = steps.map(([purpose, command]) => `  ${purpose}: ${command}`)
  const line = texts.map((text, index) => (index === 0 ? text : text.trimStart())).join('      ')
  if (texts.length === 0) return []
  return (textWidth(line) <= columns ? [line] : texts).map(text => [styled(text, 'dim')])
}

/** The largest number of failing checks that are shown. */
const maxChecks = 5

/**
 * Returns the first line with the failing checks: a single check on the same line, several on lines of their
 * own. A URL that does not fit beside the name has a line of its own.
 */
function checkLines(headline: Pieces, ended: EndedWait, columns: number): readonly StyledLine[] {
  const { failingChecks: checks = [] } = ended
  const pages = checks.map(({ name, url }) => ({ name, page: linkSpan(url ?? '', url) }))
  const [first] = pages
  if (first === undefined) return [headline]
  const fits = (candidate: StyledLine) => textWidth(plainText(candidate)) <= columns
  if (pages.length === 1) {
    const line = [...headline, `. Failing check: ${first.name}`]
    const whole = [...line, '  ', first.page]
    return first.page.text === '' ? [line] : fits(whole) ? [whole] : [line, ['    ', first.page]]
  }
  const hidden = pages.length - maxChecks
  return [
    [...headline, '. Failing checks:'],
    ...pages.slice(0, maxChecks).flatMap(({ name, page }): readonly StyledLine[] => {
      const both = [`    ${name}  `, page]
      return fits(both) ? [both] : [`    ${name}`, ['    ', page]]
    }),
    ...(hidden > 0 ? [`    and ${hidden} more`] : []),
  ]
}

/**
 * Returns the end of a wait for a terminal: what happened, the failing checks with their pages, and the next
 * commands. `isOnly` is whether the command waits for this pull request alone.
 */
export function endLines(
  ended: EndedWait,
  repeated: RepeatedArgs,
  isOnly: boolean,
  columns: number,
): readonly StyledLine[] {
  const headline = [signOfEnd(ended), ' ', ...describeEnd(ended)]
  return [...checkLines(headline, ended, columns), ...stepLines(nextSteps(ended, repeated, isOnly), columns)]
}
