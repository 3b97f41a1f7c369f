import type { Row } from '../contract/endpoint.ts'
import type { Finish, Walk } from '../contract/walk.ts'
import { asFailure, Failure } from '../failure.ts'
import { count, type JsonObject } from '../view/shapes.ts'
import type { Desk } from './desk.ts'
import { exchange } from './exchange.ts'
import type { Run } from './prepare.ts'

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
  let read = 0
  try {
    for (let ask = pages.ask(); ask !== undefined; ask = pages.ask()) {
      // Nobody reads any more: a closed pipe ends quietly.
      if (desk.world.out.gone === true) return 'gone'
      const progress = `${count(read, 'page')} so far`
      const { reply } = await exchange(row, run, { ...desk, progress }, ask)
      read++
      await take(pages.take(reply))
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
        `${failure.message} The list is incomplete.`,
        withoutExit(failure),
      )

/** Follows pages: prints records as they come where the format can stream, else one document at the end. */
export async function follow(row: Row, run: Run, pages: Walk, desk: Desk): Promise<number> {
  const { options, printer, voice, world } = desk
  const streams =
    /^(ndjson|csv|markdown)$/.test(options.format) || (options.format === 'table' && !world.out.terminal)
  const kept: JsonObject[] = []
  const print = (records: readonly JsonObject[], finish?: Finish) =>
    printer.print({
      records,
      document: found => finish?.document(found) ?? [...found],
      shape: found => row.view({ records: found, bytes: new Uint8Array() }, run.values),
    })
  const failure = await gather(row, run, pages, desk, async records => {
    if (streams) await print(records)
    else kept.push(...records)
  })
  if (failure === 'gone') return 0
  const finish = pages.finish(failure?.message)
  await print(streams ? finish.records : [...kept, ...finish.records], finish)
  await printer.end()
  for (const note of finish.notes) await voice.note(note)
  if (!finish.broken) return 0
  throw incomplete(row.command, failure)
}

const withoutExit = ({ details: { exit: _, ...details } }: Failure) => details
