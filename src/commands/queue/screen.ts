import { callIfAvailable } from '../../api/extra-reads.ts'
import { getMergeQueueMetrics, readSamplesIn } from '../../api/operations/metrics.ts'
import { type ServiceClient, withoutMessages } from '../../api/service-client.ts'
import {
  findQueue,
  summarizeMetrics,
  type UsualTimeInQueue,
  usualRangeText,
  usualTimeInQueue,
} from '../../domain/metrics/last-hour.ts'
import { positionEntries, queueEntries, testSlotsText } from '../../domain/queue-entries.ts'
import { canResume, queueStateMessage } from '../../domain/states.ts'
import type { CommandLine } from '../../domain/suggested-command.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { shortRepositoryName } from '../../domain/values/repository.ts'
import { getString, type JsonObject } from '../../json.ts'
import { plainText, type Span, type StyledLine, stateSpan, styled } from '../../output/styled-text.ts'
import { type ColumnSpec, pullRequestColumns, table, type View, withLinks } from '../../output/view.ts'
import type { QueueParams } from './plan.ts'

/** What the metrics of the last hour say about a queue. */
export interface QueueActivity {
  readonly usual: UsualTimeInQueue | undefined
  /** How many pull requests wait to become ready; undefined if the metrics do not say. */
  readonly notReady: number | undefined
}

/**
 * Reads the metrics of a queue with a single request of at most `timeLimit` milliseconds, and with none after
 * a 404. Never rejects: undefined if the metrics cannot be read.
 */
export async function readQueueActivity(
  client: ServiceClient,
  { repo, targetBranch }: QueueParams,
  timeLimit = 1_000,
): Promise<QueueActivity | undefined> {
  try {
    const limits = { maxRetries: 0, timeout: () => timeLimit }
    const params = { repo, branch: targetBranch }
    const { result } = await callIfAvailable(withoutMessages(client), getMergeQueueMetrics, params, {
      limits,
    })
    if (result === undefined) return undefined
    const queue = findQueue(summarizeMetrics(readSamplesIn(result.response.bytes)), repo, targetBranch)
    return { usual: usualTimeInQueue(queue), notReady: queue?.numbers.awaitingMergeability }
  } catch {
    return undefined
  }
}

interface QueueScreenOptions extends QueueParams {
  readonly columns: number
  readonly activity: QueueActivity | undefined
  readonly commandLine: CommandLine
}

/** A piece of a line that is never broken. */
type Piece = readonly (string | Span)[]

/** Joins pieces with gaps, as many on each line as fit; the second and further lines are indented. */
function joinPieces(pieces: readonly Piece[], columns: number): readonly StyledLine[] {
  const lines: Piece[] = []
  for (const piece of pieces) {
    const last = lines.at(-1)
    const longer = last === undefined ? piece : [...last, '   ', ...piece]
    if (last === undefined || plainText(longer).length > columns)
      lines.push(last === undefined ? piece : ['  ', ...piece])
    else lines[lines.length - 1] = longer
  }
  return lines
}

/** Returns what the state of a queue means, and how to resume the queue; nothing for a queue that runs. */
function stateLines(state: string, options: QueueScreenOptions): readonly StyledLine[] {
  const { columns, commandLine } = options
  const message = queueStateMessage(state)
  if (message === undefined) return []
  const lines = [
    message,
    ...(canResume(state) ? [`To resume the queue, run: ${commandLine(['queue', 'resume'], options)}`] : []),
  ]
  const line = lines.join(' ')
  return (line.length <= columns ? [line] : lines).map(text => [styled(text, 'yellow')])
}

function headingLines(queue: JsonObject, options: QueueScreenOptions): readonly StyledLine[] {
  const { repo, targetBranch, columns, activity, commandLine } = options
  const state = getString(queue, 'state') ?? '-'
  const entries = queueEntries(queue)
  const count = (name: string) => entries.filter(entry => entry.state === name).length
  const notReady = count('NOT_READY') || (activity?.notReady ?? 0)
  const pieces: readonly Piece[] = [
    [styled(`${shortRepositoryName(repo)} ${targetBranch}`, 'bold'), '  ', stateSpan(state)],
    [testSlotsText(queue, '/')],
    [`waiting ${count('PENDING')}`],
    ...(notReady > 0 ? [[`not ready ${notReady}`]] : []),
    ...(activity?.usual === undefined ? [] : [[usualRangeText(activity.usual)]]),
  ]
  return [
    ...joinPieces(pieces, columns),
    ...stateLines(state, options),
    ...(entries.length > 0
      ? []
      : [
          'No pull requests are queued. Pull requests that are not ready are not listed.',
          `To check a pull request, run: ${commandLine(['pr', 'get', 7], options)}`,
        ]),
  ]
}

const columnSpecs: readonly ColumnSpec[] = [['', 'position', 'number'], ...pullRequestColumns]

export function queueScreen(queue: JsonObject, options: QueueScreenOptions): View {
  const entries = table(positionEntries(queue), columnSpecs)
  return {
    heading: headingLines(queue, options),
    ...withLinks(entries, pr => urlOfPullRequest(options.repo, pr)),
  }
}
