import { callOperation } from '../api/call.ts'
import type { Operation } from '../api/operation.ts'
import type { PaginationEnd, Paginator } from '../api/pagination.ts'
import { isContinuousIntegration } from '../config/continuous-integration.ts'
import { pluralize } from '../domain/format.ts'
import { MergeqError, toMergeqError, withPeriod } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { CommandContext } from './context.ts'
import type { Invocation } from './invocation.ts'
import { openResumeFile } from './resume-file.ts'

/** In CI a long walk says so often, in milliseconds, how far it has come. */
const progressInterval = 60_000

/**
 * Asks for page after page and hands on the records of each, until the walk ends or nobody reads any more (`gone`).
 * Returns the failure that ended it early once a part had been read; any other is thrown.
 */
export async function collectPages(
  row: Operation,
  run: Invocation,
  pages: Paginator,
  context: CommandContext,
  take: (records: readonly JsonObject[]) => Promise<void> | void,
): Promise<MergeqError | 'gone' | undefined> {
  const { logger, host } = context
  const inCi = isContinuousIntegration(host.env)
  let [read, tests, told] = [0, 0, host.clock.now()]
  try {
    for (let ask = pages.nextQuery(); ask !== undefined; ask = pages.nextQuery()) {
      const progress = `${pluralize(read, 'page')} and ${pluralize(tests, 'test')} so far`
      if (inCi && host.clock.now() - told >= progressInterval) {
        told = host.clock.now()
        await logger.info(`${row.command}: ${progress}.`)
      }
      const answer = await callOperation(row, run, { ...context, progress }, ask).catch(error => {
        if (!pages.recover(toMergeqError(error))) throw error
      })
      if (answer === undefined) continue
      const records = pages.take(answer.reply)
      read++
      tests += records.length
      await take(records)
      // Nobody reads any more: a closed pipe ends quietly.
      if (host.out.gone === true) return 'gone'
    }
  } catch (error) {
    const failure = toMergeqError(error)
    if (!pages.hasStarted() || failure.kind === 'interrupted' || failure.kind === 'output') throw failure
    return failure
  }
  return undefined
}

/** What a command ends with when its list could not be read wholly: `auth` if the token is why (CLI.md section 6). */
export const incompleteError = (command: string, failure: MergeqError | undefined): MergeqError =>
  failure === undefined
    ? new MergeqError('incomplete', `${command}: the list is incomplete.`)
    : new MergeqError(
        failure.kind === 'auth' ? 'auth' : 'incomplete',
        `${withPeriod(failure.message)} The list is incomplete.`,
        withoutExit(failure),
      )

const withoutExit = ({ details: { exit: _, ...details } }: MergeqError) => details

/** Where the records of a walk go while it is under way, and what is printed at its end. */
interface PageOutput {
  take(records: readonly JsonObject[]): Promise<void> | void
  end(finish: PaginationEnd): Promise<void>
  /** Whether something that was begun must be ended, however the walk ends. */
  isOpen(): boolean
}

/** Prints records as they come where no order was asked for; a drawn table waits for the rows that decide its widths. */
function createPageOutput(row: Operation, run: Invocation, { options, printer }: CommandContext): PageOutput {
  if (options.format === 'json') {
    const listing = printer.list('tests')
    let isOpen = false
    return {
      async take(records) {
        isOpen = true
        await listing.add(records)
      },
      async end({ records, envelope }) {
        isOpen = false
        await listing.add(records)
        await listing.end(envelope)
      },
      isOpen: () => isOpen,
    }
  }
  const print = (records: readonly JsonObject[]) =>
    printer.print({
      records,
      document: () => null,
      shape: found => row.view({ records: found, bytes: new Uint8Array() }, run.values),
    })
  return {
    take: print,
    async end({ records }) {
      await print(records)
      await printer.end()
    },
    isOpen: () => false,
  }
}

/** Follows pages, and prints what they hold. */
export async function streamPages(
  row: Operation,
  run: Invocation,
  pages: Paginator,
  context: CommandContext,
): Promise<number> {
  const { logger, host } = context
  const resume = await openResumeFile(row, run, pages, context)
  const outlet = createPageOutput(row, run, context)
  const failure = await collectPages(row, run, pages, context, async records => {
    await resume?.begin()
    await outlet.take(records)
    // What a reader that has gone did not take was not printed.
    if (host.out.gone !== true) await resume?.save()
  }).catch(async error => {
    await resume?.close()
    const { kind, message } = toMergeqError(error)
    if (outlet.isOpen() && kind !== 'output') await outlet.end(pages.finish(message))
    throw error
  })
  if (failure === 'gone') return 0
  await resume?.close()
  const finish = pages.finish(failure?.message)
  await outlet.end(finish)
  for (const note of finish.notes) await logger.info(note)
  if (!finish.isBroken) return 0
  if (resume !== undefined) await logger.info(resume.resumeHint)
  throw incompleteError(row.command, failure)
}
