import { receiptFields } from '../../api/call.ts'
import { createQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import { queueInputs } from '../../cli/common-inputs.ts'
import { canPrompt, confirm } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import { defineCustomCommand } from '../../cli/custom-command.ts'
import { combineFields, type RecordFields } from '../../cli/fields.ts'
import { flag, option } from '../../cli/inputs.ts'
import { reportErrors } from '../../cli/run-requests.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { joinCommandLine } from '../../domain/suggested-command.ts'
import { MergeqError, mostSevere, usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
import { differenceRecord, printPlans } from './diff.ts'
import { type ApplyResult, applyPlan } from './file/apply-plan.ts'
import {
  combineDigests,
  createPlans,
  describePlan,
  hasDifferences,
  type Plan,
  queueName,
  readItems,
} from './file/plan.ts'
import { fileInput, queueFileInputs, requireFile } from './file/read-files.ts'

const formatResult = ({ invocation }: Plan, { outcome, changed }: JsonObject): string =>
  outcome === 'unchanged'
    ? `The queue for ${queueName(invocation)} is up to date.`
    : `${outcome === 'created' ? 'Created' : 'Updated'} the queue for ${queueName(invocation)}${
        Array.isArray(changed) && changed.length > 0 ? `: ${joinList(changed.map(String))}` : ''
      }.`

const resultRecord: RecordFields = {
  names: [...receiptFields, 'file', 'outcome', 'changed', 'notApplied', 'digest'],
  columns: [
    ['BRANCH', 'targetBranch'],
    ['OK', 'ok'],
    ['OUTCOME', 'outcome'],
    ['CHANGED', 'changed'],
  ],
}

/** Prints the result for a queue; prints nothing if nothing was sent and the plan had changes. */
const printResult = async (
  plan: Plan,
  { record, failure }: ApplyResult,
  { printer }: CommandContext,
): Promise<void> => {
  if (Object.keys(record).length === 0) return
  await printer.print({
    records: [record],
    document: ([first = {}]) => first,
    view: records => ({
      ...table(records, resultRecord.columns),
      sentence: failure === undefined ? formatResult(plan, record) : '',
    }),
  })
}

/** Parses a digest of live settings: 16 hexadecimal digits in lower case. Throws a usage error otherwise. */
const parseDigest = (text: string): string => {
  if (/^[0-9a-f]{16}$/.test(text)) return text
  throw usageError(
    `'${text}' is not a digest.`,
    'To print the digest of the live settings, run: mergeq queue diff -f <file>',
  )
}

/** Returns the digest of the live settings. Throws a `stale` error if it is not the expected one. */
async function checkDigest(
  plans: readonly Plan[],
  expected: string | undefined,
  path: string,
): Promise<string> {
  const digest = await combineDigests(plans)
  if (expected === undefined || digest === expected) return digest
  throw new MergeqError(
    'stale',
    `The live settings have changed: expected digest ${expected}, found ${digest}. Nothing was changed.`,
    { hint: `To compare the current settings, run: ${joinCommandLine(['queue', 'diff', '-f', path])}` },
  )
}

/** `queue apply`: changes the live settings of queues to the settings in files. */
export const queueApplyCommand = defineCustomCommand({
  command: 'queue apply',
  summary: 'Apply queue settings from files; settings that a file omits stay unchanged',
  request: { command: 'queue apply', operation: updateQueue, inputs: queueInputs },
  readsRequests: true,
  // --dry-run prints the differences.
  fields: combineFields(resultRecord, differenceRecord),
  operations: [getQueue, createQueue],
  exitKinds: ['differs', 'stale'],
  output: {
    table: 'one sentence per queue (on a pipe, one row); the plan goes to standard error',
    json: 'one receipt per changed queue, with the accepted settings that are not visible yet',
    ndjson: 'the same, one per line',
  },
  inputs: {
    file: fileInput,
    yes: flag({ name: 'yes', short: 'y', summary: 'Skip the confirmation prompt' }),
    ifMatch: option({
      name: 'if-match',
      value: 'digest',
      summary: 'Apply only if the live settings match this digest',
      parse: parseDigest,
    }),
    ...queueFileInputs,
  },
  examples: ['mergeq queue apply -f queue.yaml', 'mergeq queue apply -f queues/ --yes'],
  async dryRun({ file, ifMatch, includeState }, context) {
    const items = await readItems(requireFile(file), includeState, context)
    await context.logger.info('Dry run: the live queues were read, and nothing was changed.')
    const plans = await createPlans(items, includeState, context)
    await checkDigest(plans, ifMatch, requireFile(file))
    await printPlans(plans, context)
    return 0
  },
  async run({ file, yes, ifMatch, includeState }, context) {
    const { logger, host } = context
    const path = requireFile(file)
    const items = await readItems(path, includeState, context)
    const askToConfirm = (text: string) =>
      confirm('queue apply', yes ? undefined : { text, expectedInput: 'y' }, context)
    if (!canPrompt(context)) await askToConfirm('')
    let plans = await createPlans(items, includeState, context)
    const digest = await checkDigest(plans, ifMatch, path)
    const changedPlans = plans.filter(hasDifferences)
    for (const plan of changedPlans) for (const text of describePlan(plan)) await logger.info(text)
    if (changedPlans.length > 0 && !yes) {
      await askToConfirm(`Apply these changes to ${pluralize(changedPlans.length, 'queue')}? [y/N]`)
      // The settings may have changed since the plan was shown: only the plan that was confirmed is applied.
      plans = await createPlans(items, includeState, context)
      await checkDigest(plans, digest, path)
    }
    const failures: MergeqError[] = []
    for (const plan of plans) {
      const result = await applyPlan(plan, includeState, context)
      await printResult(plan, result, context)
      if (result.failure !== undefined) failures.push(result.failure)
      if (result.failure?.kind === 'interrupted' || host.interrupted.aborted) break
    }
    await context.printer.end()
    await reportErrors(failures, context)
    return mostSevere(failures.map(({ exit }) => exit))
  },
})
