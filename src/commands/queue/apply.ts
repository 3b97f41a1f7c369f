import { callOperation } from '../../api/call.ts'
import { createReceipt, type Delivery, type Operation, receiptFields } from '../../api/operation.ts'
import { createQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import { yesInput } from '../../cli/common-inputs.ts'
import { canPrompt, confirm, promptError } from '../../cli/confirm.ts'
import { withoutDryRun } from '../../cli/dry-run.ts'
import { each } from '../../cli/each.ts'
import { combineFields, type RecordFields } from '../../cli/fields.ts'
import { flag, option } from '../../cli/inputs.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import {
  createBody,
  type Difference,
  differences,
  settingsDigest,
  updateBody,
} from '../../domain/queue-file.ts'
import { joinCommandLine } from '../../domain/suggested-command.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { textual } from '../../domain/values/types.ts'
import {
  extendError,
  failureOrThrow,
  MergeqError,
  toMergeqError,
  usageError,
  withPeriod,
} from '../../errors.ts'
import { getArray, type JsonObject } from '../../json.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { differenceRecord, printPlans } from './diff.ts'
import { formatValue } from './format-setting.ts'
import { type Failed, readLive, reportFailures } from './live-queue.ts'
import {
  combineDigests,
  createPlans,
  describePlan,
  hasDifferences,
  type Plan,
  type PlanResults,
} from './plan.ts'
import { fileInput, includeStateInput, readItems, settingsOf } from './queue-files.ts'
import { suggestUndo } from './update.ts'

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

