import { startWait, type Wait } from '../../../api/wait/poll.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { WaitOptions } from '../../../domain/wait-state.ts'
import { exitCodeOf, extendError, type MergeqError } from '../../../errors.ts'

/** Starts a wait whose attempts have the time limit of the environment and the settings, not `--timeout`. */
export async function startCommandWait<O extends Pick<WaitOptions, 'limit'>>(
  options: O,
  context: CommandContext,
): Promise<Wait<O>> {
  const args = new Map(context.args)
  args.delete('--timeout')
  const configured = await context.settings.withArgs(args).read('timeout')
  return startWait(options, context.client(), configured || undefined)
}

/** How long a wait stays without output, in milliseconds. */
const maxSilence = 5 * 60_000

/**
 * Sleeps; elsewhere than on a terminal, a message every five minutes without output says what the wait is for.
 * Returns when the last output was, in milliseconds since the wait began.
 */
export async function sleepWithMessages(
  delay: number,
  wait: { elapsed(): number; readonly lastOutputAt: number; describe(): string },
  { host, logger }: CommandContext,
): Promise<number> {
  const { clock, err, interrupted } = host
  const wakeAt = wait.elapsed() + delay
  let { lastOutputAt } = wait
  for (;;) {
    const now = wait.elapsed()
    if (!err.terminal && now - lastOutputAt >= maxSilence) {
      lastOutputAt = now
      const minutes = Math.round(now / 60_000)
      await logger.info(`Still waiting after ${minutes} minutes for ${wait.describe()}`)
    }
    if (now >= wakeAt) return lastOutputAt
    const silence = err.terminal ? delay : lastOutputAt + maxSilence - now
    await clock.sleep(Math.min(wakeAt - now, silence), interrupted)
  }
}

/**
 * Tells a person at a terminal that Ctrl-C ended a wait, in words of the wait instead of the signal. Returns the
 * error that ends the command.
 */
export async function reportStop(
  failure: MergeqError,
  sentence: string,
  { host, logger, messages, results }: CommandContext,
): Promise<MergeqError> {
  if (failure.exit !== exitCodeOf('interrupted') || messages === 'log' || results === 'json') return failure
  // The terminal shows ^C; only a spinner clears it.
  if (!logger.hasSpinner) await host.err.write('\n')
  await logger.info(sentence)
  return extendError(failure, { isShown: true })
}
