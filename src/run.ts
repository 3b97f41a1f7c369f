import type { Row } from './contract/endpoint.ts'
import { type About, aboutOf, receiptOf } from './contract/receipt.ts'
import { asFailure, exitOf, Failure, worst } from './failure.ts'
import { curlLine, show } from './request/show.ts'
import type { Desk } from './run/desk.ts'
import { exchange } from './run/exchange.ts'
import { confirm, type Run, readRuns, requestOf } from './run/prepare.ts'
import { follow } from './run/walk.ts'
import { decode, encode } from './view/json.ts'
import { receiptShape } from './view/printer.ts'
import type { JsonObject } from './view/shapes.ts'

/**
 * The line: carries an operation from what was given to its exit code.
 *
 *     argv → row + given → settings → values → request → response → reply → view → text → exit code
 */
export async function run(row: Row, desk: Desk, explain: Explain = asItIs): Promise<number> {
  const runs = await readRuns(row, desk)
  if (desk.options.dryRun) return rehearse(row, runs, desk)
  await confirm(row, runs, desk)
  const [first] = runs
  const pages = first && row.pages?.(first.values)
  if (first !== undefined && pages !== undefined) return follow(row, first, pages, desk)
  const endings = await sideBySide(runs, row.inOrder === true ? 1 : atOnce, desk, one =>
    carry(row, one, desk, runs.length > 1 ? namedBy(explain, one) : explain),
  )
  await desk.printer.end()
  await tellFailures(endings, desk)
  return worst(endings.map(({ code }) => code))
}

/** Says more of a failure than the answer did. */
export type Explain = (failure: Failure) => Promise<Failure>
const asItIs: Explain = async failure => failure

/** How one of several runs ended. */
interface Ending {
  readonly code: number
  readonly failure?: Failure
}

/** Prints: what is left to do for a run once its turn has come. */
type Print = () => Promise<Ending>

/** Tells every failure, the worst last (CLI.md section 4.5). */
async function tellFailures(endings: readonly Ending[], { voice }: Desk): Promise<void> {
  const last = worst(endings.map(({ code }) => code))
  const failures = endings.flatMap(({ failure }) => (failure === undefined ? [] : [failure]))
  for (const failure of failures) if (failure.exit !== last) await voice.fail(failure)
  for (const failure of failures) if (failure.exit === last) await voice.fail(failure)
}

/** One run: sent and read now, printed when its turn comes. A change that was sent and failed has its receipt. */
async function carry(row: Row, one: Run, desk: Desk, explain: Explain): Promise<Print> {
  const { printer } = desk
  try {
    const { reply, values, delivery } = await exchange(row, one, desk)
    return async () => {
      const shape = row.view(reply, values)
      if (reply.document === undefined)
        await printer.print(receipt(receiptOf(row.route, aboutOf(values), delivery), shape.sentence ?? ''))
      else
        await printer.print({
          records: reply.records,
          document: records => reply.document?.(records) ?? null,
          ...(reply.verbatim === undefined ? {} : { verbatim: reply.verbatim }),
          shape: () => shape,
        })
      return { code: exitOf(shape.exit ?? 'ok') }
    }
  } catch (error) {
    const failure = await explain(asFailure(error))
    return async () => {
      const { delivery } = failure.details
      if (delivery !== undefined)
        await printer.print(receipt(receiptOf(row.route, aboutOf(one.values), delivery, failure), ''))
      return { code: failure.exit, failure }
    }
  }
}

const receipt = (record: JsonObject, sentence: string) => ({
  records: [record],
  document: ([one = {}]: readonly JsonObject[]) => one,
  shape: () => receiptShape(record, sentence),
})

const atOnce = 4

/** Among several, a failure names its pull request, where its sentence does not already. */
const namedBy =
  (explain: Explain, { values }: Run): Explain =>
  async failure =>
    named(await explain(failure), aboutOf(values))

function named(failure: Failure, { pr }: About): Failure {
  if (pr === undefined || failure.message.includes(`#${pr}`)) return failure
  const { kind, exit, message, details } = failure
  return new Failure(kind, message.replace(/\.?$/, ` (#${pr}).`), { ...details, exit })
}

/** Does the work for so many at once and prints in the order given; one failure stops the rest only if that was asked. */
async function sideBySide<T>(
  items: readonly T[],
  width: number,
  { given, world }: Desk,
  work: (item: T) => Promise<Print>,
): Promise<readonly Ending[]> {
  const stops = given.has('--stop-on-error')
  const started: Promise<Print>[] = []
  const endings: Ending[] = []
  for (const index of items.keys()) {
    for (const item of items.slice(started.length, index + (stops ? 1 : width))) started.push(work(item))
    const print = await started[index]
    if (print !== undefined) endings.push(await print())
    if (stops && endings.at(-1)?.code !== 0) break
    if (world.interrupted.aborted) break
  }
  return endings
}

/** Prints the requests instead of sending them (CLI.md section 2): asks nothing, needs no token. */
export async function rehearse(row: Row, runs: readonly Run[], desk: Desk): Promise<number> {
  const { out } = desk.world
  for (const one of runs) {
    const { request } = await requestOf(row, one, desk, row.pages?.(one.values).ask())
    const { body, ...shown } = show(request)
    const document = { ...shown, ...(body === undefined ? {} : { body: decode(body) ?? null }) }
    await out.write(`${encode(document, out.terminal)}\n`)
    if (out.terminal) await out.write(`${curlLine(show(request))}\n`)
  }
  return 0
}