const suggestDiff = (path: string): string =>
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
async function applyPlan(plan: Plan, includesState: boolean, cli: Cli): Promise<ApplyResult> {
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

const resultRecord: RecordFields = {
  names: [...receiptFields, 'file', 'outcome', 'changed', 'notApplied', 'digest'],
  columns: columns(
    ['REPOSITORY', 'repo'],
    ['BRANCH', 'targetBranch'],
    ['OK', 'ok'],
    ['OUTCOME', 'outcome'],
    ['CHANGED', 'changed'],
  ),
}

async function printResult({ name }: Plan, record: JsonObject, { printer }: Cli): Promise<void> {
  const settings = getArray(record, 'changed').join(', ')
  const changed = settings === '' ? '' : `: ${settings}`
  const sentence =
    record.outcome === 'unchanged'
      ? `The queue for ${name} is up to date.`
      : `${record.outcome === 'created' ? 'Created' : 'Updated'} the queue for ${name}${changed}.`
  await printer.add({
    ...singleRecord(record),
    columns: resultRecord.columns,
    screen: () => ({ sentence: record.ok === true ? sentence : '' }),
  })
}

/** Applies plans one after another, and prints their results. Returns the errors. */
async function applyPlans(
  plans: readonly Plan[],
  includesState: boolean,
  cli: Cli,
): Promise<readonly Failed[]> {
  const work = async (plan: Plan) => {
    const { record, failure } = await applyPlan(plan, includesState, cli)
    if (record !== undefined) await printResult(plan, record, cli)
    if (failure !== undefined) throw failure
    if (cli.results !== 'screen' || plan.live === undefined) return
    const sent = Object.fromEntries(plan.differences.map(({ setting, file }) => [setting, file]))
    await suggestUndo(plan.request.values, sent, plan.live.settings, cli)
  }
  // The errors name the queue already.
  const { outcomes } = await each(cli, plans, work, {
    atOnce: 1,
    name: () => undefined,
    differInAccess: true,
  })
  const failed = outcomes.flatMap(({ failure }) => (failure === undefined ? [] : [{ failure }]))
  const rest = plans.slice(outcomes.length)
  if (rest.length === 0 || failed.some(({ failure }) => failure.kind === 'interrupted')) return failed
  return [...failed, { failure: interruptedApplyError(rest, cli) }]
}

const missingQueueError = ({ name }: Plan): MergeqError =>
  new MergeqError('not-found', `The queue for ${name} does not exist.`, {
    hint: 'To create the queues that do not exist, add --create.',
  })

/** Returns the error of a signal that came before these plans were applied. */
function interruptedApplyError(plans: readonly Plan[], { host }: Cli): MergeqError {
  const interruption = toMergeqError(host.interrupted.reason)
  const names = plans.map(({ name }) => name)
  return extendError(interruption, {}, `${interruption.message} Not applied: ${joinList(names)}.`)
}

/** A digest of live settings. */
const digest = textual({
  expected: '16 hexadecimal digits in lower case',
  placeholder: 'digest',
  parse(text) {
    if (/^[0-9a-f]{16}$/.test(text)) return text
    throw usageError(
      `'${text}' is not a digest.`,
      'To print the digest of the live settings, run: mergeq queue diff -f <file>',
    )
  },
})

/** Throws a `stale` error if the live settings, where all could be read, do not have the expected digest. */
async function checkDigest(reading: PlanResults, expected: string | undefined, path: string): Promise<void> {
  const digest = await combineDigests(reading)
  if (expected === undefined || digest === undefined || digest === expected) return
  throw new MergeqError(
    'stale',
    `The live settings have changed: expected digest ${expected}, found ${digest}. Nothing was changed.`,
    { hint: suggestDiff(path) },
  )
}

export const queueApplyCommand = command({
  name: 'queue apply',
  summary: 'Apply queue settings from files; other settings stay as they are',
  alsoSends: [updateQueue, getQueue, createQueue],
  // --dry-run prints the differences.
  fields: combineFields(resultRecord, differenceRecord),
  exits: ['not-found', 'differs', 'stale'],
  prints: {
    table: 'one sentence per queue (on a pipe, one row); the plan goes to standard error',
    json: 'one receipt per changed queue, with the accepted settings that are not visible yet',
    ndjson: 'the same, one per line',
  },
  options: {
    file: fileInput,
    yes: yesInput,
    create: flag('Create the queues that do not exist'),
    ifMatch: option(digest, 'Apply only if the live settings match this digest'),
    includeState: includeStateInput,
    set: settingsOf(updateQueue),
  },
  examples: [
    'mergeq queue apply -f queue.yaml',
    'mergeq queue apply -f queues/ --yes',
    'mergeq queue apply -f queue.yaml --create',
  ],
  async run({ file, yes, create, ifMatch, includeState, set }, cli) {
    const { logger, options, printer } = cli
    const items = await readItems(file, { includeState, set }, cli)
    if (options.dryRun) {
      await logger.info('Dry run: the live queues were read, and nothing was changed.')
      const reading = await createPlans(items, includeState, withoutDryRun(cli))
      await checkDigest(reading, ifMatch, file)
      return printPlans(reading, cli)
    }
    if (!yes && !canPrompt(cli)) throw promptError(cli)
    const reading = await createPlans(items, includeState, cli)
    const { plans } = reading
    await checkDigest(reading, ifMatch, file)
    const failed: Failed[] = [...reading.failed]
    if (
      failed.length > 0 &&
      (ifMatch !== undefined || failed.some(({ failure }) => failure.kind === 'usage'))
    ) {
      if (plans.length > 0)
        await logger.warn('Nothing was changed, because not every queue could be compared.')
      return reportFailures(failed, cli)
    }
    const applicable = plans.filter(({ live }) => live !== undefined || create)
    const changedPlans = applicable.filter(hasDifferences)
    for (const plan of changedPlans) for (const text of describePlan(plan, create)) await logger.info(text)
    if (changedPlans.length > 0 && !yes) {
      const question = `Apply these changes to ${pluralize(changedPlans.length, 'queue')}?`
      await confirm({ question, expectedInput: 'y' }, cli)
      // The settings may have changed since the plan was shown: only the plan that was confirmed is applied.
      const again = await createPlans(plans, includeState, cli)
      if (again.failed.length > 0) return reportFailures(again.failed, cli)
      await checkDigest(again, await combineDigests({ plans, failed: [] }), file)
    }
    for (const plan of plans)
      if (!applicable.includes(plan)) failed.push({ failure: missingQueueError(plan) })
    failed.push(...(await applyPlans(applicable, includeState, cli)))
    await printer.end()
    return reportFailures(failed, cli)
  },
})
