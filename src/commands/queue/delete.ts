import { callOperation } from '../../api/call.ts'
import { emptyDecoder } from '../../api/decode.ts'
import { withDecoder } from '../../api/operation.ts'
import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { deleteQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import { type Confirmation, defineCommand, defineOperationCommand } from '../../cli/command.ts'
import { reportResults } from '../../cli/concurrency.ts'
import { type CommandContext, canPrompt, withoutOutput } from '../../cli/context.ts'
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
          return tested.length === 0 ? undefined : `Draining, waiting for ${names(tested)}.`
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
      if (left() <= 0) throw new MergeqError('timed-out', `Timed out. ${text}`)
      const pause = pollDelay({ state: 'TESTING' }, errors, host.random())
      await context.withSpinner(
        () => text,
        () => host.clock.sleep(Math.min(pause, left()), host.interrupted),
      )
    }
  } catch (error) {
    const { kind, message, exit, details } = toMergeqError(error)
    const hint = 'The queue is still DRAINING. Run the command again, or undo it: mergeq queue resume'
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
    await context.logger.info(`No longer in the queue: ${numbersOf(true)}.`)
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
        ? 'no pull requests are listed, but pull requests that are not ready are never listed'
        : `${pluralize(left.length, 'pull request')} queued: ${names(left)}`
    return new MergeqError(
      'refused',
      `${failure.message.replace(/\.$/, '')}. The queue is not empty (${listed}).`,
      {
        ...failure.details,
        hint:
          left.length === 0
            ? 'Cancel them by number, then try again: mergeq pr cancel <pr>'
            : 'To cancel the queued pull requests first, add --cancel-all. To let running tests finish first, add --drain-first.',
      },
    )
  }

/**
 * Returns the confirmation, which names everything that the command does. Counts the pull requests that
 * `--cancel-all` cancels, unless no prompt is shown.
 */
async function damageOf(
  values: InputValues<typeof deleteRequest.inputs>,
  { cancels, drainFirst }: { readonly cancels: boolean; readonly drainFirst: boolean },
  context: CommandContext,
): Promise<() => Confirmation | undefined> {
  if (values.yes || !canPrompt(context) || (!cancels && !drainFirst))
    return () => deleteRequest.confirm?.([values])
  const { repo, targetBranch } = values
  const steps = [
    ...(drainFirst ? ['drains the queue'] : []),
    ...(cancels
      ? [`cancels ${pluralize((await entriesOf(values, context)).length, 'queued pull request')}`]
      : []),
    `deletes the queue of ${targetBranch} in ${repositoryName(repo)}`,
  ]
  const text = `This ${steps.slice(0, -1).join(', ')} and ${steps.at(-1)}. Type ${targetBranch} to confirm:`
  return () => ({ text, answer: targetBranch })
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
      text: `This deletes the queue of ${targetBranch} in ${repositoryName(repo)}. Type ${targetBranch} to confirm:`,
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
  async run({ cancelAll: cancels, drainFirst }, context) {
    const [first] = await readInvocations(deleteRequest, context)
    if (first === undefined) return 0
    if (context.options.dryRun)
      return runOperation(drainFirst ? queueDrainCommand : cancels ? queueGetCommand : deleteRequest, context)
    await confirm(
      { ...deleteRequest, confirm: await damageOf(first.values, { cancels, drainFirst }, context) },
      [first],
      context,
    )
    if (drainFirst) await drain(first.values, context)
    const cancelled = cancels ? await cancelAll(first.values, context) : 0
    if (cancelled !== 0) return cancelled
    const confirmed = { ...context, args: new Map(context.args).set('--yes', ['true']) }
    return runOperation(deleteRequest, confirmed, { explain: explain(first.values, context) })
  },
})
