import { callOperation } from '../../../api/call.ts'
import type { Operation } from '../../../api/operation.ts'
import { createQueue, updateQueue } from '../../../api/operations/queues.ts'
import { queueParams } from '../../../api/params.ts'
import { createReceipt, type Delivery } from '../../../api/receipts.ts'
import { extendError, failureOrThrow, MergeqError, toMergeqError, withPeriod } from '../../../base/errors.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { joinList } from '../../../values/format.ts'
import { queueFieldsOf } from '../../../values/repository.ts'
import { joinCommandLine } from '../../../values/suggested-command.ts'
import {
  type Difference,
  differences,
  formatValue,
  settingsDigest,
  updateBody,
} from '../shared/files/queue-file.ts'
import { hasDifferences, type Plan, readLive } from '../shared/plan.ts'

const createdSettings = Object.keys(createQueue.params).filter(name => !Object.hasOwn(queueParams, name))

/** Before each attempt to read a change back (docs/reference/network.md, "What is read back"). */
const readBackDelays = [0, 2_000, 4_000]

interface ApplyResult {
  /** The record to print; undefined if nothing was sent. */
  readonly record: JsonObject | undefined
  readonly failure?: MergeqError
  /** Whether the queue was changed, or may have been. */
  readonly mayBeChanged: boolean
}

export const suggestDiff = (path: string): string =>
  `To check the current state, run: ${joinCommandLine(['queue', 'diff', '-f', path])}`

function missingError({ name, path }: Plan, missing: readonly Difference[]): MergeqError {
  const problems = missing.map(
    ({ setting, live, file }) => `${setting} is ${formatValue(live)} instead of ${formatValue(file)}`,
  )
  const isEmptyList = missing.some(
    ({ setting, file }) => setting === 'requiredStatuses' && Array.isArray(file) && file.length === 0,
  )
  return new MergeqError(
    'differs',
    `The service accepted the change to the queue for ${name}, but not all of it took effect: ${joinList(problems)}.`,
    {
      hint: isEmptyList
        ? 'The service ignores an empty list. To remove the override, write: requiredStatuses: null'
        : `A mode changes after the running tests finish. Another change may have replaced this one.\n${suggestDiff(path)}`,
    },
  )
}

/** Throws an `unknown-outcome` error if the queue cannot be read. */
async function readBack({ queue, name, path }: Plan, wanted: JsonObject, includesState: boolean, cli: Cli) {
  const { clock, interrupted } = cli.host
  let settings: JsonObject = {}
  let missing: readonly Difference[] = []
  for (const delay of cli.options.retries === 0 ? [0] : readBackDelays) {
    if (delay > 0) await clock.sleep(delay, interrupted)
    try {
      settings = (await readLive(queue, includesState, cli))?.settings ?? {}
    } catch (error) {
      const { message, details } = failureOrThrow(error)
      throw new MergeqError(
        'unknown-outcome',
        `${withPeriod(message)} The change to the queue for ${name} was accepted, but could not be verified.`,
        { ...details, delivery: 'unknown', hint: suggestDiff(path) },
      )
    }
    missing = differences(settings, wanted)
    if (missing.length === 0) break
  }
  return { settings, missing }
}

/** Throws a `stale` error if somebody has changed the settings of a queue since its plan was made and recorded. */
export async function requireRecorded(
  { queue, name, digest }: Plan,
  includesState: boolean,
  cli: Cli,
): Promise<void> {
  const live = await readLive(queue, includesState, cli)
  if ((await settingsDigest(live?.settings ?? null)) === digest) return
  throw new MergeqError(
    'stale',
    `The settings of the queue for ${name} are not those in the record any more; it was not changed. To change it, run it again.`,
  )
}

interface Creation {
  /** Whether the service has accepted the state PAUSED, and no other state was sent since. */
  readonly isPaused: boolean
  /** Whether the queue has shown its settings. */
  readonly isSet: boolean
}

/** Returns the command that finishes a creation: it applies the same files, and resumes the queue if it may be paused. */
function finishCommand(
  { queue, content }: Plan,
  { isSet }: Creation,
  mayBePaused: boolean,
  cli: Cli,
): string {
  const { commandLine } = cli.settings
  const [file = ''] = cli.args.get('--file') ?? []
  const flags = ['--include-state', '--yes'].filter(name => cli.args.has(name))
  const set = (cli.args.get('--set') ?? []).flatMap(value => ['--set', value])
  const apply = commandLine(['queue', 'apply', '-f', file, ...flags, ...set])
  // The file has the state that the queue gets.
  if (Object.hasOwn(content.settings, 'state')) return apply
  const resume = commandLine(['queue', 'resume'], queue)
  return [...(isSet ? [] : [apply]), ...(mayBePaused ? [resume] : [])].join(' && ')
}

/**
 * Returns the error of a step after the creation: not all of it took effect. That of a signal, and of a step whose
 * outcome is unknown, keep their exit codes (docs/reference/network.md, "Write recovery").
 */
