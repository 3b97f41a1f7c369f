import { callOperation } from '../../api/call.ts'
import type { BodyOverride } from '../../api/operation.ts'
import { fieldNames, queueSettingsRecord } from '../../api/operations/fields.ts'
import { createQueue, getQueue } from '../../api/operations/queues.ts'
import { emptyDecoder } from '../../api/response.ts'
import type { Cli } from '../../cli/cli.ts'
import { defineCommand, type OldCommand } from '../../cli/define-command.ts'
import { receiptRecord } from '../../cli/fields.ts'
import { kebabCase } from '../../cli/inputs.ts'
import { pluralize } from '../../domain/format.ts'
import { queueEntries } from '../../domain/queue-entries.ts'
import { isUnderTest, stateOf, stateWords } from '../../domain/states.ts'
import { queueName } from '../../domain/values/repository.ts'
import type { Json, JsonObject } from '../../json.ts'
import { updateQueue } from '../../methods/queues.ts'
import { columns, keyValueTable } from '../../output/view.ts'
import { formatSetting, type QueueParams } from './plan.ts'

export const queueCreateCommand = defineCommand({
  command: 'queue create',
  summary: 'Create a merge queue for a branch',
  operation: createQueue,
  present: (_, { repo, targetBranch }) => ({
    sentence: `Created the queue for ${queueName({ repo, targetBranch })}.`,
  }),
  examples: ['mergeq queue create --target-branch release --concurrency 2'],
})

/** Reads the queue that a change is about to replace, in one attempt. */
async function readQueue({ repo, targetBranch }: QueueParams, context: Cli): Promise<JsonObject | undefined> {
  const client = context.client()
  const limits = { maxRetries: 0 }
  const { response } = await callOperation(client, getQueue, { repo, targetBranch }, { limits })
  return response.records[0]
}

type Settings = Readonly<Record<string, Json | undefined>>

/** The settings that were sent: those of options, and those of `--set`, as `{ 'a.b': 1 }` for `a.b=1`. */
function sentSettings(
  { deleteRequiredStatuses, ...options }: Settings,
  overrides: readonly BodyOverride[],
): Settings {
  const overridden = overrides.map(({ path, value }) => [path.join('.'), value])
  return {
    ...options,
    ...(deleteRequiredStatuses ? { requiredStatuses: [] } : {}),
    ...Object.fromEntries(overridden),
  }
}

const formatValue = (value: Json | undefined): string => formatSetting(value ?? null)

/** Whether two values of a setting are the same; the words of states and modes in any case. */
const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  formatValue(one).toLowerCase() === formatValue(other).toLowerCase()

/**
 * Returns what a change of settings changed: `concurrency 5 -> 4, batch no -> yes`. A setting that had the
 * value already is `concurrency 4 (unchanged)`.
 *
 * @param sent the settings that were sent, by their keys
 * @param after the queue in the response; empty where the service returns none
 */
export function describeUpdate(sent: Settings, before: JsonObject, after: JsonObject): string {
  const keys = Object.keys(sent).filter(key => sent[key] !== undefined)
  const others = Object.keys(after).filter(
    key =>
      key !== 'enqueuedPullRequests' &&
      !keys.includes(key) &&
      Object.hasOwn(before, key) &&
      !isSame(before[key], after[key]),
  )
  const texts = [...keys, ...others].map(key => {
    const value = after[key] ?? sent[key]
    const text = `${kebabCase(key)} ${formatValue(value)}`
    if (!Object.hasOwn(before, key)) return text
    return isSame(before[key], value)
      ? `${text} (unchanged)`
      : `${kebabCase(key)} ${formatValue(before[key])} -> ${formatValue(value)}`
  })
  return texts.join(', ') || 'no setting changed'
}

export const queueUpdateCommand = defineCommand({
  command: 'queue update',
  summary: 'Change queue settings; other settings stay as they are',
  operation: updateQueue,
  fields: { ...receiptRecord, names: [...fieldNames(queueSettingsRecord), ...receiptRecord.names] },
  output: {
    table:
      'one sentence; on a pipe, a row for each setting that the service returns, or else a row with pr, ok, delivery, message',
    json: 'the document from the service, or else a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}',
    ndjson: 'the same, on one line',
  },
  readBefore: (values, context) => readQueue(values, context),
  present({ records: [queue] }, { repo, targetBranch, ...options }, { before, overrides }) {
    const sentence = `Updated the queue for ${queueName({ repo, targetBranch })}`
    const changes =
      before && `${targetBranch}: ${describeUpdate(sentSettings(options, overrides), before, queue ?? {})}`
    if (queue === undefined) return { sentence: changes ?? `${sentence}.` }
    const settings = Object.keys(queue).filter(key => key !== 'enqueuedPullRequests')
    const table = keyValueTable(queue, columns(...settings.map(key => [key, key] as const)))
    return {
      ...table,
      ...(changes === undefined
        ? { screen: () => ({ heading: [`${sentence}:`], ...table }) }
        : { sentence: changes }),
    }
  },
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
})

const verbs = { RUNNING: 'Resumed', PAUSED: 'Paused', DRAINING: 'Draining' } as const

type SettableState = keyof typeof verbs

/**
 * Returns what a change of the state means for the pull requests of the queue:
 * `Paused main: 1 pull request finishes testing, 22 wait.`
 */
export function describeStateChange(state: SettableState, targetBranch: string, before: JsonObject): string {
  if (stateOf(before) === state) return `The queue for ${targetBranch} was already ${stateWords(state)}.`
  const entries = queueEntries(before)
  const testing = entries.filter(entry => isUnderTest(entry.state)).length
  const waiting = entries.length - testing
  const parts: string[] = []
  if (testing > 0) {
    const finish = testing === 1 ? 'finishes ' : 'finish '
    parts.push(`${pluralize(testing, 'pull request')} ${state === 'RUNNING' ? '' : finish}testing`)
  }
  if (waiting > 0) {
    const count = testing === 0 ? pluralize(waiting, 'pull request') : waiting
    parts.push(`${count} ${waiting === 1 ? 'waits' : 'wait'}`)
  }
  return `${verbs[state]} ${targetBranch}: ${parts.join(', ') || 'no pull requests are queued'}.`
}

/**
 * A command that sets the state of a queue and no other setting; it prints a receipt, whatever the service
 * responds.
 */
const defineStateCommand = ({
  command,
  state,
  summary,
}: Pick<OldCommand, 'command' | 'summary'> & { state: SettableState }) =>
  defineCommand({
    command,
    summary,
    operation: { ...updateQueue, decoder: emptyDecoder },
    params: ['repo', 'targetBranch', 'state'],
    inputs: { state: { definitions: [], read: () => state } },
    readBefore: (values, context) => readQueue(values, context),
    present: (_, { repo, targetBranch }, { before }) => ({
      sentence:
        before === undefined
          ? `The queue for ${queueName({ repo, targetBranch })} is now ${stateWords(state)}.`
          : describeStateChange(state, targetBranch, before),
    }),
    examples: [`mergeq ${command}`],
  })

export const queuePauseCommand = defineStateCommand({
  command: 'queue pause',
  state: 'PAUSED',
  summary: 'Pause testing and merging; let running tests finish',
})

export const queueResumeCommand = defineStateCommand({
  command: 'queue resume',
  state: 'RUNNING',
  summary: 'Resume testing and merging',
})

export const queueDrainCommand = defineStateCommand({
  command: 'queue drain',
  state: 'DRAINING',
  summary: 'Start no new tests; let running tests finish and merge what passes',
})
