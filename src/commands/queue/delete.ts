import { callOperation } from '../../api/call.ts'
import { emptyDecoder } from '../../api/decode.ts'
import { withDecoder } from '../../api/operation.ts'
import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { deleteQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import type { RequestLimits } from '../../api/service-client.ts'
import { type Confirmation, defineCommand, defineOperationCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag, type InputValues } from '../../cli/inputs.ts'
import { printDryRun } from '../../cli/preview.ts'
import { canPrompt } from '../../cli/prompt.ts'
import { queueInputs, yesInput } from '../../cli/queue-inputs.ts'
import { reportResults } from '../../cli/report-results.ts'
import { executeAll, runInvocations } from '../../cli/run-invocations.ts'
import { joinSome } from '../../domain/explain/finding.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { defaultMaxErrors } from '../../domain/limits.ts'
import { isUnderTest } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { pollDelay } from '../../domain/wait-state.ts'
import { extendError, isPermanent, MergeqError, toMergeqError, withPeriod } from '../../errors.ts'
import { get, getArray, getString, type Json } from '../../json.ts'
import { message } from '../../output/view.ts'
import { prCancelCommand } from '../pr/cancel.ts'
import { createWaitLimits, readWaitTimeLimit } from '../pr/wait/time-limits.ts'
import { notReadyOperation, readNotReady } from './delete/not-ready.ts'

type Queue = InputValues<typeof queueInputs>

/** The operation that sets the state to DRAINING, whatever the service responds. */
const drainOperation = withDecoder(updateQueue, emptyDecoder)

async function readEntries(
  values: Queue,
  context: CommandContext,
  limits: RequestLimits = {},
): Promise<readonly Json[]> {
  const { response } = await callOperation(context.client(), getQueue, values, { limits })
  return getArray(response.records[0], 'enqueuedPullRequests')
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
      if (remaining() <= 0) throw new MergeqError('timed-out', `Timed out. ${text}`)
      const pause = pollDelay({ state: 'TESTING' }, errors, host.random())
      await context.logger.withSpinner(
        () => text,
        () => host.clock.sleep(Math.min(pause, remaining()), host.interrupted),
      )
    }
  } catch (error) {
    const failure = toMergeqError(error)
    const note =
      'The queue is still DRAINING. Run the command again, or resume the queue: mergeq queue resume'
    const { hint } = failure.details
    throw extendError(failure, { hint: hint === undefined ? note : `${hint}\n${note}` })
  }
}

async function readNumbers(values: Queue, context: CommandContext): Promise<readonly number[]> {
  return (await readEntries(values, context)).flatMap(entry => {
    const pr = get(entry, 'prNumber')
    return typeof pr === 'number' ? [pr] : []
  })
}

/**
 * Cancels all pull requests that the queue lists; one that left the queue meanwhile is not an error. Returns
 * the exit code.
 */
async function cancelAll(values: Queue, context: CommandContext): Promise<number> {
  const numbers = await readNumbers(values, context)
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
    await context.logger.info(`No longer in the queue: ${numbersOf(true)}.`)
  return code
}

/** Names pull requests that are not ready: `2 pull requests are not ready: #3, #5`. */
const formatNotReady = (numbers: readonly number[]): string =>
  `${pluralize(numbers.length, 'pull request')} ${numbers.length === 1 ? 'is' : 'are'} not ready: ${joinSome(numbers.map(pr => `#${pr}`))}`

/**
 * Says what --cancel-all cancels, and what it does not:
 * `cancels 3 queued pull requests (not cancelled: 1 pull request is not ready: #5)`.
 */
async function describeCancellation(values: Queue, context: CommandContext): Promise<string> {
  const queued = await readNumbers(values, context)
  const notReady = ((await readNotReady(values, context)) ?? []).filter(pr => !queued.includes(pr))
  const cancels = `cancels ${pluralize(queued.length, 'queued pull request')}`
  return notReady.length === 0 ? cancels : `${cancels} (not cancelled: ${formatNotReady(notReady)})`
}

