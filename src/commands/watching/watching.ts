import { flag, on, type Values } from '../../contract/field.ts'
import { duration, integer } from '../../contract/words.ts'
import { asFailure, type Failure, usage } from '../../failure.ts'
import type { Desk } from '../../run/desk.ts'
import type { Stage } from './stage.ts'

const longestInterval = 86_400_000

/** Reads a pause: a duration of at least a second, and of at most a day. */
function pause(word: string): number {
  const length = duration(word)
  if (length < 1_000) throw usage(`'${word}' is shorter than a second.`, 'Read at most once a second.')
  if (length > longestInterval) throw usage(`'${word}' is longer than a day.`, 'Read at least once a day.')
  return length
}

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

const defaultErrors = 10
/** The longest pause after failed readings, unless the interval itself is longer. */
const longestPause = 5 * 60_000

/** Failures that end the watching at once: those that trying again does not mend, and what is gone. */
export const isFinal = ({ kind }: Failure): boolean =>
  /^(auth|usage|interrupted|not-found|output|internal)$/.test(kind)

/** Looks again and again until the time is over, a person leaves, or it cannot go on. */
export async function keepWatching<L>(
  look: (desk: Desk) => Promise<L>,
  { once, interval, lasting, maxErrors = defaultErrors }: Terms & { readonly interval: number },
  stage: Stage<L>,
  { world: { clock, out } }: Desk,
): Promise<number> {
  const until = clock.now() + (lasting ?? Number.POSITIVE_INFINITY)
  let errors = 0
  try {
    for (;;) {
      try {
        await stage.show(await stage.unlessLeft(look(stage.desk())))
        errors = 0
      } catch (error) {
        if (stage.isLeft()) return 0
        const failure = asFailure(error)
        errors++
        if (isFinal(failure) || errors >= maxErrors) throw failure
        await stage.tell(`${failure.message} (${errors} in a row)`)
      }
      const now = clock.now()
      // Nobody reads any more: a closed pipe ends quietly.
      if ((once && errors === 0) || now >= until || out.gone === true) return 0
      const rest = Math.min(interval * 2 ** Math.min(errors, 9), Math.max(interval, longestPause))
      if (!(await stage.rest(Math.min(rest, until - now)))) return 0
    }
  } finally {
    await stage.close()
  }
}
