import type { Row } from '../api/operation.ts'
import type { Finish, Walk } from '../api/pagination.ts'
import { asFailure, ended, Failure } from '../errors.ts'
import { isCiJob } from '../config/continuous-integration.ts'
import { type JsonObject } from '../json.ts'
import { count } from '../output/view.ts'
import type { Desk } from './context.ts'
import { exchange } from '../api/call.ts'
import type { Run } from './invocation.ts'
import { openResume } from './resume-file.ts'

/** In CI a long walk says so often, in milliseconds, how far it has come. */
const often = 60_000

/**
 * Asks for page after page and hands on the records of each, until the walk ends or nobody reads any more (`gone`).
 * Returns the failure that ended it early once a part had been read; any other is thrown.
 */
export async function gather(
  row: Row,
  run: Run,
  pages: Walk,
  desk: Desk,
  take: (records: readonly JsonObject[]) => Promise<void> | void,
): Promise<Failure | 'gone' | undefined> {
  const { voice, world } = desk
  const inCi = isCiJob(world.env)
  let [read, tests, told] = [0, 0, world.clock.now()]
  try {
    for (let ask = pages.ask(); ask !== undefined; ask = pages.ask()) {
      const progress = `${count(read, 'page')} and ${count(tests, 'test')} so far`
      if (inCi && world.clock.now() - told >= often) {
        told = world.clock.now()
        await voice.note(`${row.command}: ${progress}.`)
      }
      const answer = await exchange(row, run, { ...desk, progress }, ask).catch(error => {
        if (!pages.survives(asFailure(error))) throw error
      })
      if (answer === undefined) continue
      const records = pages.take(answer.reply)
      read++
      tests += records.length
      await take(records)
      // Nobody reads any more: a closed pipe ends quietly.
      if (world.out.gone === true) return 'gone'
    }
  } catch (error) {
    const failure = asFailure(error)
    if (!pages.begun() || failure.kind === 'interrupted' || failure.kind === 'output') throw failure
    return failure
  }
  return undefined
}

/** What a command ends with when its list could not be read wholly: `auth` if the token is why (CLI.md section 6). */
export const incomplete = (command: string, failure: Failure | undefined): Failure =>
  failure === undefined
    ? new Failure('incomplete', `${command}: the list is incomplete.`)
    : new Failure(
        failure.kind === 'auth' ? 'auth' : 'incomplete',
        `${ended(failure.message)} The list is incomplete.`,
        withoutExit(failure),
      )

const withoutExit = ({ details: { exit: _, ...details } }: Failure) => details

/** Where the records of a walk go while it is under way, and what is printed at its end. */
interface Outlet {
  take(records: readonly JsonObject[]): Promise<void> | void
  end(finish: Finish): Promise<void>
  /** Whether something that was begun must be ended, however the walk ends. */
  isOpen(): boolean
}

/** Prints records as they come where no order was asked for; a drawn table waits for the rows that decide its widths. */
function outletOf(row: Row, run: Run, { options, printer }: Desk): Outlet {
  if (options.format === 'json') {
    const listing = printer.list('tests')
    let isOpen = false
    return {
      async take(records) {
        isOpen = true
        await listing.add(records)
      },
      async end({ records, around }) {
        isOpen = false
        await listing.add(records)
        await listing.end(around)
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
export async function follow(row: Row, run: Run, pages: Walk, desk: Desk): Promise<number> {
  const { voice, world } = desk
  const resume = await openResume(row, run, pages, desk)
  const outlet = outletOf(row, run, desk)
  const failure = await gather(row, run, pages, desk, async records => {
    await resume?.begin()
    await outlet.take(records)
    // What a reader that has gone did not take was not printed.
    if (world.out.gone !== true) await resume?.save()
  }).catch(async error => {
    await resume?.close()
    const { kind, message } = asFailure(error)
    if (outlet.isOpen() && kind !== 'output') await outlet.end(pages.finish(message))
    throw error
  })
  if (failure === 'gone') return 0
  await resume?.close()
  const finish = pages.finish(failure?.message)
  await outlet.end(finish)
  for (const note of finish.notes) await voice.note(note)
  if (!finish.broken) return 0
  if (resume !== undefined) await voice.note(resume.howToGoOn)
  throw incomplete(row.command, failure)
}
