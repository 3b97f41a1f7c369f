import { callOperation } from '../../api/call.ts'
import { emptyDecoder } from '../../api/decode.ts'
import { withDecoder } from '../../api/operation.ts'
import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { deleteQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import { defineCommand, defineOperationCommand } from '../../cli/command.ts'
import { reportResults } from '../../cli/concurrency.ts'
import { type CommandContext, withoutOutput } from '../../cli/context.ts'
import { flag, type InputValues } from '../../cli/inputs.ts'
import { confirm, readInvocations } from '../../cli/invocation.ts'
import { queueInputs, yesInput } from '../../cli/queue-inputs.ts'
import { executeAll, runOperation } from '../../cli/run-operation.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { isUnderTest } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { defaultMaxErrors, pollDelay } from '../../domain/wait-state.ts'
import { isPermanent, MergeqError, toMergeqError, withPeriod } from '../../errors.ts'
import { get, getArray, getString, type Json } from '../../json.ts'
import { message } from '../../output/view.ts'
import { prCancelCommand } from '../pr/cancel.ts'
import { limitPolls, readWaitTimeLimit, withoutWaitTimeout } from '../pr/wait/time-limits.ts'
import { queueDrainCommand } from './drain.ts'
import { queueGetCommand } from './get.ts'

type Queue = InputValues<typeof queueInputs>

/** The pull requests that the queue lists now. */
async function entriesOf(values: Queue, context: CommandContext): Promise<readonly Json[]> {
  const { reply } = await callOperation(context, getQueue, values)
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
  const withAttemptLimits = await withoutWaitTimeout(context)
  await callOperation(withAttemptLimits, withDecoder(updateQueue, emptyDecoder), {
    ...values,
    state: 'DRAINING',
  })
  const until = host.clock.now() + readWaitTimeLimit(args)
  const left = () => until - host.clock.now()
  const polling = limitPolls(withAttemptLimits, { limit: readWaitTimeLimit(args) }, left)
  let [errors, lastText] = [0, '']
  try {
    for (;;) {
      const text = await entriesOf(values, polling).then(
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
      if (left() <= 0) throw new MergeqError('timed-out', `the time is over. ${text}`)
      const pause = pollDelay({ state: 'TESTING' }, errors, host.random())
      await context.withSpinner(
        () => text,
        () => host.clock.sleep(Math.min(pause, left()), host.interrupted),
      )
    }
  } catch (error) {
    const { kind, message, exit, details } = toMergeqError(error)
    const hint = 'The queue stays DRAINING: run this again, or undo it with `mergeq queue resume`.'
    throw new MergeqError(kind, message, {
      ...details,
      exit,
      hint: details.hint === undefined ? hint : `${details.hint}\n${hint}`,
    })
  }
}

/**
 * Cancels all pull requests that the queue lists; a pull request that left it meanwhile is no error. Returns
 * the exit code.
 */
async function cancelAll(values: Queue, context: CommandContext): Promise<number> {
  const numbers = (await entriesOf(values, context)).flatMap(entry => {
    const pr = get(entry, 'prNumber')
    return typeof pr === 'number' ? [pr] : []
  })
  const runs = numbers.map(pr => ({ values: { ...values, pr, yes: true }, overrides: [] }))
  const command = { ...prCancelCommand, isOrdered: true }
  const all = await executeAll(command, runs, withoutOutput(context))
  const hasLeft = all.map(({ failure }) => failure?.kind === 'not-found')
  const results = all.map((result, index) => (hasLeft[index] === true ? { code: 0 } : result))
  const code = await reportResults(cancelPullRequest, runs, results, context)
  const numbersOf = (left: boolean) =>
    joinList(numbers.filter((_, index) => hasLeft[index] === left).map(number => `#${number}`))
  if (code === 0 && hasLeft.includes(false)) await context.logger.info(`Cancelled ${numbersOf(false)}.`)
  if (code === 0 && hasLeft.includes(true))
    await context.logger.info(`Not in the queue any more: ${numbersOf(true)}.`)
  return code
}

/** Explains why a queue could not be deleted: which pull requests it still lists, and what to do. */
const explain =
  (values: Queue, context: CommandContext) =>
  async (failure: MergeqError): Promise<MergeqError> => {
    const { status, delivery } = failure.details
    // An unknown outcome is no refusal, whatever status the last answer had.
    if (delivery === 'unknown' || (status !== 400 && status !== 409)) return failure
    const left = await entriesOf(values, context).catch(() => undefined)
    if (left === undefined) return failure
    const listed =
      left.length === 0
        ? 'it lists none, but those that are not ready are not listed'
        : `it lists ${pluralize(left.length, 'pull request')}: ${names(left)}`
    return new MergeqError(
      'refused',
      `${failure.message.replace(/\.$/, '')}. The queue is not empty: ${listed}.`,
      {
        ...failure.details,
        hint:
          left.length === 0
            ? 'Cancel those by their numbers with `mergeq pr cancel <pr>`, then run it again.'
            : 'Cancel what it holds with --cancel-all, or let it finish first with --drain-first.',
      },
    )
  }

/** The request of `queue delete`, for an empty queue. */
export const deleteRequest = defineOperationCommand({
  command: 'queue delete',
  summary: 'Delete an empty queue',
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
    cancelAll: flag({ name: 'cancel-all', summary: 'Cancel all queued pull requests first' }),
    drainFirst: flag({
      name: 'drain-first',
      summary: 'Drain the queue first: wait for running tests, start no new ones',
    }),
  },
  examples: [...deleteRequest.examples, 'mergeq queue delete --cancel-all --yes'],
  async run({ cancelAll: cancels, drainFirst }, context) {
    const [first] = await readInvocations(deleteRequest, context)
    if (first === undefined) return 0
    if (context.options.dryRun)
      return runOperation(drainFirst ? queueDrainCommand : cancels ? queueGetCommand : deleteRequest, context)
    await confirm(deleteRequest, [first], context)
    if (drainFirst) await drain(first.values, context)
    const cancelled = cancels ? await cancelAll(first.values, context) : 0
    if (cancelled !== 0) return cancelled
    const confirmed = { ...context, args: new Map(context.args).set('--yes', ['true']) }
    return runOperation(deleteRequest, confirmed, { explain: explain(first.values, context) })
  },
})
