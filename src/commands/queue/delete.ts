import { callOperation } from '../../api/call.ts'
import { emptyDecoder } from '../../api/decode.ts'
import { withDecoder } from '../../api/operation.ts'
import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { deleteQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import type { RequestLimits } from '../../api/service-client.ts'
import { defineCommand, defineOperationCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag, type InputValues } from '../../cli/inputs.ts'
import { printDryRun } from '../../cli/preview.ts'
import { queueInputs, yesInput } from '../../cli/queue-inputs.ts'
import { reportResults } from '../../cli/report-results.ts'
import { executeAll, runForEach } from '../../cli/run-operation.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { isUnderTest } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { defaultMaxErrors, pollDelay } from '../../domain/wait-state.ts'
import { extendError, isPermanent, MergeqError, toMergeqError, withPeriod } from '../../errors.ts'
import { get, getArray, getString, type Json } from '../../json.ts'
import { message } from '../../output/view.ts'
import { prCancelCommand } from '../pr/cancel.ts'
import { createWaitLimits, readWaitTimeLimit } from '../pr/wait/time-limits.ts'

type Queue = InputValues<typeof queueInputs>

/** The operation that sets the state to DRAINING, whatever the service answers. */
const drainOperation = withDecoder(updateQueue, emptyDecoder)

/** The pull requests that the queue lists now. */
async function readEntries(
  values: Queue,
  context: CommandContext,
  limits: RequestLimits = {},
): Promise<readonly Json[]> {
  const { reply } = await callOperation(context.client(), getQueue, values, { limits })
  return getArray(reply.records[0], 'enqueuedPullRequests')
}

const names = (entries: readonly Json[]): string =>
  joinList(entries.map(entry => `#${get(entry, 'prNumber') ?? '?'}`))

/**
 * Sets the state to DRAINING and waits until no pull request is under test. Like `pr wait`, it tolerates
 * failed polls; `--timeout` limits the whole wait.
 */
async function drain(values: Queue, context: CommandContext): Promise<void> {
  const { logger, host, args } = context
  const limit = readWaitTimeLimit(args)
  let endsAt = Number.POSITIVE_INFINITY
  const remaining = () => endsAt - host.clock.now()
  const limits = await createWaitLimits(limit, remaining, context)
  const params = { ...values, state: 'DRAINING' } as const
  await callOperation(context.client(), drainOperation, params, { limits: limits.change })
  endsAt = host.clock.now() + limit
  let [errors, lastText] = [0, '']
  try {
    for (;;) {
      const text = await readEntries(values, context, limits.poll).then(
        entries => {
          errors = 0
          const tested = entries.filter(entry => isUnderTest(getString(entry, 'state') ?? ''))
          return tested.length === 0 ? undefined : `Draining: still under test: ${names(tested)}.`
        },
        error => {
          const failure = toMergeqError(error)
          if (isPermanent(failure) || failure.kind === 'not-found' || ++errors >= defaultMaxErrors)
            throw failure
          return `${withPeriod(failure.message)} Still draining.`
        },
      )
      if (text === undefined) return
      if (text !== lastText) await logger.info(text)
      lastText = text
      if (remaining() <= 0) throw new MergeqError('timed-out', `the time is over. ${text}`)
      const pause = pollDelay({ state: 'TESTING' }, errors, host.random())
      await context.logger.withSpinner(
        () => text,
        () => host.clock.sleep(Math.min(pause, remaining()), host.interrupted),
      )
    }
  } catch (error) {
    const failure = toMergeqError(error)
    const note = 'The queue stays DRAINING: run this again, or undo it with `mergeq queue resume`.'
    const { hint } = failure.details
    throw extendError(failure, { hint: hint === undefined ? note : `${hint}\n${note}` })
  }
}

/**
 * Cancels all pull requests that the queue lists; a pull request that left it meanwhile is no error. Returns
 * the exit code.
 */
async function cancelAll(values: Queue, context: CommandContext): Promise<number> {
  const numbers = (await readEntries(values, context)).flatMap(entry => {
    const pr = get(entry, 'prNumber')
    return typeof pr === 'number' ? [pr] : []
  })
  const runs = numbers.map(pr => ({ values: { ...values, pr, yes: true }, overrides: [] }))
  const command = { ...prCancelCommand, isOrdered: true }
  const all = await executeAll(command, runs, context, { isSilent: true })
  const isMissing = all.map(({ failure }) => failure?.kind === 'not-found')
  const results = all.map((result, index) => (isMissing[index] === true ? { code: 0 } : result))
  const code = await reportResults(cancelPullRequest, runs, results, context)
  const numbersOf = (missing: boolean) =>
    joinList(numbers.filter((_, index) => isMissing[index] === missing).map(number => `#${number}`))
  if (code === 0 && isMissing.includes(false)) await context.logger.info(`Cancelled ${numbersOf(false)}.`)
  if (code === 0 && isMissing.includes(true))
    await context.logger.info(`Not in the queue any more: ${numbersOf(true)}.`)
  return code
}

/** Explains why a queue could not be deleted: which pull requests it still lists, and what to do. */
const explainError =
  (values: Queue, context: CommandContext) =>
  async (failure: MergeqError): Promise<MergeqError> => {
    const { status, delivery } = failure.details
    // An unknown outcome is no refusal, whatever status the last answer had.
    if (delivery === 'unknown' || (status !== 400 && status !== 409)) return failure
    const entries = await readEntries(values, context).catch(() => undefined)
    if (entries === undefined) return failure
    const listed =
      entries.length === 0
        ? 'it lists none, but those that are not ready are not listed'
        : `it lists ${pluralize(entries.length, 'pull request')}: ${names(entries)}`
    return new MergeqError(
      'refused',
      `${failure.message.replace(/\.$/, '')}. The queue is not empty: ${listed}.`,
      {
        ...failure.details,
        hint:
          entries.length === 0
            ? 'Cancel those by their numbers with `mergeq pr cancel <pr>`, then run it again.'
            : 'Cancel what it holds with --cancel-all, or let it finish first with --drain-first.',
      },
    )
  }

/** The request of `queue delete`, for an empty queue. */
export const deleteRequest = defineOperationCommand({
  command: 'queue delete',
  summary: 'Delete a queue; it must be empty',
  operation: deleteQueue,
  inputs: { ...queueInputs, yes: yesInput },
  view: (_, { repo, targetBranch }) =>
    message(`Deleted the queue of ${targetBranch} in ${repositoryName(repo)}.`),
  confirm([invocation]) {
    if (invocation === undefined || invocation.yes) return undefined
    const { repo, targetBranch } = invocation
    return {
      text: `This deletes the queue of ${targetBranch} in ${repositoryName(repo)}. Type ${targetBranch} to go on:`,
      answer: targetBranch,
    }
  },
  examples: ['mergeq queue delete --target-branch release --yes'],
})

/** `mergeq queue delete`: can empty the queue first. */
export const queueDeleteCommand = defineCommand({
  ...deleteRequest,
  request: deleteRequest,
  operations: [updateQueue, getQueue, cancelPullRequest],
  exitKinds: ['timed-out'],
  inputs: {
    cancelAll: flag({ name: 'cancel-all', summary: 'Cancel everything that is in the queue first' }),
    drainFirst: flag({
      name: 'drain-first',
      summary: 'Stop new tests first, and wait until nothing is being tested',
    }),
  },
  examples: [...deleteRequest.examples, 'mergeq queue delete --cancel-all --yes'],
  async dryRun({ cancelAll: cancels, drainFirst }, context, invocations) {
    const drains = invocations.map(({ values, overrides }) => ({
      values: { ...values, state: 'DRAINING' },
      overrides,
    }))
    if (drainFirst) return printDryRun(drainOperation, drains, context)
    return printDryRun(cancels ? getQueue : deleteQueue, invocations, context)
  },
  async run({ cancelAll: cancels, drainFirst }, context, invocations) {
    const [first] = invocations
    if (first === undefined) return 0
    if (drainFirst) await drain(first.values, context)
    const cancelled = cancels ? await cancelAll(first.values, context) : 0
    if (cancelled !== 0) return cancelled
    return runForEach(deleteRequest, invocations, context, {
      explainError: explainError(first.values, context),
    })
  },
})
