import { flag, type Input, option, settingInput } from '../../cli/inputs.ts'
import {
  pullRequestArgument,
  pullRequestArguments,
  pullRequestNumber,
} from '../../cli/pull-request-arguments.ts'
import { outcomes, settledOutcome, withNormalizedState } from '../../domain/states.ts'
import { parsePriority, priorities, textParser } from '../../domain/values/text.ts'
import { usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { type ColumnSpec, message, table } from '../../output/view.ts'
import { emptyDecoder, recordDecoder } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { inspectCancel, inspectRestart, inspectSubmit } from '../recovery-rules.ts'

/** The queue an operation is about: a repository's branch (service-api.md section 2.2). */
export const queueInputs = {
  repo: settingInput('repo', 'body.repo', ({ host, owner, name }) => ({ host, owner, name })),
  targetBranch: settingInput('targetBranch', 'body.targetBranch'),
}

/** One pull request, or none when it is found by its head branch instead. */
const pullRequestOrHead: Input<number | undefined> = {
  ...pullRequestArguments,
  required: false,
  async split(args, context) {
    if (!args.has('--head')) return (await pullRequestArguments.split?.(args, context)) ?? []
    if (args.has('pr'))
      throw usageError('--head and a pull request name the same thing twice.', 'Leave one of them out.')
    return [args]
  },
  read: args => (args.has('--head') ? undefined : pullRequestNumber(args)),
}

const pullRequestInputs = { ...queueInputs, pr: pullRequestArguments }

/** The flag that answers a question before it is asked. */
export const yesFlag = flag('-y, --yes', 'Do it without asking')

const recordColumns: readonly ColumnSpec[] = [
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['SUBMITTED', 'isCurrentlySubmittedToQueue'],
  ['PRIORITY', 'priorityName'],
  ['VALUE', 'priorityValue', 'number'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['TITLE', 'prTitle'],
]

const hasState = (record: JsonObject): boolean => (getString(record, 'state') ?? '') !== ''

/** The record of a pull request, which names its state (service-api.md section 2.3). */
const pullRequestRecord = recordDecoder(withNormalizedState, { name: 'state', isThere: hasState })

/** What besides a state tells something of a pull request. */
const telling = ['isCurrentlySubmittedToQueue', 'readiness', 'priorityValue', 'priorityName', 'timeline']

/** The same record, perhaps without its state: what else it holds may still say why a pull request is not merging. */
const partialRecord = recordDecoder(withNormalizedState, {
  name: 'state',
  isThere: found => hasState(found) || telling.some(key => (found[key] ?? null) !== null),
})

/** The read that a wait repeats: one pull request, by its number. */
export const readPullRequest = defineOperation({
  command: 'pr wait',
  route: 'POST /getSubmittedPullRequest',
  summary: 'Read where a pull request stands',
  effect: false,
  inputs: pullRequestInputs,
  decoder: pullRequestRecord,
  view: ({ records }) => table(records, recordColumns),
  examples: [],
})

/** The read that an explanation begins with: one pull request, and no more than one. */
export const readPullRequestToExplain = defineOperation({
  ...readPullRequest,
  command: 'pr explain',
  decoder: partialRecord,
  inputs: { ...queueInputs, pr: pullRequestArgument },
})

const settledByRecord = { readBack: readPullRequest, inspectCommand: 'mergeq pr get' } as const

export const submitPullRequest = defineOperation({
  command: 'pr submit',
  route: 'POST /submitPullRequest',
  summary: 'Submit pull requests to the queue for testing and merging',
  effect: { ...settledByRecord, replay: 'if-not-applied', repeated: 409, inspect: inspectSubmit },
  // Equal priority is first come, first served (service-observed.md section 6).
  isOrdered: true,
  inputs: {
    ...pullRequestInputs,
    priority: option(
      '--priority <level>',
      'urgent, high, medium, low, or 0 (first) to 255 (last)',
      parsePriority,
      {
        location: 'body.priority',
        suggestions: priorities,
      },
    ),
    noBatch: flag('--no-batch', 'Test it alone, never in a batch', { location: 'body.noBatch' }),
  },
  decoder: emptyDecoder,
  view: (_, { pr, targetBranch }) => message(`Submitted #${pr} to the queue of ${targetBranch}.`),
  examples: [
    'mergeq pr submit 123',
    'mergeq pr submit 123 124 --priority high',
    'mergeq pr submit 123 --wait',
  ],
})

export const cancelPullRequest = defineOperation({
  command: 'pr cancel',
  route: 'POST /cancelPullRequest',
  summary: 'Remove pull requests from the queue',
  effect: { ...settledByRecord, replay: 'if-not-applied', repeated: 404, inspect: inspectCancel },
  inputs: { ...pullRequestInputs, yes: yesFlag },
  decoder: emptyDecoder,
  view: (_, { pr, targetBranch }) =>
    message(`Cancelled #${pr}: it is no longer in the queue of ${targetBranch}.`),
  confirm(runs) {
    if (runs.length < 2 || runs.every(({ yes }) => yes)) return undefined
    return { text: `Cancel ${runs.map(({ pr }) => `#${pr}`).join(', ')}? [y/N]`, answer: 'y' }
  },
  examples: ['mergeq pr cancel 123', 'mergeq pr cancel 123 124 --yes'],
})

export const restartTestsOnPullRequest = defineOperation({
  command: 'pr restart',
  route: 'POST /restartTestsOnPullRequest',
  summary: 'Run the tests of queued pull requests again',
  // A second restart would throw running tests away.
  effect: { ...settledByRecord, replay: 'never', inspect: inspectRestart },
  inputs: pullRequestInputs,
  decoder: emptyDecoder,
  view: (_, { pr }) => message(`Restarted the tests of #${pr}.`),
  examples: ['mergeq pr restart 123'],
})

export const getSubmittedPullRequest = defineOperation({
  command: 'pr get',
  alias: 'status',
  route: 'POST /getSubmittedPullRequest',
  summary: 'Show where pull requests stand: state, priority, and whether they are submitted',
  effect: false,
  inputs: {
    ...queueInputs,
    pr: pullRequestOrHead,
    head: option(
      '--head <branch>',
      'Find it by its head branch instead of its number',
      textParser('head branch'),
      {
        location: 'body.pr.branch',
      },
    ),
    exitStatus: flag(
      '--exit-status',
      'Exit 0 if it was merged, 3 if it failed, 10 if cancelled, 8 if not settled',
    ),
  },
  decoder: pullRequestRecord,
  view({ records: [found = {}] }, { pr, exitStatus }) {
    const shape = table([{ prNumber: pr, ...found }], recordColumns)
    return exitStatus ? { ...shape, exit: settledOutcome(found) } : shape
  },
  examples: [
    'mergeq pr get 123',
    'mergeq pr get --head fix-cart --json',
    'mergeq pr get 123 --exit-status  # exits with 8, while it has not settled',
  ],
  exitKinds: outcomes,
})
