import { usage } from '../failure.ts'
import {
  at,
  isObject,
  type JsonObject,
  line,
  listAt,
  type Shape,
  sheet,
  table,
  textAt,
} from '../view/shapes.ts'
import { endpoint } from './endpoint.ts'
import { always, type Context, either, type Field, flag, flags, type Given, on } from './field.ts'
import { onQueue, yes } from './pulls.ts'
import { receipt, record, recordOrReceipt } from './reply.ts'
import { type queueStates, withSpelledState } from './states.ts'
import { integer, largestInteger, nameOf, oneOf, pullRequest, text } from './words.ts'

const modes = ['single', 'parallel'] as const

const mode = flag(
  '--mode <mode>',
  'One line (single), or lanes by impacted targets (parallel)',
  oneOf(modes),
  {
    at: 'body.mode',
    choices: modes,
  },
)
const concurrency = flag('--concurrency <n>', 'Test runs at a time', integer(1, largestInteger), {
  at: 'body.concurrency',
})

/** A setting of the queue that is a whole number (service-observed.md section 3.1). */
const amount = (name: string, key: string, least: number, summary: string) =>
  flag(`--${name} <n>`, summary, integer(least, largestInteger), { at: `body.${key}` })

/** A setting of the queue that is on or off. */
const onOff = (name: string, key: string, summary: string) => either(name, summary, { at: `body.${key}` })

/** A setting of the queue that is one of a few words. */
const word = (name: string, key: string, choices: readonly string[], summary: string) =>
  flag(`--${name} <word>`, `${summary}: ${choices.join(', ')}`, oneOf(choices), {
    at: `body.${key}`,
    choices,
  })

const states = ['running', 'paused', 'draining']

/** Every setting that updateQueue takes, one flag for each (service-observed.md section 3.1). */
export const queueSettings = {
  state: flag('--state <state>', `State of the queue: ${states.join(', ')}`, oneOf(states), {
    at: 'body.state',
    choices: states,
  }),
  mode,
  concurrency,
  bisectionConcurrency: amount(
    'bisection-concurrency',
    'bisectionConcurrency',
    1,
    'Test runs at a time while a failed batch is split',
  ),
  testingTimeoutMinutes: amount(
    'testing-timeout-minutes',
    'testingTimeoutMinutes',
    0,
    'Limit of a test run, in minutes; 0 is none',
  ),
  pendingFailureDepth: amount(
    'pending-failure-depth',
    'pendingFailureDepth',
    0,
    'Runs behind a failure to wait for before it counts',
  ),
  canOptimisticallyMerge: onOff(
    'can-optimistically-merge',
    'canOptimisticallyMerge',
    'A pass counts for all ahead',
  ),
  batch: onOff('batch', 'batch', 'Test several pull requests together'),
  batchingMinSize: amount('batching-min-size', 'batchingMinSize', 1, 'Size of a batch'),
  batchingMaxWaitTimeMinutes: amount(
    'batching-max-wait-time-minutes',
    'batchingMaxWaitTimeMinutes',
    1,
    'Time to fill a batch, in minutes',
  ),
  createPrsForTestingBranches: onOff(
    'create-prs-for-testing-branches',
    'createPrsForTestingBranches',
    'Draft pull requests for test branches',
  ),
  commentsEnabled: onOff('comments-enabled', 'commentsEnabled', 'Comments on pull requests'),
  commandsEnabled: onOff('commands-enabled', 'commandsEnabled', 'Commands in comments'),
  statusCheckEnabled: onOff('status-check-enabled', 'statusCheckEnabled', 'A status check on pull requests'),
  directMergeMode: word(
    'direct-merge-mode',
    'directMergeMode',
    ['off', 'always'],
    'Merge untested when up to date and the queue is empty',
  ),
  optimizationMode: word(
    'optimization-mode',
    'optimizationMode',
    ['off', 'bisection_skip_redundant_tests'],
    'Reuse failures in a bisection',
  ),
  mergeMethod: word('merge-method', 'mergeMethod', ['merge_commit', 'squash', 'rebase'], 'How to merge'),
  requiredStatuses: flags(
    '--required-status <name>',
    'A status that a test run must pass; overrides branch protection (repeatable)',
    text('status'),
    { at: 'body.requiredStatuses' },
  ),
  deleteRequiredStatuses: on('--delete-required-statuses', 'Drop the override of required statuses', {
    at: 'body.deleteRequiredStatuses',
  }),
  extensionEnabled: onOff('extension-enabled', 'extensionEnabled', 'The browser extension'),
  labelCommandsEnabled: onOff('label-commands-enabled', 'labelCommandsEnabled', 'Commands by label'),
  stateLabelsEnabled: onOff('state-labels-enabled', 'stateLabelsEnabled', 'Labels that show the state'),
  enqueueingLabel: flag('--enqueueing-label <label>', 'Label that submits a pull request', text('label'), {
    at: 'body.enqueueingLabel',
  }),
  notReadyTimeoutHours: amount(
    'not-ready-timeout-hours',
    'notReadyTimeoutHours',
    0,
    'Cancel what is not ready after so many hours',
  ),
  testBranchConstructionMode: word(
    'test-branch-construction-mode',
    'testBranchConstructionMode',
    ['rename_temp_branch', 'push_new_branch_from_temp'],
    'How test branches are made',
  ),
}

