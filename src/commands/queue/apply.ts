import { flag, on } from '../../cli/inputs.ts'
import { onQueue } from '../../api/operations/pull-requests.ts'
import { create, read, update } from '../../api/operations/queues.ts'
import { Failure, usage, worst } from '../../errors.ts'
import { canAsk, type Desk } from '../../cli/context.ts'
import { tellFailures } from '../../cli/concurrency.ts'
import { confirm } from '../../cli/invocation.ts'
import { type JsonObject } from '../../json.ts'
import { count, listed, table } from '../../output/view.ts'
import { command } from '../../cli/command.ts'
import { applyOne, change, type Done } from './file/apply-plan.ts'
import { codeFlags, fromFile, needed, unknownFlag } from './file/read-files.ts'
import { digestOfAll, isDifferent, type Plan, placeName, planAll, planLines, readItems } from './file/plan.ts'
import { printPlans } from './diff.ts'

/** What is said on a terminal of a queue that is as its file says now. */
const sentenceOf = ({ run }: Plan, { outcome, changed }: JsonObject): string =>
  outcome === 'unchanged'
    ? `The queue of ${placeName(run)} is as its file says: nothing was sent.`
    : `${outcome === 'created' ? 'Created' : 'Updated'} the queue of ${placeName(run)}${
        Array.isArray(changed) && changed.length > 0 ? `: ${listed(changed.map(String))}` : ''
      }.`

const print = async (plan: Plan, { record, failure }: Done, { printer }: Desk): Promise<void> => {
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
  throw usage(`'${word}' is not a digest.`, '`mergeq queue diff` prints the digest of the live settings.')
}

/** `queue apply`: makes queues as their files say. */
export const apply = command({
  command: 'queue apply',
  summary: 'Make queues as their files say: what differs is sent, what is not named is left alone',
  on: { ...update, fields: onQueue },
  asks: [read, create],
  ends: ['differs', 'stale'],
  prints: {
    table: 'the plan on standard error, then a sentence or row for each queue',
    json: 'a receipt for each queue that was changed, with what was accepted and does not show',
    ndjson: 'the same, one a line',
  },
  fields: {
    file: fromFile,
    yes: on('-y, --yes', 'Do it without asking'),
    ifMatch: flag(
      '--if-match <digest>',
      'Only if the live settings are those that this digest tells',
      digest,
    ),
    ...codeFlags,
    ...unknownFlag,
  },
  examples: ['mergeq queue apply -f queue.yaml', 'mergeq queue apply -f queues/ --yes'],
  async run({ file, yes, ifMatch, includeState, allowUnknown }, desk) {
    const { voice, world } = desk
    const path = needed(file)
    const items = await readItems(path, includeState, desk)
    const ask = (text: string) =>
      confirm({ ...change, confirm: () => (yes ? undefined : { text, answer: 'y' }) }, [], desk)
    if (!desk.options.dryRun && !canAsk(desk)) await ask('')
    const plan = async (expected: string | undefined) => {
      const plans = await planAll(items, includeState, allowUnknown, desk)
      const found = await digestOfAll(plans)
      if (expected === undefined || found === expected) return { plans, found }
      throw new Failure(
        'stale',
        `queue apply: the live settings are not those of ${expected} any more: their digest is ${found}; nothing was sent.`,
        { hint: `See what they are now: mergeq queue diff -f ${path}` },
      )
    }
    if (desk.options.dryRun) {
      await voice.note('--dry-run reads the live queues and changes nothing: this is the plan.')
      await printPlans((await plan(ifMatch)).plans, desk)
      return 0
    }
    let { plans, found } = await plan(ifMatch)
    const news = plans.filter(isDifferent)
    for (const one of news) for (const text of planLines(one)) await voice.note(text)
    if (news.length > 0 && !yes) {
      await ask(`Change ${count(news.length, 'queue')}? [y/N]`)
      // What was agreed to is what was shown.
      plans = (await plan(found)).plans
    }
    const failures: Failure[] = []
    for (const one of plans) {
      const done = await applyOne(one, includeState, desk)
      await print(one, done, desk)
      if (done.failure !== undefined) failures.push(done.failure)
      if (done.failure?.kind === 'interrupted' || world.interrupted.aborted) break
    }
    await desk.printer.end()
    await tellFailures(failures, desk)
    return worst(failures.map(({ exit }) => exit))
  },
})
