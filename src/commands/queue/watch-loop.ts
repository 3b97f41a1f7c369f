import type { RequestLimits, ServiceClient } from '../../api/service-client.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { describeDeparture } from '../../domain/departure.ts'
import { formatAge } from '../../domain/format.ts'
import { describeChange, type QueueChange } from '../../domain/queue-changes.ts'
import { testSlotsText } from '../../domain/queue-entries.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { maxPollDelay, requestedDelay } from '../../domain/wait-state.ts'
import { isPermanent, type MergeqError, toMergeqError } from '../../errors.ts'
import { getArray, getString, type JsonObject } from '../../json.ts'
import { singleRecord } from '../../output/printer.ts'
import { table } from '../../output/view.ts'
import type { QueueParams } from './plan.ts'
import type { QueueActivity } from './screen.ts'

export interface QueueUpdate {
  readonly queue: JsonObject
  /** The changes since the previous reading; undefined for the first reading. */
  readonly changes: readonly QueueChange[] | undefined
  readonly activity?: QueueActivity | undefined
}

/** Reads the queue once within the limits; `isLast` means that no reading follows. */
export type QueueReader = (
  client: ServiceClient,
  limits: RequestLimits,
  isLast: boolean,
) => Promise<QueueUpdate>

/** What shows the readings: a live screen, or a stream of lines. */
export interface WatchRenderer {
  client(): ServiceClient
  show(update: QueueUpdate): Promise<void>
  notify(text: string): Promise<void>
  /** Sleeps that many milliseconds. Resolves to false as soon as a person quits. */
  sleep(milliseconds: number): Promise<boolean>
  /** Resolves with the result of the work; rejects as soon as a person quits. */
  untilQuit<T>(work: Promise<T>): Promise<T>
  hasQuit(): boolean
  close(): Promise<void>
}

/** The times are in milliseconds. */
export interface WatchOptions {
  readonly once: boolean
  readonly interval: number
  readonly duration: number | undefined
  /** How many polls in a row may fail. */
  readonly maxErrors: number
}

/** Whether a failure ends a watch: every failure of the first reading does, except a rate limit. */
const endsWatch = (failure: MergeqError, hasRead: boolean): boolean =>
  isPermanent(failure) || failure.kind === 'not-found' || (!hasRead && failure.details.status !== 429)

/**
 * Reads and renders repeatedly, until the duration is over, a person quits, the first reading fails, or later
 * readings fail permanently or too often in a row; then it throws the error. The first reading, and the only
 * one with `once`, has the usual retries. Returns the exit code 0.
 */
export async function watchLoop(
  read: QueueReader,
  { once, interval, duration, maxErrors }: WatchOptions,
  renderer: WatchRenderer,
  context: CommandContext,
): Promise<number> {
  const { clock, out } = context.host
  const endAt = clock.now() + (duration ?? Number.POSITIVE_INFINITY)
  // The watch repeats a failed reading by itself (docs/reference/network.md, "Retries").
  const pollLimits = { maxRetries: 0 }
  let errors = 0
  let hasRead = false
  try {
    if (once) {
      await renderer.show(await read(context.client(), {}, true))
      return 0
    }
    for (;;) {
      let retryAfter = 0
      let failure: MergeqError | undefined
      try {
        const limits = hasRead ? pollLimits : {}
        const reading = read(renderer.client(), limits, clock.now() >= endAt)
        await renderer.show(await renderer.untilQuit(reading))
        errors = 0
        hasRead = true
      } catch (error) {
        if (renderer.hasQuit()) return 0
        failure = toMergeqError(error)
        errors++
        if (endsWatch(failure, hasRead) || errors >= maxErrors) throw failure
        retryAfter = requestedDelay([failure])
      }
      const now = clock.now()
      // After the reader has closed the pipe, the watch ends without an error.
      const isOver = now >= endAt || out.isClosed === true
      const backoff = Math.min(interval * 2 ** Math.min(errors, 9), Math.max(interval, maxPollDelay))
      const delay = Math.min(Math.max(backoff, retryAfter), endAt - now)
      if (failure !== undefined) {
        const next = isOver ? '' : `; next attempt in ${formatAge(delay)}`
        await renderer.notify(`${failure.message} (failed polls in a row: ${errors}${next})`)
      }
      if (isOver || !(await renderer.sleep(delay))) return 0
    }
  } finally {
    await renderer.close()
  }
}

/** Returns a sentence: the queue with its state, and the number of pull requests under test and queued. */
const queueSummary = (queue: JsonObject, { repo, targetBranch }: QueueParams): string =>
  `Queue for ${targetBranch} in ${repositoryName(repo)}: ${getString(queue, 'state') ?? '-'}, ${testSlotsText(queue, ' of ')}, ${getArray(queue, 'enqueuedPullRequests').length} queued.`

/** Returns the first record of a stream; the fields that this program adds replace those of the service. */
const queueEvent = (queue: JsonObject, { repo, targetBranch }: QueueParams, at: string): JsonObject => {
  const { type: _, at: __, ...rest } = queue
  return { type: 'queue', at, repo: repositoryName(repo), targetBranch, ...rest }
}

/** A record is the queue, as the first reading shows it, or a change. */
export const changeRecord: RecordFields = {
  names: [
    ...['type', 'at', 'pr', 'from', 'to', 'position', 'repo', 'targetBranch'],
    ...['author', 'submittedBy', 'reason', 'actor'],
  ],
  columns: [
    ['AT', 'at'],
    ['PR', 'pr', 'pr'],
    ['FROM', 'from', 'state'],
    ['TO', 'to', 'state'],
    ['POSITION', 'position', 'number'],
  ],
}

/** Creates the renderer for pipes, CI jobs and every format except the table: it prints each change. */
export function createStreamRenderer(watched: QueueParams, context: CommandContext): WatchRenderer {
  const { printer, logger, host } = context
  const printChange = (change: QueueChange) => {
    const record = { type: 'change', ...change }
    const departure = describeDeparture(change)
    const sentence = `${describeChange(change)}${departure === '' ? '' : `: ${departure}`}`
    return printer.print(singleRecord(record, () => ({ ...table([record], changeRecord.columns), sentence })))
  }
  return {
    client: () => context.client(),
    async show({ queue, changes }) {
      if (changes !== undefined) for (const change of changes) await printChange(change)
      else if (context.options.format === 'ndjson') {
        const event = queueEvent(queue, watched, new Date(host.clock.now()).toISOString())
        await printer.print(singleRecord(event, () => table([], changeRecord.columns)))
      } else await logger.info(queueSummary(queue, watched))
    },
    notify: text => logger.info(text),
    async sleep(milliseconds) {
      await host.clock.sleep(milliseconds, host.interrupted)
      return true
    },
    untilQuit: work => work,
    hasQuit: () => false,
    close: async () => undefined,
  }
}
