import { interruptedChangeError } from '../api/interrupted-change.ts'
import type { Operation } from '../api/operation.ts'
import { resourceOf } from '../api/receipt.ts'
import { concernsOf } from '../api/request.ts'
import { joinList } from '../domain/format.ts'
import { MergeqError, mostSevere, toMergeqError } from '../errors.ts'
import type { CommandContext } from './context.ts'
import type { Invocation } from './invocation.ts'

/** How one of several requests ended. */
export interface RunResult {
  readonly code: number
  readonly failure?: MergeqError
}

/** How many pull requests are processed at a time (CLI.md section 1). */
export const maxConcurrent = 4

/**
 * Processes `width` items at a time and yields the results in the order of the items, until `mayStart` is
 * false.
 */
export async function* mapConcurrent<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
  mayStart = () => true,
): AsyncGenerator<R> {
  const started: Promise<R>[] = []
  for (let index = 0; ; index++) {
    if (mayStart())
      for (const item of items.slice(started.length, index + width)) {
        const result = work(item)
        // It may reject before its turn: the rejection is handled where the result is awaited.
        result.catch(() => undefined)
        started.push(result)
      }
    const next = started[index]
    if (next === undefined) return
    yield await next
  }
}

/** Logs each error once, the most severe last (CLI.md section 4.5). */
export async function reportErrors(
  failures: readonly MergeqError[],
  { logger }: Pick<CommandContext, 'logger'>,
): Promise<void> {
  const worst = mostSevere(failures.map(({ exit }) => exit))
  const unique = failures.filter(
    ({ message }, index) => failures.findIndex(other => other.message === message) === index,
  )
  for (const failure of unique) if (failure.exit !== worst) await logger.error(failure)
  for (const failure of unique) if (failure.exit === worst) await logger.error(failure)
}

const wasInterrupted = ({ failure }: RunResult): boolean => failure?.kind === 'interrupted'

/**
 * Whether a request that a signal stopped had been sent: the error of a change says so; a read always was.
 */
const wasInFlight = ({ effect }: Operation, result: RunResult): boolean =>
  wasInterrupted(result) && (effect === false || result.failure?.details.delivery !== undefined)

/**
 * Logs the errors of several requests, the error of a signal only once. Where not all requests were
 * finished, it first logs which were done, in flight and not begun (CLI.md section 9). Returns the most
 * severe exit code.
 */
export async function reportResults(
  operation: Operation,
  invocations: readonly Invocation[],
  results: readonly RunResult[],
  context: CommandContext,
): Promise<number> {
  const interruptions = results.filter(wasInterrupted)
  const isUnfinished = results.length < invocations.length || interruptions.length > 0
  const numbersOf = (matches: (result: RunResult | undefined) => boolean) =>
    invocations
      .filter((_, index) => matches(results[index]))
      .map(({ values }) => resourceOf(values).pr ?? '?')
  if (isUnfinished && invocations.length > 1) {
    const parts: readonly (readonly [string, readonly (number | string)[]])[] = [
      ['Done', numbersOf(result => result !== undefined && result.failure === undefined)],
      ['Failed', numbersOf(result => result?.failure !== undefined && !wasInterrupted(result))],
      ['In flight', numbersOf(result => result !== undefined && wasInFlight(operation, result))],
      [
        'Not begun',
        numbersOf(
          result => result === undefined || (wasInterrupted(result) && !wasInFlight(operation, result)),
        ),
      ],
    ]
    const summary = parts.flatMap(([title, numbers]) =>
      numbers.length === 0 ? [] : [`${title}: ${joinList(numbers.map(number => `#${number}`))}.`],
    )
    await context.logger.warn(`Stopped before the end. ${summary.join(' ')}`)
  }
  const { interrupted } = context.host
  const inFlight = invocations.filter((_, index) => {
    const result = results[index]
    return result !== undefined && wasInFlight(operation, result)
  })
  const [first] = interruptions.flatMap(({ failure }) => failure ?? [])
  const hasSeveralChanges = first !== undefined && operation.effect !== false && inFlight.length > 1
  const interruption = hasSeveralChanges
    ? interruptedChangeError(
        new MergeqError('interrupted', toMergeqError(interrupted.reason).message, { exit: first.exit }),
        operation,
        inFlight.map(invocation => concernsOf(operation, invocation.values, invocation)),
      )
    : (interruptions.find(result => wasInFlight(operation, result))?.failure ??
      interruptions[0]?.failure ??
      (interrupted.aborted && isUnfinished ? toMergeqError(interrupted.reason) : undefined))
  const failures = results.flatMap(result =>
    result.failure === undefined || wasInterrupted(result) ? [] : [result.failure],
  )
  await reportErrors(interruption === undefined ? failures : [...failures, interruption], context)
  return mostSevere([...results.map(({ code }) => code), interruption?.exit ?? 0])
}