const withSpelledStates = (document: JsonObject): JsonObject => {
  const queue = withSpelledState(document)
  return Array.isArray(queue.enqueuedPullRequests)
    ? {
        ...queue,
        enqueuedPullRequests: queue.enqueuedPullRequests.map(entry =>
          isObject(entry) ? withSpelledState(entry) : entry,
        ),
      }
    : queue
}

/** The settings of a queue's record, a row each. */
export const settingsSheet = (queue: JsonObject): Shape =>
  sheet(
    queue,
    Object.keys(queue)
      .filter(key => key !== 'enqueuedPullRequests')
      .map(key => [key, key]),
  )

export const create = endpoint({
  command: 'queue create',
  route: 'POST /createQueue',
  summary: 'Create the merge queue of a branch',
  changes: true,
  fields: { ...onQueue, mode, concurrency },
  reply: receipt,
  view: (_, { repo, targetBranch }) => line(`Created the queue of ${targetBranch} in ${nameOf(repo)}.`),
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
})

export const read = endpoint({
  command: 'queue get',
  route: 'POST /getQueue',
  summary: 'Show a queue: its state, its settings and what is in it',
  changes: false,
  fields: onQueue,
  reply: record(withSpelledStates),
  view({ records: [queue = {}] }, { repo, targetBranch }) {
    const entries = listAt(queue, 'enqueuedPullRequests')
    const positions = entries.map((entry, index) =>
      isObject(entry) ? { ...entry, position: index + 1 } : entry,
    )
    const setting = (key: string) => (at(queue, key) === undefined ? [] : [`${key} ${at(queue, key)}`])
    const facts = [textAt(queue, 'state') ?? '-', ...['mode', 'concurrency', 'batch'].flatMap(setting)]
    return {
      ...table(positions, [
        ['POSITION', 'position', 'number'],
        ['PR', 'prNumber', 'pr'],
        ['STATE', 'state', 'state'],
        ['PRIORITY', 'priorityName'],
        ['SINCE', 'stateChangedAt', 'time'],
        ['AUTHOR', 'prAuthor'],
        ['TITLE', 'prTitle'],
      ]),
      heading: [
        `Queue of ${targetBranch} in ${nameOf(repo)}: ${facts.join(', ')}`,
        ...(entries.length === 0 ? ['It is empty.'] : []),
      ],
    }
  },
  examples: [
    'mergeq queue get',
    'mergeq queue get --json | jq -r .state',
    'mergeq queue get --fields state,mode',
  ],
})

export const update = endpoint({
  command: 'queue update',
  route: 'POST /updateQueue',
  summary: 'Change settings of a queue; what is not named stays as it is',
  changes: true,
  fields: { ...onQueue, ...queueSettings },
  reply: recordOrReceipt(withSpelledStates),
  view: ({ records: [queue] }, { repo, targetBranch }) => ({
    ...(queue === undefined ? line('') : settingsSheet(queue)),
    ...(queue === undefined
      ? { sentence: `Updated the queue of ${targetBranch} in ${nameOf(repo)}.` }
      : { heading: [`Updated the queue of ${targetBranch} in ${nameOf(repo)}:`] }),
  }),
  check({ repo, targetBranch, ...settings }, sets) {
    const { requiredStatuses, deleteRequiredStatuses, ...others } = settings
    if (requiredStatuses !== undefined && deleteRequiredStatuses)
      throw usage('--required-status and --delete-required-statuses contradict each other.')
    const changes = [requiredStatuses, deleteRequiredStatuses || undefined, ...Object.values(others)]
    if (sets.length === 0 && changes.every(value => value === undefined))
      throw usage('There is nothing to update.', 'Name at least one setting, for example --concurrency 5.')
  },
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
})

