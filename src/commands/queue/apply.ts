import { createQueue, getQueue, updateQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { reportErrors } from '../../cli/concurrency.ts'
import { type CommandContext, canPrompt } from '../../cli/context.ts'
import { flag, option } from '../../cli/inputs.ts'
import { confirm } from '../../cli/invocation.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { joinList, pluralize } from '../../domain/format.ts'
import { MergeqError, mostSevere, usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
import { printPlans } from './diff.ts'
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
import { allowUnknownInput, fileInput, queueFileInputs, requireFile } from './file/read-files.ts'

/** Returns the sentence for a plan that was applied. */
const formatResult = ({ invocation }: Plan, { outcome, changed }: JsonObject): string =>
  outcome === 'unchanged'
    ? `The queue of ${queueName(invocation)} is up to date.`
    : `${outcome === 'created' ? 'Created' : 'Updated'} the queue of ${queueName(invocation)}${
        Array.isArray(changed) && changed.length > 0 ? `: ${joinList(changed.map(String))}` : ''
      }.`

/** Prints the result for a queue; prints nothing if nothing was sent and the plan had changes. */
const printResult = async (
  plan: Plan,
  { record, failure }: ApplyResult,
  { printer }: CommandContext,
): Promise<void> => {
  if (Object.keys(record).length === 0) return
  const columns = [
    ['BRANCH', 'targetBranch'],
    ['OK', 'ok'],
    ['OUTCOME', 'outcome'],
    ['CHANGED', 'changed'],
  ] as const
  await printer.print({
    records: [record],
    document: ([first = {}]) => first,
    shape: records => ({
      ...table(records, columns),
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

/** `queue apply`: changes the live settings of queues to the settings in files. */
export const queueApplyCommand = defineCommand({
  command: 'queue apply',
  summary: 'Make queues as their files say: what differs is sent, what is not named is left alone',
  request: { command: 'queue apply', operation: updateQueue, inputs: queueInputs },
  operations: [getQueue, createQueue],
  exitKinds: ['differs', 'stale'],
  output: {
    table: 'the plan on standard error, then a sentence or row for each queue',
    json: 'a receipt for each queue that was changed, with what was accepted and does not show',
    ndjson: 'the same, one a line',
  },
  inputs: {
    file: fileInput,
    yes: flag({ name: 'yes', short: 'y', summary: 'Do it without asking' }),
    ifMatch: option({
      name: 'if-match',
      value: 'digest',
      summary: 'Only if the live settings are those that this digest tells',
      parse: parseDigest,
    }),
    ...queueFileInputs,
    ...allowUnknownInput,
  },
  examples: ['mergeq queue apply -f queue.yaml', 'mergeq queue apply -f queues/ --yes'],
  async run({ file, yes, ifMatch, includeState, allowUnknown }, context) {
    const { logger, host } = context
    const path = requireFile(file)
    const items = await readItems(path, includeState, context)
    const askToConfirm = (text: string) =>
      confirm(
        { command: 'queue apply', confirm: () => (yes ? undefined : { text, answer: 'y' }) },
        [],
        context,
      )
    if (!context.options.dryRun && !canPrompt(context)) await askToConfirm('')
    const planQueues = async (expected: string | undefined) => {
      const plans = await createPlans(items, includeState, allowUnknown, context)
      const digest = await combineDigests(plans)
      if (expected === undefined || digest === expected) return { plans, digest }
      throw new MergeqError(
        'stale',
        `The live settings have changed: expected digest ${expected}, found ${digest}. Nothing was changed.`,
        { hint: `To compare the current settings, run: mergeq queue diff -f ${path}` },
      )
    }
    if (context.options.dryRun) {
      await logger.info('Dry run: the live queues were read; nothing is changed.')
      await printPlans((await planQueues(ifMatch)).plans, context)
      return 0
    }
    let { plans, digest } = await planQueues(ifMatch)
    const changedPlans = plans.filter(hasDifferences)
    for (const plan of changedPlans) for (const text of describePlan(plan)) await logger.info(text)
    if (changedPlans.length > 0 && !yes) {
      await askToConfirm(`Apply these changes to ${pluralize(changedPlans.length, 'queue')}? [y/N]`)
      // The settings may have changed since the plan was shown: only the plan that was confirmed is applied.
      plans = (await planQueues(digest)).plans
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
