import { formatInteger, pluralize } from '../domain/format.ts'
import { createPageCursor, type PagePosition, type PageRequest } from '../domain/page-cursor.ts'
import type { TimeRange } from '../domain/time-range.ts'
import { MergeqError, withPeriod } from '../errors.ts'
import { getString, type Json, type JsonObject } from '../json.ts'
import type { DecodedResponse } from './decode.ts'

/** What is left to print when a list has ended. */
export interface PaginationEnd {
  /** Records that were collected for sorting. */
  readonly records: readonly JsonObject[]
  readonly complete: boolean
  /** Whether the list ended early for another reason than an option. */
  readonly isBroken: boolean
  readonly notes: readonly string[]
  /** Why the list ended early, without a full stop; undefined where an error or an option ended it. */
  readonly problem: string | undefined
  /** The members beside the records in the one document for all pages. */
  readonly envelope: JsonObject
}

/**
 * Returns the error of a list that could not be read completely: `auth` if the token is the reason
 * (docs/reference/cli.md, "Lists of failing tests"). `failure` is the error that ended the list, if there was
 * one; `command` names the command in the message.
 */
export function incompleteListError(
  failure: MergeqError | undefined,
  problem: string | undefined,
  command?: string,
): MergeqError {
  if (failure === undefined) {
    const list = command === undefined ? 'The list' : `${command}: the list`
    return new MergeqError(
      'incomplete',
      `${list} is incomplete${problem === undefined ? '' : `: ${problem}`}.`,
    )
  }
  const { exit: _, ...details } = failure.details
  const kind = failure.kind === 'auth' ? 'auth' : 'incomplete'
  return new MergeqError(kind, `${withPeriod(failure.message)} The list is incomplete.`, details)
}

/** How far a list was read and printed: enough to continue in another run. */
export interface Checkpoint extends PagePosition {
  readonly range: TimeRange
  /** Pages and tests of all runs. */
  readonly pages: number
  readonly tests: number
  readonly complete: boolean
}

/**
 * Combines many requests into one response: the next request, the records to print, and the end. Does no I/O.
 */
export interface Paginator {
  /** The members of the next request's body; undefined at the end. */
  nextQuery(): Readonly<Record<string, Json>> | undefined
  /** Takes a response and returns the records to print now. */
  take(response: DecodedResponse): readonly JsonObject[]
  /**
   * Whether the list continues after an error: when a page token has expired, its window is read again, once.
   */
  recover(failure: MergeqError): boolean
  /** Whether a response was taken: then there is a part to print after an error. */
  hasStarted(): boolean
  checkpoint(): Checkpoint
  /** Continues after another run, which had printed these ids; called before the first request. */
  resume(checkpoint: Checkpoint, ids: Iterable<string>): void
  /** The ids of tests that came for the first time in the last response. */
  newIds(): readonly string[]
  /** Ends the list; `why` is the error that ended it early. */
  finish(why?: string): PaginationEnd
}

/** A condition on records, with the name of its option. */
export interface RecordFilter {
  readonly flag: string
  keeps(record: JsonObject): boolean
}

/** How failing tests are listed (docs/reference/cli.md, "Lists of failing tests"). */
export interface PaginationPlan {
  readonly range: TimeRange
  readonly pageSize: number
  readonly maxPages: number
  /** Requests only the page that this token names. */
  readonly pageToken?: string
  readonly limit: number
  readonly filters: readonly RecordFilter[]
  /** Sorts all records at the end; undefined returns records as they arrive. */
  readonly order?: (a: JsonObject, b: JsonObject) => number
}

/** A time in milliseconds since 1970 in ISO 8601. */
export const toIso = (time: number): string => new Date(time).toISOString()

/** A range in messages: `<start> to <end>` in ISO 8601. */
export const describeRange = ({ start, end }: TimeRange): string => `${toIso(start)} to ${toIso(end)}`

/**
 * Lists failing tests of all windows and pages, each test once
 * (docs/reference/service.md, "list-failing-tests").
 */
