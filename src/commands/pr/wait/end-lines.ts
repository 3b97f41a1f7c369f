import type { CommandLine } from '../../../domain/suggested-command.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import { type Repository, repositoryName } from '../../../domain/values/repository.ts'
import { linkSpan, plainText, type StyledLine, styled } from '../../../output/styled-text.ts'
import { textWidth } from '../../../output/text-width.ts'
import { describeEnd, type EndedWait, type Pieces, shortCommits, signOfEnd } from './describe-end.ts'

/** A next step: what it is for, and the command. */
type Step = readonly [purpose: string, command: string]

export interface QueuedPullRequest {
  readonly pr: number
  readonly repo: Repository
  readonly targetBranch: string
}

/** Returns the command that continues the wait for pull requests; those of several repositories have URLs. */
export function waitCommand(pullRequests: readonly QueuedPullRequest[], commandLine: CommandLine): string {
  const [first] = pullRequests
  const isOneRepository = new Set(pullRequests.map(({ repo }) => repositoryName(repo))).size <= 1
  const references = pullRequests.map(({ pr, repo }) => (isOneRepository ? pr : urlOfPullRequest(repo, pr)))
  return commandLine(['pr', 'wait', ...references], isOneRepository ? first : {}, ['--until'])
}

function nextSteps(
  { state, end }: EndedWait,
  target: QueuedPullRequest,
  commandLine: CommandLine,
  isOnly: boolean,
): readonly Step[] {
  const { pr } = target
  const details: Step = ['Details', commandLine(['pr', 'explain', pr], target)]
  const submit = commandLine(['pr', 'submit', pr], target)
  if (end.isSkipped) return []
  const ended = end.outcome === 'left' ? state.state?.toLowerCase() : end.outcome
  switch (ended) {
    case 'failed':
      return [details, ['After a fix', submit]]
    case 'cancelled':
      return [details, ['To submit again', submit]]
    case 'stale': {
      const [, found] = shortCommits(end.head?.expected, end.head?.found)
      // The commit is text from the service: it must not put anything else into a command line.
      if (!/^[\da-f]+$/i.test(found)) return []
      return [
        ['To wait for the new head commit', commandLine(['pr', 'wait', pr, '--match-head', found], target)],
      ]
    }
    case 'timed-out':
    case 'pending':
      if (state.state === undefined && state.missingSince !== undefined && state.submission === undefined)
        return [['To submit it', submit]]
      return [
        // For several pull requests a single command follows all results.
        ...(isOnly ? [['To continue waiting', waitCommand([target], commandLine)] as const] : []),
        ...(end.isPaused
          ? [['To resume the queue', commandLine(['queue', 'resume'], target)] as const]
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
 * commands, from `commandLine`. `isOnly` is whether the command waits for this pull request alone.
 */
export function endLines(
  ended: EndedWait,
  target: QueuedPullRequest,
  commandLine: CommandLine,
  isOnly: boolean,
  columns: number,
): readonly StyledLine[] {
  const headline = [signOfEnd(ended), ' ', ...describeEnd(ended)]
  return [
    ...checkLines(headline, ended, columns),
    ...stepLines(nextSteps(ended, target, commandLine, isOnly), columns),
  ]
}
