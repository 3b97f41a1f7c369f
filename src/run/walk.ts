import type { Row } from '../contract/endpoint.ts'
import type { Finish, Walk } from '../contract/walk.ts'
import { asFailure, Failure } from '../failure.ts'
import { count, type JsonObject } from '../view/shapes.ts'
import type { Desk } from './desk.ts'
import { exchange } from './exchange.ts'
import type { Run } from './prepare.ts'

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
  let failure: Failure | undefined
  let read = 0
  try {
    for (let ask = pages.ask(); ask !== undefined; ask = pages.ask()) {
      // Nobody reads any more: a closed pipe ends quietly.
      if (world.out.gone === true) return 0
      const progress = `${count(read, 'page')} so far`
      const { reply } = await exchange(row, run, { ...desk, progress }, ask)
      read++
      const records = pages.take(reply)
      if (streams) await print(records)
      else kept.push(...records)
    }
  } catch (error) {
    failure = asFailure(error)
    if (!pages.begun() || failure.kind === 'interrupted' || failure.kind === 'output') throw failure
  }
  const finish = pages.finish(failure?.message)
  await print(streams ? finish.records : [...kept, ...finish.records], finish)
  await printer.end()
  for (const note of finish.notes) await voice.note(note)
  if (!finish.broken) return 0
  throw new Failure(
    failure?.kind === 'auth' ? 'auth' : 'incomplete',
    failure === undefined
      ? `${row.command}: the list is incomplete.`
      : `${failure.message} The list is incomplete.`,
    failure === undefined ? {} : withoutExit(failure),
  )
}

const withoutExit = ({ details: { exit: _, ...details } }: Failure) => details
