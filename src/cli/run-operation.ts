import { callOperation } from '../api/call.ts'
import { type Operation, operationName } from '../api/operation.ts'
import { createReceipt, type ResourceRef, resourceOf } from '../api/receipt.ts'
import { concernsOf } from '../api/request.ts'
import { curlCommand, previewRequest } from '../api/request-preview.ts'
import { exitCodeOf, MergeqError, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { escapeInvisible, parseJson, stringifyJson } from '../json-text.ts'
import { receiptView } from '../output/printer.ts'
import type { View } from '../output/view.ts'
import { mapConcurrent, maxConcurrent, type RunResult, reportResults } from './concurrency.ts'
import type { CommandContext } from './context.ts'
import { buildRequest, confirm, type Invocation, readInvocations } from './invocation.ts'
import { streamPages } from './stream-pages.ts'

/**
 * The line: carries an operation from what was given to its exit code.
 *
 *     argv → row + given → settings → values → request → response → reply → view → text → exit code
 */
export async function runOperation(
  row: Operation,
  context: CommandContext,
  hooks: RunHooks = {},
): Promise<number> {
  const runs = await readInvocations(row, context)
  if (runs.length === 0) await context.logger.info(`${row.command}: nothing is left to do.`)
  if (context.options.dryRun) return printDryRun(row, runs, context)
  await confirm(row, runs, context)
  const [first] = runs
  const pages = first && row.pagination?.(first.values)
  if (first !== undefined && pages !== undefined) return streamPages(row, first, pages, context)
  return reportResults(row, runs, await executeAll(row, runs, context, hooks), context)
}

/** What a command that is built on an operation adds to each run of it. */
export interface RunHooks {
  /** Done right before a run is sent; what it throws is the run's failure. */
  before?(one: Invocation): Promise<void>
  /** Says more of a failure than the answer did. */
  explain?(failure: MergeqError): Promise<MergeqError>
}

/** Prints: what is left to do for a run once its turn has come. */
type PrintResult = () => Promise<RunResult>

/**
 * Does every run, several side by side, and prints in the order given. Failures are left to be told. One failure stops
 * the rest only if that was asked, a signal always: what is in flight then comes to its end, and no more is begun.
 */
export async function executeAll(
  row: Operation,
  runs: readonly Invocation[],
  context: CommandContext,
  hooks: RunHooks = {},
): Promise<readonly RunResult[]> {
  const stops = context.args.has('--stop-on-error')
  const width = stops || row.isOrdered === true ? 1 : maxConcurrent
  const { interrupted } = context.host
  const work = (one: Invocation) => execute(row, one, context, hooks, runs.length > 1)
  const endings: RunResult[] = []
  for await (const print of mapConcurrent(runs, width, work, () => !interrupted.aborted)) {
    const ending = await print()
    endings.push(ending)
    if (stops && ending.code !== 0) break
  }
  await context.printer.end()
  return endings
}

/** One run: sent and read now, printed when its turn comes. A change that was sent and failed has its receipt. */
async function execute(
  row: Operation,
  one: Invocation,
  context: CommandContext,
  { before, explain }: RunHooks,
  isAmongSeveral: boolean,
): Promise<PrintResult> {
  const { printer } = context
  try {
    await before?.(one)
    const { reply, values, concerns, delivery } = await callOperation(row, one, context, {}, !isAmongSeveral)
    return async () => {
      if (reply.isPassedOn === true) return { code: 0 }
      const { batches } = reply
      if (
        batches !== undefined &&
        (context.options.format !== 'table' || context.options.fields.length > 0)
      ) {
        const { interrupted } = context.host
        await printer.printAll(untilAborted(batches(), interrupted), records =>
          row.view({ records, bytes: reply.bytes }, values),
        )
        return { code: 0 }
      }
      const view = row.view(reply, values)
      const shape = isNamed(resourceOf(values), concerns) ? view : withoutNames(view, row)
      if (reply.document === undefined)
        await printer.print(receipt(createReceipt(row.route, concerns, delivery), shape.sentence ?? ''))
      else
        await printer.print({
          // Only rows are printed of what comes in batches: its records are not made.
          records: batches === undefined ? reply.records : [],
          document: records => reply.document?.(records) ?? null,
          ...(reply.rawBody === undefined ? {} : { rawBody: reply.rawBody }),
          shape: () => shape,
        })
      return { code: exitCodeOf(shape.exit ?? 'ok') }
    }
  } catch (error) {
    const met = toMergeqError(error)
    const explained = (await explain?.(met)) ?? met
    const isOwn = isAmongSeveral && explained.kind !== 'interrupted'
    const concerns = concernsOf(row, one.values, one)
    const failure = isOwn ? withPullRequest(explained, concerns) : explained
    return async () => {
      const { delivery } = failure.details
      if (delivery !== undefined)
        await printer.print(receipt(createReceipt(row.route, concerns, delivery, failure), ''))
      return { code: failure.exit, failure }
    }
  }
}

/** Whether the body that was sent names everything that its values name: `--set` may have replaced it. */
const isNamed = ({ repo, targetBranch, pr, targets }: ResourceRef, concerns: ResourceRef): boolean =>
  (repo === undefined || concerns.repo !== undefined) &&
  (targetBranch === undefined || concerns.targetBranch !== undefined) &&
  (pr === undefined || concerns.pr !== undefined) &&
  targets === concerns.targets

/** What a person reads where the values do not say what the request was about. */
const withoutNames = ({ heading, sentence, ...shape }: View, { route }: Operation): View => ({
  ...shape,
  ...(sentence === undefined ? {} : { sentence: `${operationName(route)} was accepted.` }),
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
  shape: () => receiptView(record, sentence),
})

/** Among several, a failure of one's own names its pull request, where its sentence does not already. */
function withPullRequest(failure: MergeqError, { pr }: ResourceRef): MergeqError {
  if (pr === undefined || failure.message.includes(`#${pr}`)) return failure
  const { kind, exit, message, details } = failure
  return new MergeqError(kind, message.replace(/\.?$/, ` (#${pr}).`), { ...details, exit })
}

/** Prints the requests instead of sending them (CLI.md section 2): asks nothing, needs no token. */
export async function printDryRun(
  row: Operation,
  runs: readonly Invocation[],
  context: CommandContext,
): Promise<number> {
  const { out } = context.host
  for (const one of runs) {
    const { request } = await buildRequest(row, one, context, row.pagination?.(one.values).nextQuery())
    const { body, ...shown } = previewRequest(request)
    const document = { ...shown, ...(body === undefined ? {} : { body: parseJson(body) ?? null }) }
    await out.write(`${stringifyJson(document, out.terminal)}\n`)
    // Escaped in the body, what a terminal does not get is sent all the same when the line is copied.
    const shownBody = body === undefined ? {} : { body: escapeInvisible(body) }
    if (out.terminal) await out.write(`${curlCommand({ ...shown, ...shownBody })}\n`)
  }
  return 0
}
