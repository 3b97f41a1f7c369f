import type { CommandContext } from '../../cli/context.ts'
import { flag, type InputValues, option } from '../../cli/inputs.ts'
import type { WatchRenderer } from '../../cli/watch/watch-renderer.ts'
import { integerParser } from '../../domain/values/numbers.ts'
import { parseDuration, parseInterval } from '../../domain/values/time.ts'
import { defaultMaxErrors, maxPollDelay, requestedDelay } from '../../domain/wait-state.ts'
import { isPermanent, toMergeqError, usageError } from '../../errors.ts'

/** The flags of a watch: `what` is watched, read every `usual` (a duration as it is typed). */
export const watchInputs = (what: string, usual: string) => ({
  once: flag('--once', `Print ${what} as ${what.endsWith('s') ? 'they are' : 'it is'} now, and end`),
  interval: option(
    '--interval <duration>',
    `Time between readings, at least 1s (default ${usual})`,
    parseInterval,
  ),
  lasting: option('--for <duration>', 'End after so long, with 0', parseDuration),
  maxErrors: option(
    '--max-errors <n>',
    'End after so many failed readings in a row (default 10)',
    integerParser(1, 1_000_000),
  ),
})

/** What was typed for a watch. */
export type WatchInputValues = InputValues<ReturnType<typeof watchInputs>>

/** Refuses what contradicts itself. */
export function checkWatchInputs({ once, lasting }: WatchInputValues): void {
  if (once && lasting !== undefined)
    throw usageError('--once and --for contradict each other.', 'Leave one of them out.')
}

/** Looks once; `isLast` says that none comes after it. */
type WatchReader<L> = (context: CommandContext, isLast: boolean) => Promise<L>

/** Looks again and again until the time is over, a person leaves, or it cannot go on; only once as any other reading. */
export async function watchLoop<L>(
  look: WatchReader<L>,
  { once, interval, lasting, maxErrors = defaultMaxErrors }: WatchInputValues & { readonly interval: number },
  stage: WatchRenderer<L>,
  context: CommandContext,
): Promise<number> {
  const { clock, out } = context.host
  const until = clock.now() + (lasting ?? Number.POSITIVE_INFINITY)
  let errors = 0
  try {
    if (once) {
      await stage.show(await look(context, true))
      return 0
    }
    for (;;) {
      let asked = 0
      try {
        await stage.show(await stage.unlessLeft(look(stage.context(), clock.now() >= until)))
        errors = 0
      } catch (error) {
        if (stage.isLeft()) return 0
        const failure = toMergeqError(error)
        errors++
        if (isPermanent(failure) || failure.kind === 'not-found' || errors >= maxErrors) throw failure
        asked = requestedDelay([failure])
        await stage.notify(`${failure.message} (${errors} in a row)`)
      }
      const now = clock.now()
      // Nobody reads any more: a closed pipe ends quietly.
      if (now >= until || out.gone === true) return 0
      const paced = Math.min(interval * 2 ** Math.min(errors, 9), Math.max(interval, maxPollDelay))
      if (!(await stage.sleep(Math.min(Math.max(paced, asked), until - now)))) return 0
    }
  } finally {
    await stage.close()
  }
}
