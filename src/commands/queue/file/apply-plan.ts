import { callOperation, createReceipt, type Delivery } from '../../../api/call.ts'
import { createQueue, updateQueue } from '../../../api/operations/queues.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { joinList } from '../../../domain/format.ts'
import {
  createBody,
  type Difference,
  differences,
  type LiveSettings,
  settingsDigest,
  updateBody,
} from '../../../domain/queue-file.ts'
import { joinCommandLine } from '../../../domain/suggested-command.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { MergeqError, toMergeqError, withPeriod } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { formatValue, hasDifferences, type Plan, queueName, readLive } from './plan.ts'

/**
 * The delays before each attempt to read a change back, in milliseconds
 * (docs/reference/network.md, "What is read back").
 */
const readBackDelays = [0, 2_000, 4_000]

export interface ApplyResult {
  /** The record to print; empty if nothing was sent. */
  readonly record: JsonObject
  readonly failure?: MergeqError
}

/** Returns the hint for settings that the service accepted but does not show. */
function createHint(missing: readonly Difference[], path: string): string {
  const settingNames = missing.map(({ setting }) => setting)
  if (
    settingNames.includes('requiredStatuses') &&
    missing.some(({ file }) => Array.isArray(file) && file.length === 0)
  )
    return 'The service ignores an empty list. To remove the override, write: requiredStatuses: null'
  const reason = settingNames.includes('mode')
    ? 'A mode change takes effect after the running tests finish.'
    : 'Another change may have replaced this one, or the service does not support the value.'
  return `${reason}\nTo check the current state, run: ${joinCommandLine(['queue', 'diff', '-f', path])}`
}

/**
 * Reads the live settings back until every change shows, at most three times. Returns the live settings and
 * the differences that are left. Throws an `unknown-outcome` error if the queue cannot be read.
 */
async function readBack(
  { invocation, path, content }: Plan,
  includesState: boolean,
  context: CommandContext,
) {
  let [live, missing]: [LiveSettings | undefined, readonly Difference[]] = [undefined, []]
  for (const delay of context.options.retries === 0 ? [0] : readBackDelays) {
    if (delay > 0) await context.host.clock.sleep(delay, context.host.interrupted)
    live = await readLive(invocation, includesState, context).catch(error => {
      const { kind, message, details } = toMergeqError(error)
      if (kind === 'interrupted') throw error
      throw new MergeqError(
        'unknown-outcome',
        `${withPeriod(message)} The change to the queue for ${queueName(invocation)} was accepted, but could not be verified.`,
        {
          ...details,
          delivery: 'unknown',
          hint: `To check the current state, run: ${joinCommandLine(['queue', 'diff', '-f', path])}`,
        },
      )
    })
    missing = differences(live?.settings ?? {}, content.settings)
    if (live !== undefined && missing.length === 0) break
  }
  return { live, missing }
}

/**
 * Applies a plan: creates the queue if it is missing, sends an update with the differences, and reads the
 * settings back. Returns errors in the result instead of throwing them.
 */
export async function applyPlan(
  plan: Plan,
  includesState: boolean,
  context: CommandContext,
): Promise<ApplyResult> {
  const { invocation, path, content } = plan
  const { repo, targetBranch } = invocation.values
  const identity = { file: path, repo: repositoryName(repo), targetBranch }
  if (!hasDifferences(plan))
    return { record: { ...identity, ok: true, outcome: 'unchanged', digest: plan.digest } }
  let lastOperation: typeof createQueue | typeof updateQueue = updateQueue
  let delivery: Delivery = 'confirmed'
  let outcome = 'failed'
  let changed: readonly string[] = []
  const send = async (operation: typeof lastOperation, settings: JsonObject) => {
    lastOperation = operation
    const overrides = Object.entries(settings).map(([key, value]) => ({ path: [key], value: value ?? null }))
    const response =
      operation === createQueue
        ? await callOperation(context.client(), createQueue, invocation.values, { overrides })
        : await callOperation(context.client(), updateQueue, invocation.values, { overrides })
    if (response.delivery !== 'confirmed') delivery = response.delivery
    if (outcome === 'failed') outcome = operation === createQueue ? 'created' : 'updated'
  }
  const receipt = (failure?: MergeqError): JsonObject => ({
    ...identity,
    ...createReceipt(lastOperation.route, invocation.values, failure?.details.delivery ?? delivery, failure),
    outcome,
    changed,
  })
  try {
    let { differences: changes } = plan
    if (plan.live === undefined) {
      await send(createQueue, createBody(content.settings))
      changes = differences(
        (await readLive(invocation, includesState, context))?.settings ?? {},
        content.settings,
      )
    }
    if (changes.length > 0) await send(updateQueue, updateBody(changes, content.settings))
    changed = plan.differences.map(({ setting }) => setting)
    const { live, missing } = await readBack(plan, includesState, context)
    const digest = await settingsDigest(live?.settings ?? null)
    if (live !== undefined && missing.length === 0) return { record: { ...receipt(), digest } }
    const problem =
      live === undefined
        ? 'the queue does not exist'
        : joinList(
            missing.map(
              ({ setting, live: liveValue, file }) =>
                `${setting} is ${formatValue(liveValue)} instead of ${formatValue(file)}`,
            ),
          )
    const failure = new MergeqError(
      'differs',
      `The service accepted the change to the queue for ${queueName(invocation)}, but not all of it took effect: ${problem}.`,
      { hint: createHint(missing, path) },
    )
    return {
      record: { ...receipt(failure), notApplied: missing.map(({ setting }) => setting), digest },
      failure,
    }
  } catch (error) {
    const failure = toMergeqError(error)
    const wasSent = outcome !== 'failed' || failure.details.delivery !== undefined
    return { record: wasSent ? receipt(failure) : {}, failure }
  }
}
