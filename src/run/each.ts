import { type Operation, type Resource, withSubject } from '../api/operation.ts'
import { mapConcurrent, maxConcurrent } from '../domain/scheduling.ts'
import { type MergeqError, toMergeqError } from '../errors.ts'
import type { Cli } from './command.ts'
import { reportResults, resourceName, withResource } from './report.ts'

/** What became of an item that was begun: the result of the work, or the error that it threw. */
export interface Outcome<T, R> {
  readonly item: T
  readonly result?: R
  readonly failure?: MergeqError
  readonly code: number
}

interface EachOptions<T, R> {
  /** Returns what a request is about. */
  resource(item: T): Resource
  /** How many items are worked on at a time; 4 by default. */
  readonly atOnce?: number | undefined
  /** Whether the first exit code other than 0 stops the rest; by default with `--stop-on-error`. */
  readonly stopOnError?: boolean | undefined
  /** Whether a token that was rejected for one item (401, 403) may be accepted for another; false by default. */
  readonly differInAccess?: boolean
  /** Returns what an item is called in errors; by default its pull request or test. */
  name?(item: T): string | undefined
  /** Prints outcomes in the order of the items, as they come. May return another exit code. */
  print?(outcome: Outcome<T, R>): Promise<number | undefined>
}

interface EachResult<T, R> {
  /** In the order of the items, without those that were not begun. */
  readonly outcomes: readonly Outcome<T, R>[]
  /** Logs the errors, and which items were not finished. Returns the most severe exit code. */
  report(): Promise<number>
}

/**
 * Works on several items at a time. An error does not stop the others, except that of a rejected token, and a
 * signal: then items that were begun are finished, and no further item is begun.
 *
 * @param operation the one that each item sends, for the error of a signal
 */
export async function each<T, R>(
  cli: Cli,
  operation: Operation,
  items: readonly T[],
  work: (item: T) => Promise<R>,
  options: EachOptions<T, R>,
): Promise<EachResult<T, R>> {
  const { dryRun } = cli.options
  const {
    atOnce = maxConcurrent,
    stopOnError = cli.options.stopOnError,
    resource,
    name = item => resourceName(resource(item)),
    differInAccess = false,
    print,
  } = options
  let isStopped = false
  const attempt = async (item: T): Promise<Outcome<T, R>> => {
    try {
      return { item, result: await work(item), code: 0 }
    } catch (error) {
      const failure = withSubject(toMergeqError(error), resource(item))
      if (failure.kind === 'auth' && !differInAccess) isStopped = true
      const isAboutItem =
        items.length > 1 && (failure.kind !== 'auth' || failure.details.status !== undefined)
      return {
        item,
        failure: isAboutItem ? withResource(failure, name(item)) : failure,
        code: failure.exit,
      }
    }
  }
  const outcomes: Outcome<T, R>[] = []
  const width = stopOnError || dryRun ? 1 : atOnce
  const mayStart = () => !isStopped && !cli.host.interrupted.aborted
  for await (const outcome of mapConcurrent(items, width, attempt, mayStart)) {
    const { failure } = outcome
    if (dryRun && failure !== undefined) throw failure
    const code = (await print?.(outcome)) ?? outcome.code
    outcomes.push({ ...outcome, code })
    if (stopOnError && code !== 0) isStopped = true
  }
  return {
    outcomes,
    report: () => reportResults(operation, items.map(resource), outcomes, cli, items.map(name)),
  }
}
