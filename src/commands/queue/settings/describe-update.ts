import { callOperation } from '../../../api/call.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { type BodyOverride, jsonOf } from '../../../api/request.ts'
import { withMaxRetries } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { pluralize } from '../../../domain/format.ts'
import { queueEntries } from '../../../domain/queue-entries.ts'
import { settingOption } from '../../../domain/queue-settings.ts'
import { isUnderTest, normalizeState } from '../../../domain/states.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { getString, type Json, type JsonObject } from '../../../json.ts'
import { formatSetting } from '../file/plan.ts'

/** Reads the queue that a change is about to replace, in one attempt. */
export async function readQueue(
  { repo, targetBranch }: { readonly repo: Repository; readonly targetBranch: string },
  context: Pick<CommandContext, 'client'>,
): Promise<JsonObject | undefined> {
  const client = context.client()
  const limits = withMaxRetries(client, 0)
  const { response } = await callOperation(client, getQueue, { repo, targetBranch }, { limits })
  return response.records[0]
}

const resourceKeys: readonly string[] = ['repo', 'targetBranch']

/** Returns the settings that `--set` replaced, by their paths: `{ 'a.b': 1 }` for `a.b=1`. */
export const overriddenSettings = (
  overrides: readonly BodyOverride[],
): Readonly<Record<string, Json | undefined>> =>
  Object.fromEntries(
    overrides
      .filter(({ path: [key = ''] }) => !resourceKeys.includes(key))
      .map(({ path, value }) => [path.join('.'), jsonOf(value)]),
  )

/** Formats a value of a setting; `none` for null and for an empty text. */
const formatValue = (value: Json | undefined): string => formatSetting(value ?? null) || 'none'

/** Whether two values of a setting are the same; the words of states and modes in any case. */
const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  formatValue(one).toLowerCase() === formatValue(other).toLowerCase()

/**
 * Returns what a change of settings changed: `concurrency 5 -> 4, batch no -> yes`. A setting that had the
 * value already is `concurrency 4 (unchanged)`; without the queue before the change, only the new values are
 * named.
 *
 * @param sent the settings that were sent, by their keys
 * @param after the queue in the response; empty where the service returns none
 */
export function describeUpdate(
  sent: Readonly<Record<string, Json | undefined>>,
  before: JsonObject | undefined,
  after: JsonObject,
): string {
  const keys = Object.keys(sent).filter(key => sent[key] !== undefined)
  const others =
    before === undefined
      ? []
      : Object.keys(after).filter(
          key =>
            key !== 'enqueuedPullRequests' &&
            !keys.includes(key) &&
            Object.hasOwn(before, key) &&
            !isSame(before[key], after[key]),
        )
  const texts = [...keys, ...others].map(key => {
    const [name, value] = [settingOption(key), formatValue(after[key] ?? sent[key])]
    if (before === undefined || !Object.hasOwn(before, key)) return `${name} ${value}`
    return isSame(before[key], after[key] ?? sent[key])
      ? `${name} ${value} (unchanged)`
      : `${name} ${formatValue(before[key])} -> ${value}`
  })
  return texts.join(', ') || 'no setting changed'
}

const verbs: Readonly<Record<string, string>> = {
  RUNNING: 'Resumed',
  PAUSED: 'Paused',
  DRAINING: 'Draining',
}

/**
 * Returns what a change of the state means for the pull requests of the queue:
 * `Paused main: 1 pull request finishes testing, 22 wait.`
 */
export function describeStateChange(state: string, targetBranch: string, before: JsonObject): string {
  const verb = verbs[state] ?? state
  if (normalizeState(getString(before, 'state') ?? '') === state)
    return `The queue for ${targetBranch} was already ${state}.`
  const entries = queueEntries(before)
  const testing = entries.filter(entry => isUnderTest(entry.state)).length
  const waiting = entries.length - testing
  const parts = [
    ...(testing === 0
      ? []
      : [
          state === 'RUNNING'
            ? `${pluralize(testing, 'pull request')} testing`
            : `${pluralize(testing, 'pull request')} ${testing === 1 ? 'finishes' : 'finish'} testing`,
        ]),
    ...(waiting === 0
      ? []
      : [
          `${testing === 0 ? pluralize(waiting, 'pull request') : waiting} ${waiting === 1 ? 'waits' : 'wait'}`,
        ]),
  ]
  return `${verb} ${targetBranch}: ${parts.length === 0 ? 'no pull requests are queued' : parts.join(', ')}.`
}
