import { poll } from '../../../api/operations/pull-requests.ts'
import { read } from '../../../api/operations/queues.ts'
import type { Known, Sight } from '../../../domain/wait.ts'
import { nameOf } from '../../../domain/values/parsers.ts'
import { asFailure, ended, type Failure, isFinal } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import { exchange } from '../../../api/call.ts'
import { atOnce, sideBySide } from '../../../cli/concurrency.ts'
import type { Run } from '../../../cli/invocation.ts'
import { at, isObject, type JsonObject, listAt } from '../../../json.ts'

/** One pull request that is waited for. */
export interface Watch {
  readonly run: Run<typeof poll.fields>
  readonly known: Known
  /** Failed readings in a row. */
  readonly errors: number
}

/** What one round found of a pull request, or why it could not be read. */
export type Found = { readonly sight: Sight; readonly failure?: Failure } | { readonly failure: Failure }

/** What one round read, with the records of the queues by name. */
export interface Round {
  /** Of each pull request in the order given; those for which there was no time are not in it. */
  readonly found: readonly Found[]
  readonly queues: ReadonlyMap<string, JsonObject>
}

/** The queue that a pull request is in, as messages name it. */
export const queueOf = ({ run: { values } }: Pick<Watch, 'run'>): string =>
  `${values.targetBranch} in ${nameOf(values.repo)}`

/** What reading asks for besides the pull requests. */
export interface Manner {
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
export async function readRound(watches: readonly Watch[], manner: Manner, desk: Desk): Promise<Round> {
  const answers = new Map<string, Listing | { readonly failure: Failure }>()
  for (const name of new Set(watches.map(queueOf))) {
    const those = watches.filter(watch => queueOf(watch) === name)
    if (manner.closed.has(name) || !asksQueue(those, manner) || !manner.mayBegin()) continue
    const answer = await readQueue(those, desk)
    if ('entries' in answer) answers.set(name, answer)
    else if (isRefusal(answer.failure)) {
      manner.closed.add(name)
      const text = `${ended(answer.failure.message)} Reading each pull request by itself`
      if (manner.needsQueue) await desk.voice.warn(`${text}: a pause of the queue is not noticed.`)
      else await desk.voice.note(`${text}.`)
    } else if (those.length > 1 || (manner.needsQueue && isFinal(answer.failure))) answers.set(name, answer)
    else if (manner.needsQueue)
      await desk.sayOnce(
        `${ended(answer.failure.message)} A pause of the queue is not noticed while that lasts.`,
      )
  }
  const look = async (watch: Watch): Promise<Found> => {
    const answer = answers.get(queueOf(watch))
    if (answer !== undefined && 'failure' in answer) return answer
    const { pr } = watch.run.values
    return answer?.entries.get(pr) ?? readOne(watch, desk)
  }
  const found: Found[] = []
  for await (const one of sideBySide(watches, atOnce, look, manner.mayBegin)) found.push(one)
  const queues = [...answers].flatMap(([name, answer]) =>
    'entries' in answer ? [[name, answer.record] as const] : [],
  )
  return { found, queues: new Map(queues) }
}

/** A queue as it was read, and what it lists by number. */
interface Listing {
  readonly record: JsonObject
  readonly entries: ReadonlyMap<number, Found>
}

const asksQueue = (those: readonly Watch[], { needsQueue }: Manner): boolean =>
  those.length > 1 || needsQueue || those.some(({ known }) => known.isStill && known.state !== 'TESTING')

/** Whether the service will not say, today or later. */
const isRefusal = ({ kind }: Failure): boolean => kind === 'not-found' || kind === 'refused'

async function readQueue(
  [first]: readonly Watch[],
  desk: Desk,
): Promise<Listing | { readonly failure: Failure }> {
  if (first === undefined) return { record: {}, entries: new Map() }
  const { repo, targetBranch } = first.run.values
  try {
    const { reply } = await exchange(read, { values: { repo, targetBranch }, sets: [] }, desk)
    const [record = {}] = reply.records
    const now = desk.world.clock.now()
    const entries = new Map<number, Found>()
    for (const [index, entry] of listAt(record, 'enqueuedPullRequests').entries()) {
      const number = at(entry, 'prNumber')
      if (typeof number === 'number' && isObject(entry))
        entries.set(number, { sight: { record: entry, position: index + 1, at: now } })
    }
    return { record, entries }
  } catch (error) {
    return { failure: unlessInterrupted(error) }
  }
}

async function readOne({ run }: Watch, desk: Desk): Promise<Found> {
  const { clock } = desk.world
  const askedAt = clock.now()
  try {
    const { reply, date } = await exchange(poll, run, desk)
    const [record = {}] = reply.records
    return { sight: { record, at: clock.now(), askedAt, date } }
  } catch (error) {
    const failure = unlessInterrupted(error)
    // A web page says nothing of a pull request.
    return failure.kind === 'not-found' && failure.details.page !== true
      ? { sight: { record: undefined, at: clock.now() }, failure }
      : { failure }
  }
}

function unlessInterrupted(error: unknown): Failure {
  const failure = asFailure(error)
  if (failure.kind === 'interrupted') throw failure
  return failure
}