/** Sugar: an update of the queue that sets its state and nothing else. */
const toState = (word: string, state: (typeof queueStates)[number], summary: string) =>
  endpoint({
    command: `queue ${word}`,
    route: update.route,
    summary,
    changes: true,
    fields: { ...onQueue, state: always(state, 'body.state') },
    reply: receipt,
    view: (_, { repo, targetBranch }) =>
      line(`The queue of ${targetBranch} in ${nameOf(repo)} is now ${state}.`),
    examples: [`mergeq queue ${word}`],
  })

export const stateChanges = [
  toState('pause', 'PAUSED', 'Stop testing and merging; what is being tested finishes'),
  toState('resume', 'RUNNING', 'Test and merge again'),
  toState('drain', 'DRAINING', 'Start no new tests; merge what is being tested'),
]

export const remove = endpoint({
  command: 'queue delete',
  route: 'POST /deleteQueue',
  summary: 'Delete a queue; it must be empty',
  changes: true,
  fields: { ...onQueue, yes },
  reply: receipt,
  view: (_, { repo, targetBranch }) => line(`Deleted the queue of ${targetBranch} in ${nameOf(repo)}.`),
  confirm([run]) {
    if (run === undefined || run.yes) return undefined
    const { repo, targetBranch } = run
    return {
      text: `This deletes the queue of ${targetBranch} in ${nameOf(repo)}. Type ${targetBranch} to go on:`,
      answer: targetBranch,
    }
  },
  examples: ['mergeq queue delete --target-branch release --yes'],
})

/** The test run: an id, or a test branch that ends in one; by pull request where that was asked for. */
const testRun: Field<string | undefined> = {
  words: [{ spell: '[run]', summary: 'Test run id, or the name of a test branch that ends in one' }],
  setting: 'testRun',
  at: 'body.testRunId',
  async read(given: Given, context: Context) {
    const [typed] = given.get('run') ?? []
    if (given.has('--pr')) {
      if (typed !== undefined)
        throw usage('A test run and --pr name the same thing twice.', 'Leave one of them out.')
      return undefined
    }
    const run = typed ?? (await context.need('testRun'))
    return text('test run')(run.slice(run.lastIndexOf('/') + 1))
  },
}

export const testing = endpoint({
  command: 'pr testing',
  route: 'POST /getMergeQueueTestingDetails',
  summary: 'Show a test run: its checks, and what is tested in it',
  changes: false,
  fields: {
    ...onQueue,
    testRun,
    pr: flag(
      '--pr <n>',
      'Ask by pull request instead, where the service takes that',
      word => pullRequest(word).number,
      {
        at: 'body.pr.number',
      },
    ),
  },
  reply: record(document => document),
  view({ records: [run = {}] }) {
    const suites = listAt(run, 'checkSuites').flatMap(suite => listAt(suite, 'checkRuns'))
    const checks = suites.map(check => ({
      kind: 'check',
      name: at(check, 'name'),
      state: at(check, 'conclusion') ?? at(check, 'status'),
      url: at(check, 'url'),
    }))
    const newest = new Map(
      listAt(run, 'statusChecks')
        .toReversed()
        .map(status => [textAt(status, 'context'), status]),
    )
    const statuses = [...newest.values()].toReversed().map(status => ({
      kind: 'status',
      name: at(status, 'context'),
      state: at(status, 'state'),
      url: at(status, 'url'),
    }))
    const tested = listAt(run, 'testedPullRequests').map(pr => `#${at(pr, 'prNumber') ?? '?'}`)
    return {
      ...table(
        [...checks, ...statuses],
        [
          ['KIND', 'kind'],
          ['NAME', 'name'],
          ['STATE', 'state', 'state'],
          ['URL', 'url'],
        ],
      ),
      heading: [
        `Test run ${textAt(run, 'status') ?? ''} on ${textAt(run, 'testBranch') ?? 'an unnamed branch'}, testing ${tested.join(', ') || 'nothing that it names'}`,
      ],
    }
  },
  examples: ['mergeq pr testing 6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c', 'mergeq pr testing --pr 123 --json'],
})
