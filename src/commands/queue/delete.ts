import { callOperation } from '../../api/call.ts'
import { cancelPullRequest } from '../../api/operations/pull-requests.ts'
import { deleteQueue, drainQueue, getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { reportResults } from '../../cli/concurrency.ts'
import { type CommandContext, withoutOutput } from '../../cli/context.ts'
import { flag, type InputValues } from '../../cli/inputs.ts'
import { confirm, readInvocations } from '../../cli/invocation.ts'
import { executeAll, runOperation } from '../../cli/run-operation.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { isUnderTest } from '../../domain/states.ts'
import { defaultMaxErrors, pollDelay } from '../../domain/wait-state.ts'
import { isPermanent, MergeqError, toMergeqError, withPeriod } from '../../errors.ts'
import { get, getArray, getString, type Json } from '../../json.ts'
import { limitPolls, readWaitTimeLimit, withoutWaitTimeout } from '../pr/wait/time-limits.ts'

type Queue = InputValues<typeof getQueue.inputs>

/** What the queue lists now. */
async function entriesOf(values: Queue, context: CommandContext): Promise<readonly Json[]> {
  const { reply } = await callOperation(getQueue, { values, overrides: [] }, context)
  return getArray(reply.records[0], 'enqueuedPullRequests')
}

const names = (entries: readonly Json[]): string =>
  joinList(entries.map(entry => `#${get(entry, 'prNumber') ?? '?'}`))

/**
 * Sets the queue to draining and waits until nothing in it is being tested, as patiently as `pr wait` does: failed polls
 * are borne, and `--timeout` bounds the whole of it.
 */
async function drain(values: Queue, context: CommandContext): Promise<void> {
  const { logger, host, args } = context
  const patient = await withoutWaitTimeout(context)
  await callOperation(drainQueue, { values: { ...values, state: 'DRAINING' }, overrides: [] }, patient)
  const until = host.clock.now() + readWaitTimeLimit(args)
  const left = () => until - host.clock.now()
  const polling = limitPolls(patient, { limit: readWaitTimeLimit(args) }, left)
  let [errors, said] = [0, '']
  try {
    for (;;) {
      const told = await entriesOf(values, polling).then(
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
      if (told === undefined) return
      if (told !== said) await logger.info(told)
      said = told
      if (left() <= 0) throw new MergeqError('timed-out', `the time is over. ${told}`)
      const pause = pollDelay({ state: 'TESTING' }, errors, host.random())
      await context.withSpinner(
        () => told,
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

/** Cancels everything that the queue lists; what has left it meanwhile is no failure. Returns the worst exit code. */
async function cancelAll(values: Queue, context: CommandContext): Promise<number> {
  const numbers = (await entriesOf(values, context)).flatMap(entry => {
    const pr = get(entry, 'prNumber')
    return typeof pr === 'number' ? [pr] : []
  })
  const runs = numbers.map(pr => ({ values: { ...values, pr, yes: true }, overrides: [] }))
  const row = { ...cancelPullRequest, isOrdered: true }
  const all = await executeAll(row, runs, withoutOutput(context))
  const hasLeft = all.map(({ failure }) => failure?.kind === 'not-found')
  const endings = all.map((ending, index) => (hasLeft[index] === true ? { code: 0 } : ending))
  const code = await reportResults(row, runs, endings, context)
  const those = (left: boolean) =>
    joinList(numbers.filter((_, index) => hasLeft[index] === left).map(number => `#${number}`))
  if (code === 0 && hasLeft.includes(false)) await context.logger.info(`Cancelled ${those(false)}.`)
  if (code === 0 && hasLeft.includes(true))
    await context.logger.info(`Not in the queue any more: ${those(true)}.`)
  return code
}

/** Why a queue could not be deleted: what it still lists, and what to do. */
const explain =
  (values: Queue, context: CommandContext) =>
  async (failure: MergeqError): Promise<MergeqError> => {
    const { status, delivery } = failure.details
    // An unknown outcome is no refusal, whatever the last request was answered.
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

/** `queue delete`, which can empty the queue first. */
export const deleteQueueCommand = defineCommand({
  ...deleteQueue,
  operation: deleteQueue,
  operations: [drainQueue, getQueue, cancelPullRequest],
  exitKinds: ['timed-out'],
  inputs: {
    cancelAll: flag('--cancel-all', 'Cancel everything that is in the queue first'),
    drainFirst: flag('--drain-first', 'Stop new tests first, and wait until nothing is being tested'),
  },
  examples: [...deleteQueue.examples, 'mergeq queue delete --cancel-all --yes'],
  async run({ cancelAll: cancels, drainFirst }, context) {
    const [first] = await readInvocations(deleteQueue, context)
    if (first === undefined) return 0
    if (context.options.dryRun)
      return runOperation(drainFirst ? drainQueue : cancels ? getQueue : deleteQueue, context)
    await confirm(deleteQueue, [first], context)
    if (drainFirst) await drain(first.values, context)
    const cancelled = cancels ? await cancelAll(first.values, context) : 0
    if (cancelled !== 0) return cancelled
    const agreed = { ...context, args: new Map(context.args).set('--yes', ['true']) }
    return runOperation(deleteQueue, agreed, { explain: explain(first.values, context) })
  },
})
