import { callOperation } from '../../../api/call.ts'
import { createQueue, updateQueue } from '../../../api/operations/queues.ts'
import { createReceipt, type Delivery } from '../../../api/receipt.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { joinList } from '../../../domain/format.ts'
import {
  createBody,
  type Difference,
  differences,
  type LiveSettings,
  settingsDigest,
  updateBody,
} from '../../../domain/queue-file.ts'
import { repositoryName } from '../../../domain/values/parsers.ts'
import { MergeqError, toMergeqError, withPeriod } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { encodeValues } from '../../api.ts'
import { formatValue, isDifferent, type Plan, queueName, readLive } from './plan.ts'

/** How often a change is looked for that does not show at once, and after how many milliseconds (WIRE.md section 2). */
const pauses = [0, 2_000, 4_000]

/** What came of one queue. */
export interface ApplyResult {
  readonly record: JsonObject
  readonly failure?: MergeqError
}

/** Why what was accepted does not show, as far as that can be told. */
function hintFor(left: readonly Difference[], path: string): string {
  const names = left.map(({ setting }) => setting)
  if (names.includes('requiredStatuses') && left.some(({ file }) => Array.isArray(file) && file.length === 0))
    return 'The service ignores an empty list; `requiredStatuses: null` drops the override.'
  const why = names.includes('mode')
    ? 'Another mode shows once what is being tested is done.'
    : 'Somebody else changed it meanwhile, or the service does not take it.'
  return `${why} This tells how it stands: mergeq queue diff -f ${path}`
}

/** Reads back until everything shows, at most three times; returns what does not, and the settings that were read. */
async function readBack({ run, path, code }: Plan, withState: boolean, context: CommandContext) {
  let [live, left]: [LiveSettings | undefined, readonly Difference[]] = [undefined, []]
  for (const pause of context.options.retries === 0 ? [0] : pauses) {
    if (pause > 0) await context.host.clock.sleep(pause, context.host.interrupted)
    live = await readLive(run, withState, context).catch(error => {
      const { kind, message, details } = toMergeqError(error)
      if (kind === 'interrupted') throw error
      throw new MergeqError(
        'unknown-outcome',
        `${withPeriod(message)} The change of ${queueName(run)} was accepted; whether it shows could not be read.`,
        { ...details, delivery: 'unknown', hint: `This tells how it stands: mergeq queue diff -f ${path}` },
      )
    })
    left = differences(live?.settings ?? {}, code.settings)
    if (live !== undefined && left.length === 0) break
  }
  return { live, left }
}

/** Makes a queue as its file says: created if there is none, then one update with what differs, then read back. */
export async function applyPlan(
  plan: Plan,
  withState: boolean,
  context: CommandContext,
): Promise<ApplyResult> {
  const { run, path, code } = plan
  const { repo, targetBranch } = run.values
  const place = { file: path, repo: repositoryName(repo), targetBranch }
  if (!isDifferent(plan)) return { record: { ...place, ok: true, outcome: 'unchanged', digest: plan.digest } }
  let last: typeof createQueue | typeof updateQueue = updateQueue
  let delivery: Delivery = 'confirmed'
  let outcome = 'failed'
  let changed: readonly string[] = []
  const send = async (operation: typeof last, settings: JsonObject) => {
    last = operation
    const overrides = Object.entries(encodeValues(settings)).map(([key, value]) => ({ path: [key], value }))
    const sent =
      operation === createQueue
        ? await callOperation(context, createQueue, run.values, { overrides })
        : await callOperation(context, updateQueue, run.values, { overrides })
    if (sent.delivery !== 'confirmed') delivery = sent.delivery
    if (outcome === 'failed') outcome = operation === createQueue ? 'created' : 'updated'
  }
  const receipt = (failure?: MergeqError): JsonObject => ({
    ...place,
    ...createReceipt(last.route, run.values, failure?.details.delivery ?? delivery, failure),
    outcome,
    changed,
  })
  try {
    let { differences: changes } = plan
    if (plan.live === undefined) {
      await send(createQueue, createBody(code.settings))
      changes = differences((await readLive(run, withState, context))?.settings ?? {}, code.settings)
    }
    if (changes.length > 0) await send(updateQueue, updateBody(changes, code.settings))
    changed = plan.differences.map(({ setting }) => setting)
    const { live, left } = await readBack(plan, withState, context)
    const digest = await settingsDigest(live?.settings ?? null)
    if (live !== undefined && left.length === 0) return { record: { ...receipt(), digest } }
    const what =
      live === undefined
        ? 'the queue is not there'
        : joinList(
            left.map(
              ({ setting, live: is, file }) =>
                `${setting} is ${formatValue(is)} and not ${formatValue(file)}`,
            ),
          )
    const failure = new MergeqError(
      'differs',
      `the service accepted the change of ${queueName(run)}, and reading back does not show all of it: ${what}.`,
      { hint: hintFor(left, path) },
    )
    return {
      record: { ...receipt(failure), notApplied: left.map(({ setting }) => setting), digest },
      failure,
    }
  } catch (error) {
    const failure = toMergeqError(error)
    const isSent = outcome !== 'failed' || failure.details.delivery !== undefined
    return { record: isSent ? receipt(failure) : {}, failure }
  }
}
