import { usage } from '../../errors.ts'
import { at, isObject, type JsonObject, listAt, textAt } from '../../json.ts'
import { line, type Shape, sheet, table } from '../../output/view.ts'
import { endpoint } from '../operation.ts'
import { always } from '../../cli/inputs.ts'
import { onQueue, yes } from './pull-requests.ts'
import { concurrency, mode, queueSettings } from '../../cli/queue-setting-options.ts'
import { receipt, record, recordOrReceipt } from '../decode.ts'
import { judgeCreate, judgeDelete, judgeUpdate } from '../recovery-rules.ts'
import { type queueStates, withSpelledState } from '../../domain/states.ts'
import { nameOf } from '../../domain/values/parsers.ts'

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

export const read = endpoint({
  command: 'queue get',
  route: 'POST /getQueue',
  summary: 'Show a queue: its state, its settings and what is in it',
  changes: false,
  fields: onQueue,
  reply: record(withSpelledStates, {
    name: 'list of enqueued pull requests (enqueuedPullRequests)',
    isThere: ({ enqueuedPullRequests }) => Array.isArray(enqueuedPullRequests),
  }),
  view({ records: [queue = {}] }, { repo, targetBranch }) {
    const entries = listAt(queue, 'enqueuedPullRequests')
    const positions = entries.map((entry, index) =>
      isObject(entry) ? { ...entry, position: index + 1 } : entry,
    )
    const setting = (key: string) =>
      (at(queue, key) ?? undefined) === undefined ? [] : [`${key} ${at(queue, key)}`]
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

const settledByQueue = { back: read, replay: 'if-not-applied', tells: 'mergeq queue get' } as const

export const create = endpoint({
  command: 'queue create',
  route: 'POST /createQueue',
  summary: 'Create the merge queue of a branch',
  changes: { ...settledByQueue, repeated: 409, judge: judgeCreate },
  fields: { ...onQueue, mode, concurrency },
  reply: receipt,
  view: (_, { repo, targetBranch }) => line(`Created the queue of ${targetBranch} in ${nameOf(repo)}.`),
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
})

export const update = endpoint({
  command: 'queue update',
  route: 'POST /updateQueue',
  summary: 'Change settings of a queue; what is not named stays as it is',
  changes: { ...settledByQueue, judge: judgeUpdate },
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
    changes: update.changes,
    fields: { ...onQueue, state: always(state, 'body.state') },
    reply: receipt,
    view: (_, { repo, targetBranch }) =>
      line(`The queue of ${targetBranch} in ${nameOf(repo)} is now ${state}.`),
    examples: [`mergeq queue ${word}`],
  })

export const draining = toState('drain', 'DRAINING', 'Start no new tests; merge what is being tested')

export const stateChanges = [
  toState('pause', 'PAUSED', 'Stop testing and merging; what is being tested finishes'),
  toState('resume', 'RUNNING', 'Test and merge again'),
  draining,
]

export const remove = endpoint({
  command: 'queue delete',
  route: 'POST /deleteQueue',
  summary: 'Delete a queue; it must be empty',
  changes: { ...settledByQueue, repeated: 404, judge: judgeDelete },
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