function unfinishedError(plan: Plan, creation: Creation, failure: MergeqError, cli: Cli): MergeqError {
  const { delivery, exit: _, ...details } = failure.details
  const isUnknown = delivery === 'unknown'
  const state = creation.isPaused && !isUnknown ? 'is paused' : 'is not known to be paused'
  const message = `${withPeriod(failure.message)} The queue for ${plan.name} was created and ${state}.`
  const finish = `To finish, run: ${finishCommand(plan, creation, creation.isPaused || isUnknown, cli)}`
  const hint = [details.hint, finish].filter(text => text !== undefined).join('\n')
  return isUnknown || ['interrupted', 'internal'].includes(failure.kind)
    ? extendError(failure, { hint }, message)
    : new MergeqError('differs', message, { ...details, hint })
}

const valuesOf = (settings: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map(name => [name, settings[name] ?? null]))

function describeApplied({ name, live }: Plan, changed: readonly string[]): string {
  const settings = changed.length === 0 ? '' : `: ${changed.join(', ')}`
  return `${live === undefined ? 'Created' : 'Updated'} the queue for ${name}${settings}.`
}

/**
 * Applies a plan: sends an update with the differences, and reads the settings back. A queue that is missing is created,
 * gets its other settings while it is paused, and is resumed when it shows them. Returns errors in the result instead of
 * throwing them.
 */
export async function applyPlan(plan: Plan, includesState: boolean, cli: Cli): Promise<ApplyResult> {
  const { queue: values, path, content, live } = plan
  const identity = { ...queueFieldsOf(values), file: path }
  if (!hasDifferences(plan)) {
    const message = `The queue for ${plan.name} is up to date.`
    const record = { ...identity, ok: true, result: 'unchanged', before: {}, after: {}, exit: 0, message }
    return { record: { ...record, changed: [], digest: plan.digest }, mayBeChanged: false }
  }
  let lastOperation: Operation = updateQueue
  let delivery: Delivery = 'confirmed'
  let isSent = false
  let changed: readonly string[] = []
  let creation: Creation = { isPaused: false, isSet: false }
  const send = async (operation: Operation, settings: JsonObject) => {
    lastOperation = operation
    const fields = Object.entries(settings).map(([key, value = null]) => ({ path: [key], value }))
    const client = { ...cli.client(), added: { route: operation.route, fields } }
    const response = await callOperation(client, operation, values)
    if (response.delivery !== 'confirmed') delivery = response.delivery
    isSent = true
  }
  const sent = live === undefined ? 'created' : 'changed'
  /** @param after the settings that were read back, as far as they were read */
  const receipt = (failure?: MergeqError, after?: JsonObject): JsonObject => ({
    ...identity,
    ...createReceipt(lastOperation, values, failure?.details.delivery ?? delivery, failure),
    result: failure === undefined ? sent : 'error',
    before: live === undefined ? null : valuesOf(live.settings, changed),
    after: after === undefined ? null : valuesOf(after, changed),
    exit: failure?.exit ?? 0,
    message: failure?.message ?? describeApplied(plan, changed),
    changed,
  })
  const explain = (failure: MergeqError) =>
    isSent && live === undefined ? unfinishedError(plan, creation, failure, cli) : failure
  const { state = 'RUNNING', ...settings } = content.settings
  const wanted = live === undefined ? settings : content.settings
  try {
    if (live === undefined) {
      const isCreated = (name: string) => createdSettings.includes(name)
      await send(createQueue, valuesOf(settings, Object.keys(settings).filter(isCreated)))
      const others = plan.differences.filter(({ setting }) => !isCreated(setting))
      if (others.length > 0) {
        const body = updateBody(others, settings)
        await send(updateQueue, { ...body, state: 'PAUSED' })
        creation = { isPaused: true, isSet: false }
      }
    } else await send(updateQueue, updateBody(plan.differences, wanted))
    changed = plan.differences.map(({ setting }) => setting)
    const after = await readBack(plan, wanted, includesState, cli)
    // The service changes some settings with others: bisectionConcurrency with concurrency.
    const seen = live === undefined ? [] : differences(live.settings, after.settings)
    changed = [...new Set([...changed, ...seen.map(({ setting }) => setting)])]
    if (after.missing.length > 0) {
      const notApplied = after.missing.map(({ setting }) => setting)
      const failure = explain(missingError(plan, after.missing))
      return {
        record: {
          ...receipt(failure, after.settings),
          notApplied,
          digest: await settingsDigest(after.settings),
        },
        failure,
        mayBeChanged: true,
      }
    }
    creation = { ...creation, isSet: true }
    if (creation.isPaused && state !== 'PAUSED') await send(updateQueue, { state })
    const shown = live === undefined && includesState ? { ...after.settings, state } : after.settings
    return {
      record: { ...receipt(undefined, shown), digest: await settingsDigest(shown) },
      mayBeChanged: true,
    }
  } catch (error) {
    const failure = explain(toMergeqError(error))
    const { delivery } = failure.details
    const record = isSent || delivery !== undefined ? receipt(failure) : undefined
    return { record, failure, mayBeChanged: isSent || delivery === 'unknown' }
  }
}
