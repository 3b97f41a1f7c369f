import { callOperation } from '../../api/call.ts'
import { createReceipt, type Delivery, type Operation } from '../../api/operation.ts'
import { createQueue, updateQueue } from '../../api/operations/queues.ts'
import type { Cli } from '../../cli/cli.ts'
import { joinList } from '../../domain/format.ts'
import {
  createBody,
  type Difference,
  differences,
  settingsDigest,
  updateBody,
} from '../../domain/queue-file.ts'
import { joinCommandLine } from '../../domain/suggested-command.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { failureOrThrow, MergeqError, toMergeqError, withPeriod } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { formatValue } from './format-setting.ts'
import { readLive } from './live-queue.ts'
import { hasDifferences, type Plan } from './plan.ts'

/**
 * The delays before each attempt to read a change back, in milliseconds
 * (docs/reference/network.md, "What is read back").
 */
const readBackDelays = [0, 2_000, 4_000]

interface ApplyResult {
  /** The record to print; undefined if nothing was sent. */
  readonly record: JsonObject | undefined
  readonly failure?: MergeqError
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

/**
 * Reads the live settings back until every change shows, at most three times. Returns the live settings and
 * the differences that are left. Throws an `unknown-outcome` error if the queue cannot be read.
 */
async function readBack({ request, name, path, content }: Plan, includesState: boolean, cli: Cli) {
  const { clock, interrupted } = cli.host
  let settings: JsonObject = {}
  let missing: readonly Difference[] = []
  for (const delay of cli.options.retries === 0 ? [0] : readBackDelays) {
    if (delay > 0) await clock.sleep(delay, interrupted)
    try {
      settings = (await readLive(request, includesState, cli))?.settings ?? {}
    } catch (error) {
      const { message, details } = failureOrThrow(error)
      throw new MergeqError(
        'unknown-outcome',
        `${withPeriod(message)} The change to the queue for ${name} was accepted, but could not be verified.`,
        { ...details, delivery: 'unknown', hint: suggestDiff(path) },
      )
    }
    missing = differences(settings, content.settings)
    if (missing.length === 0) break
  }
  return { settings, missing }
}

/**
 * Applies a plan: creates the queue if it is missing, sends an update with the differences, and reads the
 * settings back. Returns errors in the result instead of throwing them.
 */
export async function applyPlan(plan: Plan, includesState: boolean, cli: Cli): Promise<ApplyResult> {
  const { request, path, content } = plan
  const { values } = request
  const identity = { repo: repositoryName(values.repo), targetBranch: values.targetBranch, file: path }
  if (!hasDifferences(plan))
    return { record: { ...identity, ok: true, outcome: 'unchanged', digest: plan.digest } }
  let lastOperation: Operation = updateQueue
  let delivery: Delivery = 'confirmed'
  let outcome = 'failed'
  let changed: readonly string[] = []
  const send = async (operation: Operation, settings: JsonObject) => {
    lastOperation = operation
    const overrides = Object.entries(settings).map(([key, value = null]) => ({ path: [key], value }))
    const response = await callOperation(cli.client(), operation, values, { overrides })
    if (response.delivery !== 'confirmed') delivery = response.delivery
    if (outcome === 'failed') outcome = operation === createQueue ? 'created' : 'updated'
  }
  const receipt = (failure?: MergeqError): JsonObject => ({
    ...identity,
    ...createReceipt(lastOperation.route, values, failure?.details.delivery ?? delivery, failure),
    outcome,
    changed,
  })
  try {
    let changes = plan.differences
    if (plan.live === undefined) {
      await send(createQueue, createBody(content.settings))
      const created = await readLive(request, includesState, cli)
      changes = differences(created?.settings ?? {}, content.settings)
    }
    if (changes.length > 0) await send(updateQueue, updateBody(changes, content.settings))
    changed = plan.differences.map(({ setting }) => setting)
    const { settings, missing } = await readBack(plan, includesState, cli)
    // The service changes some settings with others: bisectionConcurrency with concurrency.
    const seen = differences(plan.live?.settings ?? settings, settings).map(({ setting }) => setting)
    changed = [...new Set([...changed, ...seen])]
    const digest = await settingsDigest(settings)
    if (missing.length === 0) return { record: { ...receipt(), digest } }
    const failure = missingError(plan, missing)
    const notApplied = missing.map(({ setting }) => setting)
    return { record: { ...receipt(failure), notApplied, digest }, failure }
  } catch (error) {
    const failure = toMergeqError(error)
    const wasSent = outcome !== 'failed' || failure.details.delivery !== undefined
    return { record: wasSent ? receipt(failure) : undefined, failure }
  }
}
