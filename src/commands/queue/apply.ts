import {
  failureFields,
  oneOf,
  open,
  optional,
  outline,
  ownRecord,
  queueNameFields,
  usual,
} from '../../api/operations/fields.ts'
import { createQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import { sentFields } from '../../api/receipts.ts'
import { MergeqError, usageError } from '../../base/errors.ts'
import { getString } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { canPrompt, confirm, promptError } from '../../command/confirm.ts'
import { withoutDryRun } from '../../command/dry-run.ts'
import { each, reportErrors } from '../../command/each.ts'
import { flag, option } from '../../command/inputs.ts'
import { yesOption } from '../../command/shared-inputs.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { pluralize } from '../../values/format.ts'
import { queueFieldsOf } from '../../values/repository.ts'
import { fileName, textual } from '../../values/types.ts'
import { applyPlan, requireRecorded, suggestDiff } from './apply/apply-plan.ts'
import { readSettingsRecord, recordOfPlans, warnNotUndone } from './apply/settings-record.ts'
import { readItems } from './shared/files/described-queues.ts'
import { fileInput, includeStateInput, settingsOf } from './shared/files/file-inputs.ts'
import { combineDigests, createPlans, hasDifferences, type Plan, type PlanResults } from './shared/plan.ts'
import { describeDifference, describePlan, differenceRecord, printPlans } from './shared/print-plans.ts'
import { openRecordFile } from './shared/record-file.ts'
import { suggestUndo } from './shared/setting-changes.ts'

/** The result of a queue. One that needs no change has no receipt. */
const resultRecord = ownRecord({
  ...queueNameFields,
  file: 'string',
  operation: optional(sentFields.operation),
  ok: 'boolean',
  delivery: optional(sentFields.delivery),
  result: oneOf('changed', 'created', 'unchanged', 'error'),
  before: open('object | null'),
  after: open('object | null'),
  ...failureFields,
  changed: 'readonly string[]',
  notApplied: optional('readonly string[]'),
  digest: usual('string'),
})

const resultColumns = columns('repo', 'targetBranch', 'ok', 'result', 'changed', 'message')

/** Applies plans one after another, and prints their results. Returns the errors, and what was changed or may have been. */
async function applyPlans(plans: readonly Plan[], includesState: boolean, cli: Cli) {
  const changed = new Set<Plan>()
  const work = async (plan: Plan) => {
    if (cli.args.has('--record') && hasDifferences(plan)) await requireRecorded(plan, includesState, cli)
    const { record, failure, mayBeChanged } = await applyPlan(plan, includesState, cli)
    if (mayBeChanged) changed.add(plan)
    if (record !== undefined)
      await cli.printer.add({
        ...singleRecord(record),
        columns: resultColumns,
        screen: () => ({ sentence: record.ok === true ? (getString(record, 'message') ?? '') : '' }),
      })
    if (failure !== undefined) throw failure
    if (cli.results !== 'screen' || plan.live === undefined) return
    const sent = Object.fromEntries(plan.differences.map(({ setting, file }) => [setting, file]))
    await suggestUndo(plan.queue, sent, plan.live.settings, cli)
  }
  const { errors } = await each(cli, updateQueue, plans, work, {
    resource: ({ queue }) => queue,
    atOnce: 1,
    name: ({ name }) => name,
    differInAccess: true,
  })
  return { failures: await errors(), changed }
}

const missingQueueError = ({ name, queue }: Plan): MergeqError =>
  new MergeqError('not-found', `The queue for ${name} does not exist.`, {
    hint: 'To create the queues that do not exist, add --create.',
    ...queueFieldsOf(queue),
  })

const digest = textual({
  expected: '16 hexadecimal digits in lower case',
  placeholder: 'digest',
  parse(text) {
    if (/^[0-9a-f]{16}$/.test(text)) return text
    throw usageError(`'${text}' is not a digest.`, 'queue diff -f prints the digest of the live settings.')
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

export const definition = command({
  name: 'queue apply',
  summary: 'Apply queue settings from files; other settings stay as they are',
  alsoSends: [updateQueue, getQueue, createQueue],
  // --dry-run prints the differences.
  exits: ['not-found', 'differs', 'stale', 'output'],
  prints: {
    table: 'one sentence per queue (on a pipe, one row); the plan goes to standard error',
    json: `one result (a receipt) per queue: ${outline(resultRecord)}, with the settings of before and after that changed, and those that are not visible yet in "notApplied"`,
    ndjson: 'the same, one per line',
    documents: [resultRecord],
    records: [resultRecord, differenceRecord],
    columns: resultColumns,
  },
  options: {
    file: fileInput,
    yes: yesOption,
    create: flag('Create the queues that do not exist'),
    record: option(
      fileName('file'),
      'Write the old settings to this file; to undo the changes, apply that file',
    ),
    ifMatch: option(digest, 'Apply only if the live settings match this digest'),
    includeState: includeStateInput,
    set: settingsOf(updateQueue),
  },
  examples: [
    'mergeq queue apply -f queue.yaml',
    'mergeq queue apply -f queues/ --yes',
    'mergeq queue apply -f queue.yaml --create',
    'mergeq queue apply -f queues/ --record before.json',
  ],
  async run({ file, yes, create, record: path, ifMatch, includeState, set }, cli) {
    const { logger, printer } = cli
    const items = await readItems(file, { includeState, set }, cli)
    if (cli.options.dryRun) {
      await logger.info('Dry run: the live queues were read, and nothing was changed.')
      const reading = await createPlans(items, includeState, withoutDryRun(cli))
      await checkDigest(reading, ifMatch, file)
      return printPlans(reading, cli)
    }
    if (!yes && !canPrompt(cli)) throw promptError(cli)
    const record = await openRecordFile(path, cli)
    const earlier = await readSettingsRecord(record, yes, cli)
    const reading = await createPlans(items, includeState, cli)
    const { plans } = reading
    await checkDigest(reading, ifMatch, file)
    const failures = [...reading.failures]
    const isWrong = failures.some(({ kind }) => kind === 'usage')
    if (failures.length > 0 && (ifMatch !== undefined || isWrong)) {
      if (plans.length > 0)
        await logger.warn('Nothing was changed, because not every queue could be compared.')
      return reportErrors(failures, cli)
    }
    const applicable = plans.filter(({ live }) => live !== undefined || create)
    const changedPlans = applicable.filter(hasDifferences)
    for (const plan of changedPlans) {
      await logger.info(describePlan(plan, 'will be created'))
      for (const difference of plan.differences)
        await logger.info(`- ${describeDifference(difference, plan.live)}`)
    }
    if (changedPlans.length > 0 && !yes) {
      const question = `Apply these changes to ${pluralize(changedPlans.length, 'queue')}?`
      await confirm({ question, expectedInput: 'y' }, cli)
      // The settings may have changed since the plan was shown: only the plan that was confirmed is applied.
      const again = await createPlans(plans, includeState, cli)
      if (again.failures.length > 0) return reportErrors(again.failures, cli)
      await checkDigest(again, await combineDigests({ ...reading, failures: [] }), file)
    }
    for (const plan of plans) if (!applicable.includes(plan)) failures.push(missingQueueError(plan))
    if (changedPlans.length > 0) await record.write(recordOfPlans(earlier, changedPlans))
    if (path !== undefined) await warnNotUndone(path, changedPlans, cli)
    const applied = await applyPlans(applicable, includeState, cli)
    failures.push(...applied.failures)
    const changed = changedPlans.filter(plan => applied.changed.has(plan))
    if (changed.length < changedPlans.length)
      await record.correct(recordOfPlans(earlier, changed), 'It still names queues that were not changed.')
    if (path !== undefined && changed.length > 0 && cli.messages === 'person')
      await logger.info(
        `To undo the changes, run: ${cli.settings.commandLine(['queue', 'apply', '-f', path], { repo: null, targetBranch: null })}`,
      )
    else if (path !== undefined && changedPlans.length === 0)
      await logger.info(`Nothing changes: ${path} was not written.`)
    await printer.end()
    return reportErrors(failures, cli)
  },
})
