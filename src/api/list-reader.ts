import { formatInteger, pluralize } from '../domain/format.ts'
import { defaultMaxPages, defaultPageSize } from '../domain/limits.ts'
import { createPageCursor } from '../domain/page-cursor.ts'
import type { MergeqError } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import type { DecodedResponse } from './decode.ts'

export interface RecordFilter {
  readonly flag: string
  keeps(record: JsonObject): boolean
}

/** `key` is the member of the response that contains the records; `noun` names one record in messages. */
export interface ListContent {
  readonly key: string
  readonly noun: string
}

export interface ListSelection {
  /** Records per page; 100 by default. */
  readonly pageSize?: number | undefined
  /** How many pages are requested at most; 10,000 by default. */
  readonly maxPages?: number | undefined
  readonly pageToken?: string | undefined
  readonly limit?: number | undefined
  readonly filters: readonly RecordFilter[]
  /** Sorts all records when the list has ended. Without it, records are returned as they arrive. */
  readonly order?: ((a: JsonObject, b: JsonObject) => number) | undefined
}

export interface PageProtocol<S extends object> {
  readonly content: ListContent
  query(segment: S, token: string, pageSize: number): Readonly<Record<string, Json>>
  /** The token of the next page; empty at the end of the segment. */
  nextToken(response: DecodedResponse): string
  /** Returns the id of a record. A record with an id is returned only once; a record without an id always. */
  idOf(record: JsonObject): string | undefined
  describe(segment: S): string
}

export interface ListResult {
  readonly records: readonly JsonObject[]
  readonly shown: number
  readonly pages: number
  readonly complete: boolean
  readonly isBroken: boolean
  /**
   * Why the service could not be read further, without a full stop; undefined after an error or an option.
   */
  readonly problem: string | undefined
  /** Whether `limit` or the choice of a single page left records out. */
  readonly isLimited: boolean
  /** How many records match, whether returned or not; undefined if the list was not read to its end. */
  readonly total: number | undefined
  readonly hidden: number
  readonly notes: readonly string[]
  /** The members of the last document, without the records. */
  readonly envelope: JsonObject
  readonly page: JsonObject
}

/**
 * Reads all segments and pages of a list, and returns each record once. Does no I/O: the caller sends the
 * requests.
 */
export interface ListReader {
  nextQuery(): Readonly<Record<string, Json>> | undefined
  take(response: DecodedResponse): readonly JsonObject[]
  /**
   * Returns whether the list continues after an error: a segment whose page token expired starts again, once.
   */
  recover(failure: MergeqError): boolean
  /** Whether at least one response was taken, so that there is something to print after an error. */
  hasStarted(): boolean
  finish(why?: string): ListResult
}

/** Records beyond the limit are dropped whenever more than this number of them were collected. */
const maxSortedLater = 1_000

export function createListReader<S extends object>(
  segments: readonly S[],
  protocol: PageProtocol<S>,
  selection: ListSelection,
): ListReader {
  const {
    pageSize = defaultPageSize,
    maxPages = defaultMaxPages,
    limit = Number.POSITIVE_INFINITY,
  } = selection
  const { pageToken, filters, order } = selection
  const { key, noun } = protocol.content
  const cursor = createPageCursor(segments, { maxPages, noun, firstToken: pageToken })
  /** Each id that was seen, with the number of the pass over a segment in which it was seen last. */
  const seenIds = new Map<string, number>()
  let collected: JsonObject[] = []
  const hidden = new Map<string, number>()
  const restarts: string[] = []
  let [shown, repeated, wantedCount] = [0, 0, 0]
  let [limited, isOnePageOver] = [false, false]
  let [lastPage, envelope]: [JsonObject, JsonObject] = [{}, {}]
  const next = () => (limited || isOnePageOver ? undefined : cursor.next())

  /** Returns whether the record is new in the list, and whether it is new in this pass over the segment. */
  const recordId = (record: JsonObject) => {
    const id = protocol.idOf(record)
    if (id === undefined) return { isFirst: true, isNew: true }
    const lastPass = seenIds.get(id)
    seenIds.set(id, cursor.pass())
    return { isFirst: lastPass === undefined, isNew: lastPass !== cursor.pass() }
  }

  const isKept = (record: JsonObject): boolean => {
    const filter = filters.find(({ keeps }) => !keeps(record))
    if (filter !== undefined) hidden.set(filter.flag, (hidden.get(filter.flag) ?? 0) + 1)
    return filter === undefined
  }

  return {
    nextQuery() {
      const request = next()
      return request === undefined ? undefined : protocol.query(request, request.token, pageSize)
    },
    take(response) {
      const { records, page = {}, envelope: { [key]: _, ...rest } = {} } = response
      lastPage = page
      envelope = rest
      const sightings = records.map(recordId)
      const unseen = records.filter((_, index) => sightings[index]?.isFirst)
      repeated += records.length - unseen.length
      const wanted = unseen.filter(isKept)
      wantedCount += wanted.length
      const token = protocol.nextToken(response)
      cursor.advance(
        token,
        sightings.some(({ isNew }) => isNew),
      )
      if (pageToken !== undefined) {
        isOnePageOver = true
        limited = token !== ''
      }
      if (order !== undefined) {
        for (const record of wanted) collected.push(record)
        if (collected.length > limit + maxSortedLater) collected = collected.sort(order).slice(0, limit)
        return []
      }
      const room = limit - shown
      if (wanted.length > room || (wanted.length === room && next() !== undefined)) limited = true
      const now = wanted.slice(0, room)
      shown += now.length
      return now
    },
    recover({ details: { status, serviceMessage = '' } }) {
      if (
        (status !== 400 && status !== 404) ||
        !/token|cursor/i.test(serviceMessage) ||
        pageToken !== undefined
      )
        return false
      const segment = next()
      if (segment === undefined || !cursor.restart()) return false
      restarts.push(`A page token expired; ${protocol.describe(segment)} was read again from the first page.`)
      return true
    },
    hasStarted: () => cursor.pages() > 0,
    finish(why) {
      const problem = cursor.problem() ?? why
      const records = order === undefined ? [] : collected.sort(order).slice(0, limit)
      const isReadToEnd = cursor.isOver() && problem === undefined && !limited
      if (order !== undefined && wantedCount > limit) limited = true
      shown += records.length
      const complete = (cursor.isOver() || isOnePageOver) && !limited && problem === undefined
      const notes = [...restarts]
      if (repeated > 0) notes.push(`Omitted ${pluralize(repeated, 'duplicate row')}.`)
      if (hidden.size > 0) notes.push(describeHidden(hidden, noun))
      return {
        records,
        shown,
        pages: cursor.pages(),
        complete,
        // A sorted list that ended early is incomplete even below its limit: records that were not read may
        // belong in it.
        isBroken: problem !== undefined || (!complete && !limited),
        problem: cursor.problem(),
        isLimited: limited,
        hidden: [...hidden.values()].reduce((sum, count) => sum + count, 0),
        total: isReadToEnd ? wantedCount : undefined,
        notes,
        envelope,
        page: lastPage,
      }
    },
  }
}

/** `2 tests hidden by --owner, 1 by --name.` */
const describeHidden = (hidden: ReadonlyMap<string, number>, noun: string): string =>
  `${[...hidden]
    .map(([flag, number], index) =>
      index === 0 ? `${pluralize(number, noun)} hidden by ${flag}` : `${formatInteger(number)} by ${flag}`,
    )
    .join(', ')}.`