export function paginateTests(plan: PaginationPlan): Paginator {
  let range = plan.range
  let cursor = createPageCursor(range, plan.maxPages, { window: 0, token: plan.pageToken ?? '' })
  /** The ids of all tests, each with the pass in which it was last seen. */
  const seenIds = new Map<string, number>()
  let newIds: string[] = []
  const collected: JsonObject[] = []
  const hidden = new Map<string, number>()
  const restarts: string[] = []
  let earlier = { pages: 0, tests: 0 }
  let [shown, repeated] = [0, 0]
  let [limited, isOnePageOver] = [false, false]
  let [lastPage, envelope]: [JsonObject, JsonObject] = [{}, {}]
  const next = (): PageRequest | undefined => (limited || isOnePageOver ? undefined : cursor.next())

  /** Records an id; returns whether the test is new, and whether it is new in this reading of the window. */
  const recordId = (record: JsonObject) => {
    const id = getString(record, 'id')
    if (id === undefined) return { isFirst: true, isNew: true }
    const last = seenIds.get(id)
    seenIds.set(id, cursor.pass())
    if (last === undefined) newIds.push(id)
    return { isFirst: last === undefined, isNew: last !== cursor.pass() }
  }

  const isKept = (record: JsonObject): boolean => {
    const filter = plan.filters.find(({ keeps }) => !keeps(record))
    if (filter !== undefined) hidden.set(filter.flag, (hidden.get(filter.flag) ?? 0) + 1)
    return filter === undefined
  }

  return {
    nextQuery() {
      const request = next()
      if (request === undefined) return undefined
      return {
        start_time: toIso(request.start),
        end_time: toIso(request.end),
        page_query: { page_size: plan.pageSize, page_token: request.token },
      }
    },
    take({ page = {}, envelope: { tests: _, ...rest } = {}, records }) {
      newIds = []
      const sightings = records.map(recordId)
      const unseen = records.filter((_, index) => sightings[index]?.isFirst)
      repeated += records.length - unseen.length
      const wanted = unseen.filter(isKept)
      lastPage = page
      envelope = rest
      const token = getString(page, 'next_page_token') ?? ''
      cursor.advance(
        token,
        sightings.some(({ isNew }) => isNew),
      )
      if (plan.pageToken !== undefined) {
        isOnePageOver = true
        limited = token !== ''
      }
      if (plan.order !== undefined) {
        for (const record of wanted) collected.push(record)
        return []
      }
      const room = plan.limit - shown
      if (wanted.length > room || (wanted.length === room && next() !== undefined)) limited = true
      const now = wanted.slice(0, room)
      shown += now.length
      return now
    },
    recover({ details: { status, serviceMessage = '' } }) {
      if (
        (status !== 400 && status !== 404) ||
        !/token/i.test(serviceMessage) ||
        plan.pageToken !== undefined
      )
        return false
      const window = next()
      if (window === undefined || !cursor.restart()) return false
      restarts.push(`A page token expired; ${describeRange(window)} was read again from the first page.`)
      return true
    },
    hasStarted: () => cursor.pages() > 0,
    checkpoint: () => ({
      ...cursor.place(),
      range,
      pages: earlier.pages + cursor.pages(),
      tests: earlier.tests + shown,
      complete: cursor.isOver(),
    }),
    resume(checkpoint, ids) {
      range = checkpoint.range
      earlier = checkpoint
      cursor = createPageCursor(range, plan.maxPages, checkpoint)
      for (const id of ids) seenIds.set(id, 0)
    },
    newIds: () => newIds,
    finish(why) {
      const problem = cursor.problem() ?? why
      const sorted = plan.order === undefined ? [] : collected.sort(plan.order)
      if (sorted.length > plan.limit) limited = true
      const records = sorted.slice(0, plan.limit)
      shown += records.length
      const complete = (cursor.isOver() || isOnePageOver) && !limited && problem === undefined
      const { pages, tests } = earlier
      const before = pages === 0 ? '' : ` (${formatInteger(tests)} printed by earlier runs)`
      const notes = [
        `${pluralize(tests + shown, 'test')} failed from ${describeRange(range)}${before}.`,
        ...restarts,
      ]
      if (repeated > 0) notes.push(`Omitted ${pluralize(repeated, 'duplicate row')}.`)
      if (hidden.size > 0) notes.push(describeHidden(hidden))
      if (limited) notes.push('This list is incomplete: there are more tests.')
      const totals = { total_rows: shown, total_pages: cursor.pages() }
      return {
        records,
        complete,
        isBroken: !complete && !limited,
        notes,
        problem: cursor.problem(),
        envelope: {
          ...envelope,
          page: cursor.pages() === 1 ? lastPage : totals,
          window: { start: toIso(range.start), end: toIso(range.end), complete },
        },
      }
    },
  }
}

/** `2 tests hidden by --owner, 1 by --name.` */
const describeHidden = (hidden: ReadonlyMap<string, number>): string =>
  `${[...hidden]
    .map(([flag, number], index) =>
      index === 0 ? `${pluralize(number, 'test')} hidden by ${flag}` : `${formatInteger(number)} by ${flag}`,
    )
    .join(', ')}.`
