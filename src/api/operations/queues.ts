import { constant } from '../../cli/inputs.ts'
import { concurrencyInput, modeInput, queueSettings } from '../../cli/queue-setting-options.ts'
import { type queueStates, withNormalizedState } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { usageError } from '../../errors.ts'
import { get, getArray, getString, isObject, type JsonObject } from '../../json.ts'
import { keyValueTable, message, table, type View } from '../../output/view.ts'
import { emptyDecoder, recordDecoder, recordOrEmptyDecoder } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { inspectCreate, inspectDelete, inspectUpdate } from '../recovery-rules.ts'
import { queueInputs, yesFlag } from './pull-requests.ts'

const withSpelledStates = (document: JsonObject): JsonObject => {
  const queue = withNormalizedState(document)
  return Array.isArray(queue.enqueuedPullRequests)
    ? {
        ...queue,
        enqueuedPullRequests: queue.enqueuedPullRequests.map(entry =>
          isObject(entry) ? withNormalizedState(entry) : entry,
        ),
      }
    : queue
}

/** The settings of a queue's record, a row each. */
export const settingsTable = (queue: JsonObject): View =>
  keyValueTable(
    queue,
    Object.keys(queue)
      .filter(key => key !== 'enqueuedPullRequests')
      .map(key => [key, key]),
  )

export const getQueue = defineOperation({
  command: 'queue get',
  route: 'POST /getQueue',
  summary: 'Show a queue: its state, its settings and what is in it',
  effect: false,
  inputs: queueInputs,
  decoder: recordDecoder(withSpelledStates, {
    name: 'list of enqueued pull requests (enqueuedPullRequests)',
    isThere: ({ enqueuedPullRequests }) => Array.isArray(enqueuedPullRequests),
  }),
  view({ records: [queue = {}] }, { repo, targetBranch }) {
    const entries = getArray(queue, 'enqueuedPullRequests')
    const positions = entries.map((entry, index) =>
      isObject(entry) ? { ...entry, position: index + 1 } : entry,
    )
    const setting = (key: string) =>
      (get(queue, key) ?? undefined) === undefined ? [] : [`${key} ${get(queue, key)}`]
    const facts = [getString(queue, 'state') ?? '-', ...['mode', 'concurrency', 'batch'].flatMap(setting)]
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
        `Queue of ${targetBranch} in ${repositoryName(repo)}: ${facts.join(', ')}`,
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

const settledByQueue = {
  readBack: getQueue,
  replay: 'if-not-applied',
  inspectCommand: 'mergeq queue get',
} as const

export const createQueue = defineOperation({
  command: 'queue create',
  route: 'POST /createQueue',
  summary: 'Create the merge queue of a branch',
  effect: { ...settledByQueue, repeated: 409, inspect: inspectCreate },
  inputs: { ...queueInputs, mode: modeInput, concurrency: concurrencyInput },
  decoder: emptyDecoder,
  view: (_, { repo, targetBranch }) =>
    message(`Created the queue of ${targetBranch} in ${repositoryName(repo)}.`),
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
})

export const updateQueue = defineOperation({
  command: 'queue update',
  route: 'POST /updateQueue',
  summary: 'Change settings of a queue; what is not named stays as it is',
  effect: { ...settledByQueue, inspect: inspectUpdate },
  inputs: { ...queueInputs, ...queueSettings },
  decoder: recordOrEmptyDecoder(withSpelledStates),
  view: ({ records: [queue] }, { repo, targetBranch }) => ({
    ...(queue === undefined ? message('') : settingsTable(queue)),
    ...(queue === undefined
      ? { sentence: `Updated the queue of ${targetBranch} in ${repositoryName(repo)}.` }
      : { heading: [`Updated the queue of ${targetBranch} in ${repositoryName(repo)}:`] }),
  }),
  check({ repo, targetBranch, ...settings }, overrides) {
    const { requiredStatuses, deleteRequiredStatuses, ...others } = settings
    if (requiredStatuses !== undefined && deleteRequiredStatuses)
      throw usageError('--required-status and --delete-required-statuses contradict each other.')
    const changes = [requiredStatuses, deleteRequiredStatuses || undefined, ...Object.values(others)]
    if (overrides.length === 0 && changes.every(value => value === undefined))
      throw usageError(
        'There is nothing to update.',
        'Name at least one setting, for example --concurrency 5.',
      )
  },
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
})

/** Sugar: an update of the queue that sets its state and nothing else. */
const stateUpdate = (word: string, state: (typeof queueStates)[number], summary: string) =>
  defineOperation({
    command: `queue ${word}`,
    route: updateQueue.route,
    summary,
    effect: updateQueue.effect,
    inputs: { ...queueInputs, state: constant(state, 'body.state') },
    decoder: emptyDecoder,
    view: (_, { repo, targetBranch }) =>
      message(`The queue of ${targetBranch} in ${repositoryName(repo)} is now ${state}.`),
    examples: [`mergeq queue ${word}`],
  })

export const drainQueue = stateUpdate('drain', 'DRAINING', 'Start no new tests; merge what is being tested')

export const stateUpdates = [
  stateUpdate('pause', 'PAUSED', 'Stop testing and merging; what is being tested finishes'),
  stateUpdate('resume', 'RUNNING', 'Test and merge again'),
  drainQueue,
]

export const deleteQueue = defineOperation({
  command: 'queue delete',
  route: 'POST /deleteQueue',
  summary: 'Delete a queue; it must be empty',
  effect: { ...settledByQueue, repeated: 404, inspect: inspectDelete },
  inputs: { ...queueInputs, yes: yesFlag },
  decoder: emptyDecoder,
  view: (_, { repo, targetBranch }) =>
    message(`Deleted the queue of ${targetBranch} in ${repositoryName(repo)}.`),
  confirm([run]) {
    if (run === undefined || run.yes) return undefined
    const { repo, targetBranch } = run
    return {
      text: `This deletes the queue of ${targetBranch} in ${repositoryName(repo)}. Type ${targetBranch} to go on:`,
      answer: targetBranch,
    }
  },
  examples: ['mergeq queue delete --target-branch release --yes'],
})
