import { getString, type JsonObject } from '../../../base/json.ts'
import { nameBatch } from '../../../domain/batches.ts'
import type { QueueActivity } from '../../../domain/metrics/last-hour.ts'
import { positionEntries, queueEntries, testSlots } from '../../../domain/queue-entries.ts'
import { canResume, queueStateMessage, stateWords } from '../../../domain/states.ts'
import { pullRequestColumns, withLinks, withMark } from '../../../output/pull-request-columns.ts'
import { plainText, type Span, type StyledLine, stateSpan, styled } from '../../../output/styled-text.ts'
import { columns, type Screen } from '../../../output/view.ts'
import { formatEstimate, formatInteger, pluralize } from '../../../values/format.ts'
import { urlOfPullRequest } from '../../../values/pull-request.ts'
import { type Queue, shortRepositoryName } from '../../../values/repository.ts'
import type { CommandLine } from '../../../values/suggested-command.ts'

/** Says how many pull requests are not ready: `3 pull requests are not ready.` Undefined without any. */
export const notReadySentence = (count = 0): string | undefined =>
  count > 0 ? `${pluralize(count, 'pull request')} ${count === 1 ? 'is' : 'are'} not ready.` : undefined

interface QueueScreenOptions extends Queue {
  readonly columns: number
  readonly activity: QueueActivity
  readonly commandLine: CommandLine
  readonly user?: string | undefined
}

/** A piece of a line that is never broken. */
type Piece = readonly (string | Span)[]

/** Joins pieces with gaps, as many on each line as fit; the second and further lines are indented. */
function joinPieces(
  [first, ...pieces]: readonly [Piece, ...Piece[]],
  columns: number,
): readonly StyledLine[] {
  const lines: [Piece, ...Piece[]] = [first]
  let gap = '   '
  for (const piece of pieces) {
    const longer = [...(lines.at(-1) ?? first), gap, ...piece]
    if (plainText(longer).length > columns) lines.push(['  ', ...piece])
    else lines[lines.length - 1] = longer
    gap = ' · '
  }
  return lines
}

/** What the entries in a state are called where they are counted. */
const countWords: Readonly<Record<string, string>> = { PENDING: 'waiting', TESTS_PASSED: 'passed' }

/** Returns how many entries of a queue are in each state: `3 of 5 test runs`, `5 waiting`. */
function countPieces(queue: JsonObject, batches: readonly (readonly number[])[]): readonly Piece[] {
  const states = queueEntries(queue).map(({ state }) => state)
  const { concurrency, isBatching, testing } = testSlots(queue)
  const isKnown = testing.every(({ pr }) => batches.flat().includes(pr))
  return [...new Set(['TESTING', ...states])].map(state => {
    const words = countWords[state] ?? stateWords(state)
    const number = states.filter(other => other === state).length
    if (state !== 'TESTING' || concurrency === undefined) return [`${number} ${words}`]
    // A batch is one test run of several pull requests, and the queue does not say which are in it.
    if (isBatching && number > 0 && !isKnown) return [`${number} testing in batches`]
    const runs = isBatching ? batches.length : number
    // Those of a batch that is split count apart.
    if (runs > concurrency) return [pluralize(runs, 'test run')]
    return [`${runs} of ${formatInteger(concurrency)} test runs`]
  })
}

/** Returns what the state of a queue means, and how to resume the queue; nothing for a queue that runs. */
function stateLines(state: string, options: QueueScreenOptions): readonly StyledLine[] {
  const { columns, commandLine } = options
  const message = queueStateMessage(state)
  if (message === undefined) return []
  const lines = [
    message,
    ...(canResume(state) ? [`If you manage the queue: ${commandLine(['queue', 'resume'], options)}`] : []),
  ]
  const line = lines.join(' ')
  return (line.length <= columns ? [line] : lines).map(text => [styled(text, 'yellow')])
}

const emptyLines = (
  notReady: number,
  { commandLine, ...queue }: QueueScreenOptions,
): readonly StyledLine[] =>
  notReady > 0
    ? [
        `No pull requests are queued. ${notReadySentence(notReady)}`,
        `To see why, run: ${commandLine(['queue', 'explain'], queue)}`,
      ]
    : [
        'No pull requests are queued. Pull requests that are not ready are not listed.',
        'To check a pull request, use pr get with its number.',
      ]

function headingLines(queue: JsonObject, options: QueueScreenOptions): readonly StyledLine[] {
  const { repo, targetBranch, columns, activity } = options
  const { usual, notReady = 0, batches = [] } = activity
  const together = batches.filter(({ length }) => length > 1).map(nameBatch)
  const state = getString(queue, 'state') ?? '-'
  const title: Piece = [
    styled(`${shortRepositoryName(repo)} ${targetBranch}`, 'bold'),
    '  ',
    stateSpan(state),
  ]
  const usualPieces =
    usual === undefined ? [] : [[`median time in queue ${formatEstimate(usual)}, last hour`]]
  const notReadyPieces = notReady > 0 ? [[`${formatInteger(notReady)} not ready`]] : []
  return [
    ...joinPieces([title, ...countPieces(queue, batches), ...notReadyPieces, ...usualPieces], columns),
    ...(together.length === 0 ? [] : [`Tested together: ${together.join('; ')}`]),
    ...stateLines(state, options),
    ...(queueEntries(queue).length > 0 ? [] : emptyLines(notReady, options)),
  ]
}

export function queueScreen(queue: JsonObject, options: QueueScreenOptions): Screen {
  const entryColumns = [
    ...columns(['position', { title: '' }]),
    ...withMark(pullRequestColumns, options.user),
  ]
  return {
    heading: headingLines(queue, options),
    columns: withLinks(entryColumns, pr => urlOfPullRequest(options.repo, pr)),
    rows: positionEntries(queue),
  }
}
