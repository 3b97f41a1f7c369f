import { callOperation } from '../../../api/call.ts'
import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { mapConcurrent, maxConcurrent } from '../../../cli/concurrency.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { Input } from '../../../cli/inputs.ts'
import type { Invocation } from '../../../cli/invocation.ts'
import type { queueInputs } from '../../../cli/queue-inputs.ts'
import { repositoryName } from '../../../domain/values/parsers.ts'
import type { WaitObservation, WaitState } from '../../../domain/wait.ts'
import { isPermanent, type MergeqError, toMergeqError, withPeriod } from '../../../errors.ts'
import { get, getArray, isObject, type JsonObject } from '../../../json.ts'

/** The inputs that name a pull request. */
type WaitInputs = typeof queueInputs & { readonly pr: Input<number> }

/** One pull request that is waited for. */
export interface WaitTarget {
  readonly invocation: Invocation<WaitInputs>
  readonly state: WaitState
  /** Failed readings in a row. */
  readonly errors: number
}

/** What one round found of a pull request, or why it could not be read. */
export type PollResult =
  | { readonly sight: WaitObservation; readonly failure?: MergeqError }
  | { readonly failure: MergeqError }

/** What one round read, with the records of the queues by name. */
export interface PollRound {
  /** Of each pull request in the order given; those for which there was no time are not in it. */
  readonly found: readonly PollResult[]
  readonly queues: ReadonlyMap<string, JsonObject>
}

/** The queue that a pull request is in, as messages name it. */
export const queueName = ({ invocation: { values } }: Pick<WaitTarget, 'invocation'>): string =>
  `${values.targetBranch} in ${repositoryName(values.repo)}`

/** What reading asks for besides the pull requests. */
export interface PollOptions {
  /** Whether the state of the queue must be known in every round. */
  readonly needsQueue: boolean
  /** The queues that refused to be read: they are not asked again. */
  readonly closed: Set<string>
  /** Whether there is time for one more reading. */
  mayBegin(): boolean
}

/**
 * Reads where pull requests stand: one reading of a queue for all that are in it, and one for each that is not. One
 * alone is read by itself, unless it stands still where only its queue can say why (CLI.md section 5). A queue that
 * refuses to be read is done without. Only an interruption is thrown.
 */
export async function readRound(
  watches: readonly WaitTarget[],
  manner: PollOptions,
  context: CommandContext,
): Promise<PollRound> {
  const answers = new Map<string, Listing | { readonly failure: MergeqError }>()
  for (const name of new Set(watches.map(queueName))) {
    const those = watches.filter(watch => queueName(watch) === name)
    if (manner.closed.has(name) || !asksQueue(those, manner) || !manner.mayBegin()) continue
    const answer = await readQueue(those, context)
    if ('entries' in answer) answers.set(name, answer)
    else if (isRefusal(answer.failure)) {
      manner.closed.add(name)
      const text = `${withPeriod(answer.failure.message)} Reading each pull request by itself`
      if (manner.needsQueue) await context.logger.warn(`${text}: a pause of the queue is not noticed.`)
      else await context.logger.info(`${text}.`)
    } else if (those.length > 1 || (manner.needsQueue && isPermanent(answer.failure)))
      answers.set(name, answer)
    else if (manner.needsQueue)
      await context.warnOnce(
        `${withPeriod(answer.failure.message)} A pause of the queue is not noticed while that lasts.`,
      )
  }
  const look = async (watch: WaitTarget): Promise<PollResult> => {
    const answer = answers.get(queueName(watch))
    if (answer !== undefined && 'failure' in answer) return answer
    const { pr } = watch.invocation.values
    return answer?.entries.get(pr) ?? readOne(watch, context)
  }
  const found: PollResult[] = []
  for await (const one of mapConcurrent(watches, maxConcurrent, look, manner.mayBegin)) found.push(one)
  const queues = [...answers].flatMap(([name, answer]) =>
    'entries' in answer ? [[name, answer.record] as const] : [],
  )
  return { found, queues: new Map(queues) }
}

/** A queue as it was read, and what it lists by number. */
interface Listing {
  readonly record: JsonObject
  readonly entries: ReadonlyMap<number, PollResult>
}

const asksQueue = (those: readonly WaitTarget[], { needsQueue }: PollOptions): boolean =>
  those.length > 1 || needsQueue || those.some(({ state }) => state.isStill && state.state !== 'TESTING')

/** Whether the service will not say, today or later. */
const isRefusal = ({ kind }: MergeqError): boolean => kind === 'not-found' || kind === 'refused'

async function readQueue(
  [first]: readonly WaitTarget[],
  context: CommandContext,
): Promise<Listing | { readonly failure: MergeqError }> {
  if (first === undefined) return { record: {}, entries: new Map() }
  const { repo, targetBranch } = first.invocation.values
  try {
    const { reply } = await callOperation(context, getQueue, { repo, targetBranch })
    const [record = {}] = reply.records
    const now = context.host.clock.now()
    const entries = new Map<number, PollResult>()
    for (const [index, entry] of getArray(record, 'enqueuedPullRequests').entries()) {
      const number = get(entry, 'prNumber')
      if (typeof number === 'number' && isObject(entry))
        entries.set(number, { sight: { record: entry, position: index + 1, at: now } })
    }
    return { record, entries }
  } catch (error) {
    return { failure: unlessInterrupted(error) }
  }
}

async function readOne({ invocation }: WaitTarget, context: CommandContext): Promise<PollResult> {
  const { clock } = context.host
  const askedAt = clock.now()
  try {
    const { reply, date } = await callOperation(
      context,
      getSubmittedPullRequest,
      invocation.values,
      invocation,
    )
    const [record = {}] = reply.records
    return { sight: { record, at: clock.now(), askedAt, date } }
  } catch (error) {
    const failure = unlessInterrupted(error)
    // A web page says nothing of a pull request.
    return failure.kind === 'not-found' && failure.details.isWebPage !== true
      ? { sight: { record: undefined, at: clock.now() }, failure }
      : { failure }
  }
}

function unlessInterrupted(error: unknown): MergeqError {
  const failure = toMergeqError(error)
  if (failure.kind === 'interrupted') throw failure
  return failure
}
