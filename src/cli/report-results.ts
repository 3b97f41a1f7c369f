import { interruptedChangeError } from '../api/interrupted-change.ts'
import type { Operation } from '../api/operation.ts'
import { resourceOfRequest } from '../api/request.ts'
import { resourceOfParams } from '../api/resource.ts'
import { joinList } from '../domain/format.ts'
import { MergeqError, mostSevere, toMergeqError } from '../errors.ts'
import type { CommandRequest, RunResult } from './command.ts'
import type { CommandContext } from './context.ts'

/**
 * Logs each error once, with the most severe errors last (docs/reference/cli.md, "Several pull requests").
 */
export async function reportErrors(
  originals: readonly MergeqError[],
  context: Pick<CommandContext, 'logger' | 'client' | 'settings' | 'options'>,
): Promise<void> {
  const { logger } = context
  const failures: MergeqError[] = []
  for (const original of originals)
    failures.push(
      original.kind === 'unavailable'
        ? await (await import('./explain-outage.ts')).explainOutage(original, context)
        : original,
    )
  const worst = mostSevere(failures.map(({ exit }) => exit))
  const unique = failures.filter(
    ({ message }, index) => failures.findIndex(other => other.message === message) === index,
  )
  for (const failure of unique) if (failure.exit !== worst) await logger.error(failure)
  for (const failure of unique) if (failure.exit === worst) await logger.error(failure)
}

const wasInterrupted = ({ failure }: RunResult): boolean => failure?.kind === 'interrupted'

/**
 * Whether a request that a signal interrupted had been sent: always for a read; for a change, if the error
 * has a delivery.
 */
const wasInFlight = ({ recovery }: Operation, result: RunResult): boolean =>
  wasInterrupted(result) && (recovery === undefined || result.failure?.details.delivery !== undefined)

/** How far a request had come when the command ended, in the words of the summary. */
const progressNames = ['Done', 'Failed', 'In progress', 'Not started'] as const
type Progress = (typeof progressNames)[number]

function progressOf(operation: Operation, result: RunResult | undefined): Progress {
  if (result === undefined) return 'Not started'
  if (wasInterrupted(result)) return wasInFlight(operation, result) ? 'In progress' : 'Not started'
  return result.failure === undefined ? 'Done' : 'Failed'
}

/**
 * Logs the errors of several requests; the error of a signal only once. If some requests were not finished, a
 * summary of all requests comes first (docs/reference/cli.md, "Guarantees"). Returns the most severe exit
 * code.
 */
export async function reportResults(
  operation: Operation,
  invocations: readonly CommandRequest[],
  results: readonly RunResult[],
  context: CommandContext,
): Promise<number> {
  const interruptions = results.filter(wasInterrupted)
  const isUnfinished = results.length < invocations.length || interruptions.length > 0
  const endingIn = (progress: Progress) =>
    invocations.filter((_, index) => progressOf(operation, results[index]) === progress)
  if (isUnfinished && invocations.length > 1) {
    const summary = progressNames.flatMap(name => {
      const numbers = endingIn(name).map(({ values }) => `#${resourceOfParams(values).pr ?? '?'}`)
      return numbers.length === 0 ? [] : [`${name}: ${joinList(numbers)}.`]
    })
    await context.logger.warn(`Stopped early. ${summary.join(' ')}`)
  }
  const { interrupted } = context.host
  const inFlight = endingIn('In progress')
  const [first] = interruptions.flatMap(({ failure }) => failure ?? [])
  const hasSeveralChanges = first !== undefined && operation.recovery !== undefined && inFlight.length > 1
  const interruption = hasSeveralChanges
    ? interruptedChangeError(
        new MergeqError('interrupted', toMergeqError(interrupted.reason).message, { exit: first.exit }),
        operation,
        inFlight.map(invocation => resourceOfRequest(operation, invocation.values, invocation)),
        context.settings.commandLine,
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
