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
  describePlan,
  digestOfAll,
  isDifferent,
  type Plan,
  planAll,
  queueName,
  readItems,
} from './file/plan.ts'
import { fileInput, queueFileInputs, requireFile, unknownFlag } from './file/read-files.ts'

/** What is said on a terminal of a queue that is as its file says now. */
const sentenceOf = ({ run }: Plan, { outcome, changed }: JsonObject): string =>
  outcome === 'unchanged'
    ? `The queue of ${queueName(run)} is as its file says: nothing was sent.`
    : `${outcome === 'created' ? 'Created' : 'Updated'} the queue of ${queueName(run)}${
        Array.isArray(changed) && changed.length > 0 ? `: ${joinList(changed.map(String))}` : ''
      }.`

const print = async (
  plan: Plan,
  { record, failure }: ApplyResult,
  { printer }: CommandContext,
): Promise<void> => {
  if (Object.keys(record).length === 0) return
  const told = [
    ['BRANCH', 'targetBranch'],
    ['OK', 'ok'],
    ['OUTCOME', 'outcome'],
    ['CHANGED', 'changed'],
  ] as const
  await printer.print({
    records: [record],
    document: ([one = {}]) => one,
    shape: records => ({
      ...table(records, told),
      sentence: failure === undefined ? sentenceOf(plan, record) : '',
    }),
  })
}

const digest = (word: string): string => {
  if (/^[0-9a-f]{16}$/.test(word)) return word
  throw usageError(
    `'${word}' is not a digest.`,
    '`mergeq queue diff` prints the digest of the live settings.',
  )
}

/** `queue apply`: makes queues as their files say. */
export const apply = defineCommand({
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
    yes: flag('-y, --yes', 'Do it without asking'),
    ifMatch: option(
      '--if-match <digest>',
      'Only if the live settings are those that this digest tells',
      digest,
    ),
    ...queueFileInputs,
    ...unknownFlag,
  },
  examples: ['mergeq queue apply -f queue.yaml', 'mergeq queue apply -f queues/ --yes'],
  async run({ file, yes, ifMatch, includeState, allowUnknown }, context) {
    const { logger, host } = context
    const path = requireFile(file)
    const items = await readItems(path, includeState, context)
    const ask = (text: string) =>
      confirm(
        { command: 'queue apply', confirm: () => (yes ? undefined : { text, answer: 'y' }) },
        [],
        context,
      )
    if (!context.options.dryRun && !canPrompt(context)) await ask('')
    const plan = async (expected: string | undefined) => {
      const plans = await planAll(items, includeState, allowUnknown, context)
      const found = await digestOfAll(plans)
      if (expected === undefined || found === expected) return { plans, found }
      throw new MergeqError(
        'stale',
        `queue apply: the live settings are not those of ${expected} any more: their digest is ${found}; nothing was sent.`,
        { hint: `See what they are now: mergeq queue diff -f ${path}` },
      )
    }
    if (context.options.dryRun) {
      await logger.info('--dry-run reads the live queues and changes nothing: this is the plan.')
      await printPlans((await plan(ifMatch)).plans, context)
      return 0
    }
    let { plans, found } = await plan(ifMatch)
    const news = plans.filter(isDifferent)
    for (const one of news) for (const text of describePlan(one)) await logger.info(text)
    if (news.length > 0 && !yes) {
      await ask(`Change ${pluralize(news.length, 'queue')}? [y/N]`)
      // What was agreed to is what was shown.
      plans = (await plan(found)).plans
    }
    const failures: MergeqError[] = []
    for (const one of plans) {
      const done = await applyPlan(one, includeState, context)
      await print(one, done, context)
      if (done.failure !== undefined) failures.push(done.failure)
      if (done.failure?.kind === 'interrupted' || host.interrupted.aborted) break
    }
    await context.printer.end()
    await reportErrors(failures, context)
    return mostSevere(failures.map(({ exit }) => exit))
  },
})
