import { operationOf, type Row } from '../api/operation.ts'
import { type About, aboutOf, receiptOf } from '../api/receipt.ts'
import { asFailure, exitOf, Failure } from '../errors.ts'
import { concernsOf } from '../api/request.ts'
import { curlLine, show } from '../api/request-preview.ts'
import type { Desk } from './context.ts'
import { exchange } from '../api/call.ts'
import { atOnce, type Ending, sideBySide, tellEndings } from './concurrency.ts'
import { confirm, type Run, readRuns, requestOf } from './invocation.ts'
import { follow } from './stream-pages.ts'
import { decode, encode, withoutUnseen } from '../output/json-text.ts'
import { receiptShape } from '../output/printer.ts'
import type { JsonObject } from '../json.ts'
import type { Shape } from '../output/view.ts'

/**
 * The line: carries an operation from what was given to its exit code.
 *
 *     argv → row + given → settings → values → request → response → reply → view → text → exit code
 */
export async function run(row: Row, desk: Desk, hooks: Hooks = {}): Promise<number> {
  const runs = await readRuns(row, desk)
  if (runs.length === 0) await desk.voice.note(`${row.command}: nothing is left to do.`)
  if (desk.options.dryRun) return rehearse(row, runs, desk)
  await confirm(row, runs, desk)
  const [first] = runs
  const pages = first && row.pages?.(first.values)
  if (first !== undefined && pages !== undefined) return follow(row, first, pages, desk)
  return tellEndings(row, runs, await carryOut(row, runs, desk, hooks), desk)
}

/** What a command that is built on an operation adds to each run of it. */
export interface Hooks {
  /** Done right before a run is sent; what it throws is the run's failure. */
  before?(one: Run): Promise<void>
  /** Says more of a failure than the answer did. */
  explain?(failure: Failure): Promise<Failure>
}

/** Prints: what is left to do for a run once its turn has come. */
type Print = () => Promise<Ending>

/**
 * Does every run, several side by side, and prints in the order given. Failures are left to be told. One failure stops
 * the rest only if that was asked, a signal always: what is in flight then comes to its end, and no more is begun.
 */
export async function carryOut(
  row: Row,
  runs: readonly Run[],
  desk: Desk,
  hooks: Hooks = {},
): Promise<readonly Ending[]> {
  const stops = desk.given.has('--stop-on-error')
  const width = stops || row.inOrder === true ? 1 : atOnce
  const { interrupted } = desk.world
  const work = (one: Run) => carry(row, one, desk, hooks, runs.length > 1)
  const endings: Ending[] = []
  for await (const print of sideBySide(runs, width, work, () => !interrupted.aborted)) {
    const ending = await print()
    endings.push(ending)
    if (stops && ending.code !== 0) break
  }
  await desk.printer.end()
  return endings
}

/** One run: sent and read now, printed when its turn comes. A change that was sent and failed has its receipt. */
async function carry(
  row: Row,
  one: Run,
  desk: Desk,
  { before, explain }: Hooks,
  isAmongSeveral: boolean,
): Promise<Print> {
  const { printer } = desk
  try {
    await before?.(one)
    const { reply, values, concerns, delivery } = await exchange(row, one, desk, {}, !isAmongSeveral)
    return async () => {
      if (reply.isPassedOn === true) return { code: 0 }
      const { batches } = reply
      if (batches !== undefined && (desk.options.format !== 'table' || desk.options.fields.length > 0)) {
        const { interrupted } = desk.world
        await printer.printAll(untilAborted(batches(), interrupted), records =>
          row.view({ records, bytes: reply.bytes }, values),
        )
        return { code: 0 }
      }
      const view = row.view(reply, values)
      const shape = isNamed(aboutOf(values), concerns) ? view : withoutNames(view, row)
      if (reply.document === undefined)
        await printer.print(receipt(receiptOf(row.route, concerns, delivery), shape.sentence ?? ''))
      else
        await printer.print({
          // Only rows are printed of what comes in batches: its records are not made.
          records: batches === undefined ? reply.records : [],
          document: records => reply.document?.(records) ?? null,
          ...(reply.verbatim === undefined ? {} : { verbatim: reply.verbatim }),
          shape: () => shape,
        })
      return { code: exitOf(shape.exit ?? 'ok') }
    }
  } catch (error) {
    const met = asFailure(error)
    const explained = (await explain?.(met)) ?? met
    const isOwn = isAmongSeveral && explained.kind !== 'interrupted'
    const concerns = concernsOf(row, one.values, one)
    const failure = isOwn ? named(explained, concerns) : explained
    return async () => {
      const { delivery } = failure.details
      if (delivery !== undefined)
        await printer.print(receipt(receiptOf(row.route, concerns, delivery, failure), ''))
      return { code: failure.exit, failure }
    }
  }
}

/** Whether the body that was sent names everything that its values name: `--set` may have replaced it. */
const isNamed = ({ repo, targetBranch, pr, targets }: About, concerns: About): boolean =>
  (repo === undefined || concerns.repo !== undefined) &&
  (targetBranch === undefined || concerns.targetBranch !== undefined) &&
  (pr === undefined || concerns.pr !== undefined) &&
  targets === concerns.targets

/** What a person reads where the values do not say what the request was about. */
const withoutNames = ({ heading, sentence, ...shape }: Shape, { route }: Row): Shape => ({
  ...shape,
  ...(sentence === undefined ? {} : { sentence: `${operationOf(route)} was accepted.` }),
})

/** What is left of a list when a signal comes is not made any more. */
function* untilAborted<T>(list: Iterable<T>, interrupted: AbortSignal): Generator<T> {
  for (const one of list) {
    interrupted.throwIfAborted()
    yield one
  }
}

const receipt = (record: JsonObject, sentence: string) => ({
  records: [record],
  document: ([one = {}]: readonly JsonObject[]) => one,
  shape: () => receiptShape(record, sentence),
})

/** Among several, a failure of one's own names its pull request, where its sentence does not already. */
function named(failure: Failure, { pr }: About): Failure {
  if (pr === undefined || failure.message.includes(`#${pr}`)) return failure
  const { kind, exit, message, details } = failure
  return new Failure(kind, message.replace(/\.?$/, ` (#${pr}).`), { ...details, exit })
}

/** Prints the requests instead of sending them (CLI.md section 2): asks nothing, needs no token. */
export async function rehearse(row: Row, runs: readonly Run[], desk: Desk): Promise<number> {
  const { out } = desk.world
  for (const one of runs) {
    const { request } = await requestOf(row, one, desk, row.pages?.(one.values).ask())
    const { body, ...shown } = show(request)
    const document = { ...shown, ...(body === undefined ? {} : { body: decode(body) ?? null }) }
    await out.write(`${encode(document, out.terminal)}\n`)
    // Escaped in the body, what a terminal does not get is sent all the same when the line is copied.
    const shownBody = body === undefined ? {} : { body: withoutUnseen(body) }
    if (out.terminal) await out.write(`${curlLine({ ...shown, ...shownBody })}\n`)
  }
  return 0
}
