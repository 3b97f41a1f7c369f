import { endpoint, type Row } from '../../../api/operation.ts'
import type { Field, Wire } from '../../../cli/inputs.ts'
import { onQueue } from '../../../api/operations/pull-requests.ts'
import {
  bodyFor,
  bodyForNew,
  type Difference,
  differences,
  digestOf,
  type Live,
} from '../../../domain/queue-file.ts'
import { create, update } from '../../../api/operations/queues.ts'
import { type Delivery, receiptOf } from '../../../api/receipt.ts'
import { nameOf } from '../../../domain/values/parsers.ts'
import { asFailure, ended, Failure } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import { exchange } from '../../../api/call.ts'
import { type JsonObject } from '../../../json.ts'
import { line, listed } from '../../../output/view.ts'
import { encoded } from '../../api.ts'
import { isDifferent, type Plan, placeName, readLive, shown } from './plan.ts'

/** The settings of a file, on their way to the service. */
const settings: Field<Record<string, Wire>> = { words: [], at: 'body', read: () => ({}) }

const changeOf = (row: typeof create | typeof update) =>
  endpoint({
    command: 'queue apply',
    route: row.route,
    summary: row.summary,
    changes: row.changes,
    fields: { ...onQueue, settings },
    reply: row.reply,
    view: () => line(''),
    examples: [],
  })

export const [creation, change] = [changeOf(create), changeOf(update)]

/** How often a change is looked for that does not show at once, and after how many milliseconds (WIRE.md section 2). */
const pauses = [0, 2_000, 4_000]

/** What came of one queue. */
export interface Done {
  readonly record: JsonObject
  readonly failure?: Failure
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
async function readBack({ run, path, code }: Plan, withState: boolean, desk: Desk) {
  let [live, left]: [Live | undefined, readonly Difference[]] = [undefined, []]
  for (const pause of desk.options.retries === 0 ? [0] : pauses) {
    if (pause > 0) await desk.world.clock.sleep(pause, desk.world.interrupted)
    live = await readLive(run, withState, desk).catch(error => {
      const { kind, message, details } = asFailure(error)
      if (kind === 'interrupted') throw error
      throw new Failure(
        'unknown-outcome',
        `${ended(message)} The change of ${placeName(run)} was accepted; whether it shows could not be read.`,
        { ...details, delivery: 'unknown', hint: `This tells how it stands: mergeq queue diff -f ${path}` },
      )
    })
    left = differences(live?.settings ?? {}, code.settings)
    if (live !== undefined && left.length === 0) break
  }
  return { live, left }
}

/** Makes a queue as its file says: created if there is none, then one update with what differs, then read back. */
export async function applyOne(plan: Plan, withState: boolean, desk: Desk): Promise<Done> {
  const { run, path, code } = plan
  const { repo, targetBranch } = run.values
  const place = { file: path, repo: nameOf(repo), targetBranch }
  if (!isDifferent(plan)) return { record: { ...place, ok: true, outcome: 'unchanged', digest: plan.digest } }
  let last: Row = change
  let delivery: Delivery = 'confirmed'
  let outcome = 'failed'
  let changed: readonly string[] = []
  const send = async (row: typeof change, body: JsonObject) => {
    last = row
    const came = await exchange(row, { values: { ...run.values, settings: encoded(body) }, sets: [] }, desk)
    if (came.delivery !== 'confirmed') delivery = came.delivery
    if (outcome === 'failed') outcome = row === creation ? 'created' : 'updated'
  }
  const receipt = (failure?: Failure): JsonObject => ({
    ...place,
    ...receiptOf(last.route, run.values, failure?.details.delivery ?? delivery, failure),
    outcome,
    changed,
  })
  try {
    let { differences: changes } = plan
    if (plan.live === undefined) {
      await send(creation, bodyForNew(code.settings))
      changes = differences((await readLive(run, withState, desk))?.settings ?? {}, code.settings)
    }
    if (changes.length > 0) await send(change, bodyFor(changes, code.settings))
    changed = plan.differences.map(({ setting }) => setting)
    const { live, left } = await readBack(plan, withState, desk)
    const digest = await digestOf(live?.settings ?? null)
    if (live !== undefined && left.length === 0) return { record: { ...receipt(), digest } }
    const what =
      live === undefined
        ? 'the queue is not there'
        : listed(
            left.map(({ setting, live: is, file }) => `${setting} is ${shown(is)} and not ${shown(file)}`),
          )
    const failure = new Failure(
      'differs',
      `the service accepted the change of ${placeName(run)}, and reading back does not show all of it: ${what}.`,
      { hint: hintFor(left, path) },
    )
    return {
      record: { ...receipt(failure), notApplied: left.map(({ setting }) => setting), digest },
      failure,
    }
  } catch (error) {
    const failure = asFailure(error)
    const isSent = outcome !== 'failed' || failure.details.delivery !== undefined
    return { record: isSent ? receipt(failure) : {}, failure }
  }
}
