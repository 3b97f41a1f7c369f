import type { Operation } from '../api/operation.ts'
import { type Resource, withSubject } from '../api/resource.ts'
import { extendError, MergeqError, mostSevere, toMergeqError } from '../base/errors.ts'
import { mapConcurrent, maxConcurrent } from '../base/scheduling.ts'
import { joinList } from '../values/format.ts'
import { createAdvice } from './advice.ts'
import type { Cli } from './command.ts'

/** What became of an item that was begun: the result of the work, or the error that it threw. */
export interface Outcome<T, R> {
  readonly item: T
  readonly result?: R
  readonly failure?: MergeqError
  readonly code: number
}

export interface EachOptions<T, R> {
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

/**
 * Works on several items at a time. An error does not stop the others, except that of a rejected token, and a
 * signal: then items that were begun are finished, and no further item is begun. The outcomes are in the order of the
 * items, without those that were not begun.
 *
 * @param operation the one that each item sends, for the error of a signal
 */
export async function each<T, R>(
  cli: Cli,
  operation: Operation,
  items: readonly T[],
  work: (item: T) => Promise<R>,
  options: EachOptions<T, R>,
) {
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
      const named = isAboutItem ? withResource(failure, name(item)) : failure
      return { item, failure: named, code: failure.exit }
    }
  }
  if (items.length > 1) outlastRateLimit(cli)
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
  const errors = () => errorsOf(operation, items.map(resource), outcomes, cli, items.map(name))
  return {
    outcomes,
    /** Logs which items were not finished, if any were not, and returns the errors. */
    errors,
    /** Logs the errors, and which items were not finished. Returns the most severe exit code. */
    async report(): Promise<number> {
      const code = await reportErrors(await errors(), cli)
      return mostSevere([code, ...outcomes.map(({ code }) => code)])
    },
  }
}

/** Lets a command over several queues or pull requests that is no wait go on after a 429 (docs/reference/network.md, "Retries"). */
export function outlastRateLimit(cli: Cli): void {
  const { rateLimit } = cli.client()
  if (cli.time === undefined && rateLimit !== undefined) rateLimit.isOutlasted = true
}

interface RequestResult {
  readonly code: number
  readonly failure?: MergeqError | undefined
}

/** Returns the name of what one of several requests is about, as it is typed. */
export const resourceName = ({ pr, testId, ticket }: Resource): string | undefined =>
  pr === undefined ? testId && `${testId} ${ticket}` : `#${pr}`

/** Whether an error names what it is about: `acme/web has no queue for main` does so for `main of acme/web`. */
const says = ({ message }: MergeqError, name: string): boolean =>
  name.split(' of ').every(part => message.includes(part))

/** Returns the error of one of several requests, with the name of what it is about in the message. */
export const withResource = (failure: MergeqError, name: string | undefined): MergeqError =>
  name === undefined || failure.kind === 'interrupted' || says(failure, name)
    ? failure
    : extendError(failure, {}, failure.message.replace(/\.?$/, ` (${name}).`))

/** Returns the errors of several requests; that of a signal once, after a summary of what is not finished. */
async function errorsOf(
  operation: Operation,
  resources: readonly Resource[],
  results: readonly RequestResult[],
  cli: Cli,
  names: readonly (string | undefined)[],
): Promise<readonly MergeqError[]> {
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const interruptions = failures.filter(({ kind }) => kind === 'interrupted')
  const { aborted, reason } = cli.host.interrupted
  const isUnfinished = results.length < resources.length || interruptions.length > 0
  const errors = failures.filter(({ kind }) => kind !== 'interrupted')
  if (isUnfinished && resources.length > 1) await warnUnfinished(operation, names, results, cli)
  if (interruptions.length === 0 && !(aborted && isUnfinished)) return errors
  const interruption =
    (await interruptionOf(operation, resources, results, cli)) ?? interruptions[0] ?? toMergeqError(reason)
  return [...errors, interruption]
}

/** How far a request had come when the command ended. */
type Progress = 'Done' | 'Failed' | 'In progress' | 'Not sent'

/** A request that a signal interrupted had been sent if it is a read, or if the error has a delivery. */
function progressOf({ change }: Operation, result: RequestResult | undefined): Progress {
  if (result === undefined) return 'Not sent'
  if (result.failure?.kind !== 'interrupted') return result.failure === undefined ? 'Done' : 'Failed'
  const wasSent = change === undefined || result.failure.details.delivery !== undefined
  return wasSent ? 'In progress' : 'Not sent'
}

/** Says which of several requests were not finished. A request without a result was not sent. */
export async function warnUnfinished(
  operation: Operation,
  names: readonly (string | undefined)[],
  results: readonly (RequestResult | undefined)[],
  { logger }: Cli,
): Promise<void> {
  const order: readonly Progress[] = ['Done', 'Failed', 'In progress', 'Not sent']
  const summary = order.flatMap(progress => {
    const ofProgress = names
      .filter((_, index) => progressOf(operation, results[index]) === progress)
      .map(name => name ?? '?')
    return ofProgress.length === 0 ? [] : [`${progress}: ${joinList(ofProgress)}.`]
  })
  await logger.warn(`Stopped early. ${summary.join(' ')}`)
}

/** Returns the error about the requests that were in flight when a signal arrived; undefined without any. */
async function interruptionOf(
  operation: Operation,
  resources: readonly Resource[],
  results: readonly RequestResult[],
  { host, settings }: Cli,
): Promise<MergeqError | undefined> {
  const isInFlight = (_: unknown, index: number) => progressOf(operation, results[index]) === 'In progress'
  const [first] = results.filter(isInFlight)
  const inFlight = resources.filter(isInFlight)
  if (operation.change === undefined || inFlight.length < 2) return first?.failure
  const { interruptedChangeError } = await import('../api/recovery.ts')
  return interruptedChangeError(
    new MergeqError('interrupted', toMergeqError(host.interrupted.reason).message, {
      exit: first?.code ?? 1,
    }),
    operation,
    inFlight,
    createAdvice(settings.commandLine),
  )
}

/** Logs each error once, the most severe last (docs/reference/cli.md, "Several pull requests"). Returns its exit code. */
export async function reportErrors(
  failures: readonly MergeqError[],
  cli: Pick<Cli, 'host' | 'logger' | 'messages' | 'options'>,
): Promise<number> {
  const { logger } = cli
  const errors =
    failures.length < 2 ? failures : await (await import('./joined-errors.ts')).joinErrors(failures, cli)
  // Of an error whose message was shown, only the hint is printed.
  const textOf = ({ message, details }: MergeqError) => (details.isShown === true ? details.hint : message)
  const texts = errors.map(textOf)
  const shown = errors.filter((error, index) => texts.indexOf(textOf(error)) === index)
  const worst = mostSevere(shown.map(({ exit }) => exit))
  for (const failure of shown) if (failure.exit !== worst) await logger.error(failure)
  for (const failure of shown) if (failure.exit === worst) await logger.error(failure)
  return worst
}
