import { interruptedChangeError } from '../api/interrupted-change.ts'
import type { Operation } from '../api/operation.ts'
import { resourceOf } from '../api/receipt.ts'
import { concernsOf } from '../api/request.ts'
import { joinList } from '../domain/format.ts'
import { MergeqError, mostSevere, toMergeqError } from '../errors.ts'
import type { CommandContext } from './context.ts'
import type { Invocation } from './invocation.ts'

/** How one of several runs ended. */
export interface RunResult {
  readonly code: number
  readonly failure?: MergeqError
}

/** At most so many pull requests are worked on at once (CLI.md section 1). */
export const maxConcurrent = 4

/** Works on so many at once and hands over what came of each in the order given; begins no more once `mayBegin` says no. */
export async function* mapConcurrent<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
  mayBegin = () => true,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = []
  for (let index = 0; ; index++) {
    if (mayBegin())
      for (const item of items.slice(begun.length, index + width)) {
        const one = work(item)
        // It may fail before its turn, or never get one: its failure is met where it is awaited.
        one.catch(() => undefined)
        begun.push(one)
      }
    const next = begun[index]
    if (next === undefined) return
    yield await next
  }
}

/** Tells each failure once, the worst last (CLI.md section 4.5). */
export async function reportErrors(
  failures: readonly MergeqError[],
  { logger }: Pick<CommandContext, 'logger'>,
): Promise<void> {
  const last = mostSevere(failures.map(({ exit }) => exit))
  const once = failures.filter(
    ({ message }, index) => failures.findIndex(other => other.message === message) === index,
  )
  for (const failure of once) if (failure.exit !== last) await logger.error(failure)
  for (const failure of once) if (failure.exit === last) await logger.error(failure)
}

const wasInterrupted = ({ failure }: RunResult): boolean => failure?.kind === 'interrupted'

/** Whether a run that a signal stopped had been sent: a change says so itself; a read is under way until it ends. */
const wasInFlight = (row: Operation, ending: RunResult): boolean =>
  wasInterrupted(ending) && (row.effect === false || ending.failure?.details.delivery !== undefined)

/**
 * Tells how several runs went wrong: every failure, what a signal ended only once, and before that, where not all was
 * done, what was done, what was in flight and what was not begun (CLI.md section 9). Returns the worst exit code.
 */
export async function reportResults(
  row: Operation,
  runs: readonly Invocation[],
  endings: readonly RunResult[],
  context: CommandContext,
): Promise<number> {
  const stops = endings.filter(wasInterrupted)
  const isShort = endings.length < runs.length || stops.length > 0
  const those = (isOne: (ending: RunResult | undefined) => boolean) =>
    runs.filter((_, index) => isOne(endings[index])).map(({ values }) => resourceOf(values).pr ?? '?')
  if (isShort && runs.length > 1) {
    const parts: readonly (readonly [string, readonly (number | string)[]])[] = [
      ['Done', those(ending => ending !== undefined && ending.failure === undefined)],
      ['Failed', those(ending => ending?.failure !== undefined && !wasInterrupted(ending))],
      ['In flight', those(ending => ending !== undefined && wasInFlight(row, ending))],
      [
        'Not begun',
        those(ending => ending === undefined || (wasInterrupted(ending) && !wasInFlight(row, ending))),
      ],
    ]
    const told = parts.flatMap(([what, numbers]) =>
      numbers.length === 0 ? [] : [`${what}: ${joinList(numbers.map(number => `#${number}`))}.`],
    )
    await context.logger.warn(`Stopped before the end. ${told.join(' ')}`)
  }
  const { interrupted } = context.host
  const flying = runs.filter((_, index) => {
    const ending = endings[index]
    return ending !== undefined && wasInFlight(row, ending)
  })
  const [first] = stops.flatMap(({ failure }) => failure ?? [])
  const several = first !== undefined && row.effect !== false && flying.length > 1
  const stop = several
    ? interruptedChangeError(
        new MergeqError('interrupted', toMergeqError(interrupted.reason).message, { exit: first.exit }),
        row,
        flying.map(one => concernsOf(row, one.values, one)),
      )
    : (stops.find(ending => wasInFlight(row, ending))?.failure ??
      stops[0]?.failure ??
      (interrupted.aborted && isShort ? toMergeqError(interrupted.reason) : undefined))
  const failures = endings.flatMap(ending =>
    ending.failure === undefined || wasInterrupted(ending) ? [] : [ending.failure],
  )
  await reportErrors(stop === undefined ? failures : [...failures, stop], context)
  return mostSevere([...endings.map(({ code }) => code), stop?.exit ?? 0])
}