/** Explains why a queue could not be deleted: which pull requests it still lists, and what to do. */
const explainError =
  (values: Queue, context: CommandContext) =>
  async (failure: MergeqError): Promise<MergeqError> => {
    const { status, delivery } = failure.details
    // An unknown outcome is not a refusal, whatever status the last response had.
    if (delivery === 'unknown' || (status !== 400 && status !== 409)) return failure
    const entries = await readEntries(values, context).catch(() => undefined)
    if (entries === undefined) return failure
    const notReady = entries.length === 0 ? await readNotReady(values, context) : undefined
    const listed =
      notReady !== undefined && notReady.length > 0
        ? formatNotReady(notReady)
        : entries.length === 0
          ? 'no pull requests are listed, but pull requests that are not ready are never listed'
          : `${pluralize(entries.length, 'pull request')} queued: ${names(entries)}`
    const text = failure.message.replace(/\.$/, '')
    const problem = /the queue is not empty$/i.test(text) ? text : `${text}. The queue is not empty`
    return new MergeqError('refused', `${problem} (${listed}).`, {
      ...failure.details,
      hint:
        entries.length > 0
          ? 'To cancel the queued pull requests first, add --cancel-all. To let running tests finish first, add --drain-first.'
          : notReady === undefined || notReady.length === 0
            ? 'Cancel them by number, then try again: mergeq pr cancel <pr>'
            : `Cancel them, then try again: ${context.settings.commandLine(['pr', 'cancel', ...notReady], values)} --yes`,
    })
  }

/** Returns the question that says what the command is about to do; the queue is read to count its entries. */
async function confirmDeletion(
  values: InputValues<typeof deleteRequest.inputs>,
  { cancels, drainFirst }: { readonly cancels: boolean; readonly drainFirst: boolean },
  context: CommandContext,
): Promise<Confirmation | undefined> {
  if (values.yes || !canPrompt(context) || (!cancels && !drainFirst)) return deleteRequest.confirm?.([values])
  const { repo, targetBranch } = values
  const steps = [
    ...(drainFirst ? ['drains the queue'] : []),
    ...(cancels ? [await describeCancellation(values, context)] : []),
    `deletes the queue for ${targetBranch} in ${repositoryName(repo)}`,
  ]
  const text = `This ${steps.slice(0, -1).join(', ')} and ${steps.at(-1)}. Type ${targetBranch} to confirm:`
  return { text, expectedInput: targetBranch }
}

const deleteRequest = defineOperationCommand({
  command: 'queue delete',
  destructive: true,
  summary: 'Delete an empty queue',
  operation: deleteQueue,
  inputs: { ...queueInputs, yes: yesInput },
  view: (_, { repo, targetBranch }) =>
    message(`Deleted the queue for ${targetBranch} in ${repositoryName(repo)}.`),
  confirm([invocation]) {
    if (invocation === undefined || invocation.yes) return undefined
    const { repo, targetBranch } = invocation
    return {
      text: `This deletes the queue for ${targetBranch} in ${repositoryName(repo)}. Type ${targetBranch} to confirm:`,
      expectedInput: targetBranch,
    }
  },
  examples: ['mergeq queue delete --target-branch release --yes'],
})

export const queueDeleteCommand = defineCommand({
  ...deleteRequest,
  request: deleteRequest,
  operations: [updateQueue, getQueue, cancelPullRequest, notReadyOperation],
  exitKinds: ['timed-out'],
  inputs: {
    cancelAll: flag({
      name: 'cancel-all',
      summary: 'Cancel all queued pull requests first, except those that are not ready',
    }),
    drainFirst: flag({
      name: 'drain-first',
      summary: 'Drain the queue first: start no new tests, and wait for running tests',
    }),
  },
  examples: [...deleteRequest.examples, 'mergeq queue delete --cancel-all --yes'],
  async confirm([first], { cancelAll: cancels, drainFirst }, context) {
    return first === undefined ? undefined : confirmDeletion(first, { cancels, drainFirst }, context)
  },
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
    return runInvocations(deleteRequest, invocations, context, {
      explainError: explainError(first.values, context),
    })
  },
})
