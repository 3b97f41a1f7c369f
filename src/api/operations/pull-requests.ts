import { usage } from '../../errors.ts'
import { type JsonObject, textAt } from '../../json.ts'
import { line, type Told, table } from '../../output/view.ts'
import { endpoint } from '../operation.ts'
import { type Field, flag, fromSetting, on } from '../../cli/inputs.ts'
import { numberOf, onePullRequest, pullRequests } from '../../cli/pull-request-arguments.ts'
import { receipt, record } from '../decode.ts'
import { judgeCancel, judgeRestart, judgeSubmit } from '../recovery-rules.ts'
import { standing, standings, withSpelledState } from '../../domain/states.ts'
import { priorities, priority, text } from '../../domain/values/parsers.ts'

/** The queue an operation is about: a repository's branch (service-api.md section 2.2). */
export const onQueue = {
  repo: fromSetting('repo', 'body.repo', ({ host, owner, name }) => ({ host, owner, name })),
  targetBranch: fromSetting('targetBranch', 'body.targetBranch'),
}

/** One pull request, or none when it is found by its head branch instead. */
const pullRequestOrHead: Field<number | undefined> = {
  ...pullRequests,
  needed: false,
  async each(given, context) {
    if (!given.has('--head')) return (await pullRequests.each?.(given, context)) ?? []
    if (given.has('pr'))
      throw usage('--head and a pull request name the same thing twice.', 'Leave one of them out.')
    return [given]
  },
  read: given => (given.has('--head') ? undefined : numberOf(given)),
}

const onPullRequest = { ...onQueue, pr: pullRequests }

/** The flag that answers a question before it is asked. */
export const yes = on('-y, --yes', 'Do it without asking')

const recordColumns: readonly Told[] = [
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['SUBMITTED', 'isCurrentlySubmittedToQueue'],
  ['PRIORITY', 'priorityName'],
  ['VALUE', 'priorityValue', 'number'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['TITLE', 'prTitle'],
]

const hasState = (record: JsonObject): boolean => (textAt(record, 'state') ?? '') !== ''

/** The record of a pull request, which names its state (service-api.md section 2.3). */
const pullRequestRecord = record(withSpelledState, { name: 'state', isThere: hasState })

/** What besides a state tells something of a pull request. */
const telling = ['isCurrentlySubmittedToQueue', 'readiness', 'priorityValue', 'priorityName', 'timeline']

/** The same record, perhaps without its state: what else it holds may still say why a pull request is not merging. */
const partialRecord = record(withSpelledState, {
  name: 'state',
  isThere: found => hasState(found) || telling.some(key => (found[key] ?? null) !== null),
})

/** The read that a wait repeats: one pull request, by its number. */
export const poll = endpoint({
  command: 'pr wait',
  route: 'POST /getSubmittedPullRequest',
  summary: 'Read where a pull request stands',
  changes: false,
  fields: onPullRequest,
  reply: pullRequestRecord,
  view: ({ records }) => table(records, recordColumns),
  examples: [],
})

/** The read that an explanation begins with: one pull request, and no more than one. */
export const explained = endpoint({
  ...poll,
  command: 'pr explain',
  reply: partialRecord,
  fields: { ...onQueue, pr: onePullRequest },
})

const settledByRecord = { back: poll, tells: 'mergeq pr get' } as const

export const submit = endpoint({
  command: 'pr submit',
  route: 'POST /submitPullRequest',
  summary: 'Submit pull requests to the queue for testing and merging',
  changes: { ...settledByRecord, replay: 'if-not-applied', repeated: 409, judge: judgeSubmit },
  // Equal priority is first come, first served (service-observed.md section 6).
  inOrder: true,
  fields: {
    ...onPullRequest,
    priority: flag('--priority <level>', 'urgent, high, medium, low, or 0 (first) to 255 (last)', priority, {
      at: 'body.priority',
      offers: priorities,
    }),
    noBatch: on('--no-batch', 'Test it alone, never in a batch', { at: 'body.noBatch' }),
  },
  reply: receipt,
  view: (_, { pr, targetBranch }) => line(`Submitted #${pr} to the queue of ${targetBranch}.`),
  examples: [
    'mergeq pr submit 123',
    'mergeq pr submit 123 124 --priority high',
    'mergeq pr submit 123 --wait',
  ],
})

export const cancel = endpoint({
  command: 'pr cancel',
  route: 'POST /cancelPullRequest',
  summary: 'Remove pull requests from the queue',
  changes: { ...settledByRecord, replay: 'if-not-applied', repeated: 404, judge: judgeCancel },
  fields: { ...onPullRequest, yes },
  reply: receipt,
  view: (_, { pr, targetBranch }) =>
    line(`Cancelled #${pr}: it is no longer in the queue of ${targetBranch}.`),
  confirm(runs) {
    if (runs.length < 2 || runs.every(({ yes }) => yes)) return undefined
    return { text: `Cancel ${runs.map(({ pr }) => `#${pr}`).join(', ')}? [y/N]`, answer: 'y' }
  },
  examples: ['mergeq pr cancel 123', 'mergeq pr cancel 123 124 --yes'],
})

export const restart = endpoint({
  command: 'pr restart',
  route: 'POST /restartTestsOnPullRequest',
  summary: 'Run the tests of queued pull requests again',
  // A second restart would throw running tests away.
  changes: { ...settledByRecord, replay: 'never', judge: judgeRestart },
  fields: onPullRequest,
  reply: receipt,
  view: (_, { pr }) => line(`Restarted the tests of #${pr}.`),
  examples: ['mergeq pr restart 123'],
})

export const get = endpoint({
  command: 'pr get',
  alias: 'status',
  route: 'POST /getSubmittedPullRequest',
  summary: 'Show where pull requests stand: state, priority, and whether they are submitted',
  changes: false,
  fields: {
    ...onQueue,
    pr: pullRequestOrHead,
    head: flag('--head <branch>', 'Find it by its head branch instead of its number', text('head branch'), {
      at: 'body.pr.branch',
    }),
    exitStatus: on(
      '--exit-status',
      'Exit 0 if it was merged, 3 if it failed, 10 if cancelled, 8 if not settled',
    ),
  },
  reply: pullRequestRecord,
  view({ records: [found = {}] }, { pr, exitStatus }) {
    const shape = table([{ prNumber: pr, ...found }], recordColumns)
    return exitStatus ? { ...shape, exit: standing(found) } : shape
  },
  examples: [
    'mergeq pr get 123',
    'mergeq pr get --head fix-cart --json',
    'mergeq pr get 123 --exit-status  # exits with 8, while it has not settled',
  ],
  ends: standings,
})
