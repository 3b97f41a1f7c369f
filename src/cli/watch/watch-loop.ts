import { type RequestLimits, type ServiceClient, withMaxRetries } from '../../api/service-client.ts'
import { parseDuration, parseInterval } from '../../domain/values/time.ts'
import { maxPollDelay, requestedDelay } from '../../domain/wait-state.ts'
import { isPermanent, toMergeqError, usageError } from '../../errors.ts'
import type { CommandContext } from '../context.ts'
import { flag, type InputValues, option } from '../inputs.ts'
import { maxErrorsOption } from '../poll-options.ts'
import type { WatchRenderer } from './watch-renderer.ts'

/** Returns the options of a watch of `subject`, with a default interval such as `10s`. */
export const watchInputs = (subject: string, defaultInterval: string) => ({
  once: flag({
    name: 'once',
    summary: `Print ${subject} once and exit`,
  }),
  interval: option({
    name: 'interval',
    value: 'duration',
    default: defaultInterval,
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
})

/** The values of the options of a watch. */
export type WatchInputValues = InputValues<ReturnType<typeof watchInputs>>

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

/**
 * Reads and renders repeatedly, until the duration is over, a person quits, or the readings fail permanently
 * or too often in a row; then it throws the error. With `once` it reads once, with the usual retries. Returns
 * the exit code 0. All times are in milliseconds.
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
  const limits = withMaxRetries(context.client(), 0)
  let errors = 0
  try {
    if (once) {
      await renderer.show(await read(context.client(), {}, true))
      return 0
    }
    for (;;) {
      let retryAfter = 0
      try {
        const reading = read(renderer.client(), limits, clock.now() >= endAt)
        await renderer.show(await renderer.untilQuit(reading))
        errors = 0
      } catch (error) {
        if (renderer.hasQuit()) return 0
        const failure = toMergeqError(error)
        errors++
        if (isPermanent(failure) || failure.kind === 'not-found' || errors >= maxErrors) throw failure
        retryAfter = requestedDelay([failure])
        await renderer.notify(`${failure.message} (failed polls in a row: ${errors})`)
      }
      const now = clock.now()
      // After the reader has closed the pipe, the watch ends without an error.
      if (now >= endAt || out.isClosed === true) return 0
      const backoff = Math.min(interval * 2 ** Math.min(errors, 9), Math.max(interval, maxPollDelay))
      if (!(await renderer.sleep(Math.min(Math.max(backoff, retryAfter), endAt - now)))) return 0
    }
  } finally {
    await renderer.close()
  }
}
