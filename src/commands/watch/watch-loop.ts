import { flag, on, type Values } from '../../cli/inputs.ts'
import { askedBy, mostErrors, slowest } from '../../domain/wait.ts'
import { duration, integer, pause } from '../../domain/values/parsers.ts'
import { asFailure, isFinal, usage } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import type { Stage } from './renderer.ts'

/** The flags of a watch: `what` is watched, read every `usual` (a duration as it is typed). */
export const watchFields = (what: string, usual: string) => ({
  once: on('--once', `Print ${what} as ${what.endsWith('s') ? 'they are' : 'it is'} now, and end`),
  interval: flag('--interval <duration>', `Time between readings, at least 1s (default ${usual})`, pause),
  lasting: flag('--for <duration>', 'End after so long, with 0', duration),
  maxErrors: flag(
    '--max-errors <n>',
    'End after so many failed readings in a row (default 10)',
    integer(1, 1_000_000),
  ),
})

/** What was typed for a watch. */
export type Terms = Values<ReturnType<typeof watchFields>>

/** Refuses what contradicts itself. */
export function checkTerms({ once, lasting }: Terms): void {
  if (once && lasting !== undefined)
    throw usage('--once and --for contradict each other.', 'Leave one of them out.')
}

/** Looks once; `isLast` says that none comes after it. */
type Looker<L> = (desk: Desk, isLast: boolean) => Promise<L>

/** Looks again and again until the time is over, a person leaves, or it cannot go on; only once as any other reading. */
export async function keepWatching<L>(
  look: Looker<L>,
  { once, interval, lasting, maxErrors = mostErrors }: Terms & { readonly interval: number },
  stage: Stage<L>,
  desk: Desk,
): Promise<number> {
  const { clock, out } = desk.world
  const until = clock.now() + (lasting ?? Number.POSITIVE_INFINITY)
  let errors = 0
  try {
    if (once) {
      await stage.show(await look(desk, true))
      return 0
    }
    for (;;) {
      let asked = 0
      try {
        await stage.show(await stage.unlessLeft(look(stage.desk(), clock.now() >= until)))
        errors = 0
      } catch (error) {
        if (stage.isLeft()) return 0
        const failure = asFailure(error)
        errors++
        if (isFinal(failure) || failure.kind === 'not-found' || errors >= maxErrors) throw failure
        asked = askedBy([failure])
        await stage.tell(`${failure.message} (${errors} in a row)`)
      }
      const now = clock.now()
      // Nobody reads any more: a closed pipe ends quietly.
      if (now >= until || out.gone === true) return 0
      const paced = Math.min(interval * 2 ** Math.min(errors, 9), Math.max(interval, slowest))
      if (!(await stage.rest(Math.min(Math.max(paced, asked), until - now)))) return 0
    }
  } finally {
    await stage.close()
  }
}
