import { type RequestLimits, type ServiceClient, withMaxRetries } from '../../api/service-client.ts'
import { formatAge } from '../../domain/format.ts'
import { parseDuration, parseInterval } from '../../domain/values/time.ts'
import { maxPollDelay, requestedDelay } from '../../domain/wait-state.ts'
import { isPermanent, type MergeqError, toMergeqError, usageError } from '../../errors.ts'
import type { CommandContext } from '../context.ts'
import { flag, type InputValues, option } from '../inputs.ts'
import { maxErrorsOption } from '../poll-options.ts'
import type { WatchRenderer } from './watch-renderer.ts'

export const watchInputs = {
  once: flag({ name: 'once', summary: 'Print the queue once and exit' }),
  interval: option({
    name: 'interval',
    value: 'duration',
    default: '10s',
    summary: 'Time between polls, at least 1s',
    parse: parseInterval,
  }),
  duration: option({
    name: 'for',
    value: 'duration',
    summary: 'Stop after this long and exit 0',
    parse: parseDuration,
  }),
  maxErrors: maxErrorsOption,
}

export type WatchInputValues = InputValues<typeof watchInputs>

/** Throws a usage error for options that contradict each other. */
export function checkWatchInputs({ once, duration }: WatchInputValues): void {
  if (once && duration !== undefined)
    throw usageError('--once and --for cannot be used together.', 'Use only one of them.')
}

/** Reads once within the limits; `isLast` means that no reading follows. */
export type WatchReader<Update> = (
  client: ServiceClient,
  limits: RequestLimits,
  isLast: boolean,
) => Promise<Update>

/** Whether a failure ends a watch: every failure of the first reading does, except a rate limit. */
const endsWatch = (failure: MergeqError, hasRead: boolean): boolean =>
  isPermanent(failure) || failure.kind === 'not-found' || (!hasRead && failure.details.status !== 429)

/**
 * Reads and renders repeatedly, until the duration is over, a person quits, the first reading fails, or later
 * readings fail permanently or too often in a row; then it throws the error. The first reading, and the only
 * one with `once`, has the usual retries. Returns the exit code 0. All times are in milliseconds.
 */
export async function watchLoop<Update>(
  read: WatchReader<Update>,
  { once, interval, duration, maxErrors }: WatchInputValues,
  renderer: WatchRenderer<Update>,
  context: CommandContext,
): Promise<number> {
  const { clock, out } = context.host
  const endAt = clock.now() + (duration ?? Number.POSITIVE_INFINITY)
  // The watch repeats a failed reading by itself (docs/reference/network.md, "Retries").
  const pollLimits = withMaxRetries(context.client(), 0)
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
