import type { Row } from './contract/endpoint.ts'
import { aboutOf, receiptOf } from './contract/receipt.ts'
import { asFailure, exitOf, type Failure, worst } from './failure.ts'
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
  const codes = await sideBySide(runs, row.inOrder === true ? 1 : atOnce, one =>
    carry(row, one, desk, explain),
  )
  await desk.printer.end()
  return worst(codes)
}

/** Says more of a failure than the answer did. */
export type Explain = (failure: Failure) => Promise<Failure>
const asItIs: Explain = async failure => failure

/** Prints: what is left to do for a run once its turn has come. */
type Print = () => Promise<number>

/** One run: sent and read now, printed when its turn comes. A change that was sent and failed has its receipt. */
async function carry(row: Row, one: Run, desk: Desk, explain: Explain): Promise<Print> {
  const { printer, voice } = desk
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
      return exitOf(shape.exit ?? 'ok')
    }
  } catch (error) {
    const failure = await explain(asFailure(error))
    return async () => {
      const { delivery } = failure.details
      if (delivery !== undefined)
        await printer.print(receipt(receiptOf(row.route, aboutOf(one.values), delivery, failure), ''))
      await voice.fail(failure)
      return failure.exit
    }
  }
}

const receipt = (record: JsonObject, sentence: string) => ({
  records: [record],
  document: ([one = {}]: readonly JsonObject[]) => one,
  shape: () => receiptShape(record, sentence),
})

const atOnce = 4

/** Does the work for so many at once and prints in the order given; one failure does not stop the rest. */
async function sideBySide<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<Print>,
): Promise<readonly number[]> {
  const started: Promise<Print>[] = []
  const codes: number[] = []
  for (const index of items.keys()) {
    for (const item of items.slice(started.length, index + width)) started.push(work(item))
    const print = await started[index]
    if (print !== undefined) codes.push(await print())
  }
  return codes
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
