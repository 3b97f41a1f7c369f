import { formatInteger, pluralize } from '../domain/format.ts'
import { defaultMaxPages, defaultPageSize } from '../domain/limits.ts'
import { MergeqError, withPeriod } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import type { DecodedResponse } from './response.ts'

export interface PaginationEnd {
  /** The records that were not returned before: those of a list that is sorted at its end. */
  readonly records: readonly JsonObject[]
  readonly shown: number
  /** How many records match, whether returned or not; undefined if the list was not read to its end. */
  readonly total: number | undefined
  readonly hidden: number
  readonly complete: boolean
  readonly isBroken: boolean
  /**
   * Why the service could not be read further, without a full stop; undefined after an error or an option.
   */
  readonly problem: string | undefined
  /** All sentences about the list: its summary, what else happened, and whether there are more records. */
  readonly notes: readonly string[]
  /** The sentences about restarts, repeated rows and hidden records. */
  readonly warnings: readonly string[]
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

export interface RecordFilter {
  readonly flag: string
  keeps(record: JsonObject): boolean
}

/** `key` is the member of the response that contains the records; `noun` names one record in messages. */
interface ListContent {
  readonly key: string
  readonly noun: string
}

interface ListSelection {
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

/** What was read of a list, for its summary and the members beside its records. */
export interface ListResult {
  readonly shown: number
  readonly pages: number
  readonly complete: boolean
  /** The members of the last document, without the records. */
  readonly envelope: JsonObject
  readonly page: JsonObject
}

interface ListSummary {
  describe(result: ListResult): string
  envelope(result: ListResult): JsonObject
}

/**
 * Reads all segments and pages of a list as one response, and returns each record once. Does no I/O: the caller
 * sends the requests.
 */
export interface Paginator {
  readonly content: ListContent
  nextQuery(): Readonly<Record<string, Json>> | undefined
  take(response: DecodedResponse): readonly JsonObject[]
  /**
   * Returns whether the list continues after an error: a segment whose page token expired starts again, once.
   */
  recover(failure: MergeqError): boolean
  /** Whether at least one response was taken, so that there is something to print after an error. */
  hasStarted(): boolean
  finish(why?: string): PaginationEnd
}

/** Records beyond the limit are dropped whenever more than this number of them were collected. */
const maxSortedLater = 1_000

export function paginateList<S extends object>(
  segments: readonly S[],
  protocol: PageProtocol<S>,
  selection: ListSelection,
  summary: ListSummary,
): Paginator {
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
  let [lastPage, lastEnvelope]: [JsonObject, JsonObject] = [{}, {}]
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
    content: protocol.content,
    nextQuery() {
      const request = next()
      return request === undefined ? undefined : protocol.query(request, request.token, pageSize)
    },
    take(response) {
      const { records, page = {}, envelope: { [key]: _, ...rest } = {} } = response
      lastPage = page
      lastEnvelope = rest
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
      const warnings = [...restarts]
      if (repeated > 0) warnings.push(`Omitted ${pluralize(repeated, 'duplicate row')}.`)
      if (hidden.size > 0) warnings.push(describeHidden(hidden, noun))
      const result = { shown, pages: cursor.pages(), complete, envelope: lastEnvelope, page: lastPage }
      const rest = limited ? [`This list is incomplete: there are more ${noun}s.`] : []
      return {
        records,
        shown,
        complete,
        // A sorted list that ended early is incomplete even below its limit: records that were not read may
        // belong in it.
        isBroken: problem !== undefined || (!complete && !limited),
        problem: cursor.problem(),
        hidden: [...hidden.values()].reduce((sum, count) => sum + count, 0),
        total: isReadToEnd ? wantedCount : undefined,
        notes: [summary.describe(result), ...warnings, ...rest],
        warnings,
        envelope: summary.envelope(result),
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

/** The next page to request: its segment, and the token of the page, which is empty for the first page. */
type PageRequest<S extends object> = S & { readonly token: string }

/**
 * A cursor over all segments and pages of a list. A segment is a part of the list with pages of its own, such
 * as a time window. The cursor sends no requests and stores no records.
 */
interface PageCursor<S extends object> {
  /** Returns the next page to request; undefined at the end and after a problem. */
  next(): PageRequest<S> | undefined
  /**
   * Moves past a page. `nextToken` is the token of the following page, or empty at the end of the
   * segment; `hasNew` says whether the page had records that are new in this segment.
   */
  advance(nextToken: string, hasNew: boolean): void
  /**
   * Moves to the start of the current segment, after a token has expired, and returns true. Returns false
   * without moving at a segment's first page and if this segment was restarted before.
   */
  restart(): boolean
  /** Returns the number of the current pass, from 1: each segment and each restart begins a new pass. */
  pass(): number
  pages(): number
  isOver(): boolean
  problem(): string | undefined
}

/** The number of consecutive pages without new records after which a list counts as endless. */
const maxPagesWithoutNewRecords = 100

interface PageCursorOptions {
  readonly maxPages: number
  /** Names a record in messages. */
  readonly noun: string
  /** The token of the page to start at; without it the first page. */
  readonly firstToken?: string | undefined
}

/** Creates a cursor over the segments of a list, in their order. */
export function createPageCursor<S extends object>(
  segments: readonly S[],
  { maxPages, noun, firstToken = '' }: PageCursorOptions,
): PageCursor<S> {
  const tokens = new Set<string>()
  let index = 0
  let token = firstToken
  let [pages, pagesWithoutNewRecords, pass] = [0, 0, 1]
  let restartedIndex = -1
  let problem: string | undefined

  const startSegment = (next: number) => {
    index = next
    token = ''
    tokens.clear()
    pagesWithoutNewRecords = 0
    pass++
  }
  return {
    next() {
      const segment = segments[index]
      return segment === undefined || problem !== undefined ? undefined : { ...segment, token }
    },
    advance(nextToken, hasNew) {
      pages++
      pagesWithoutNewRecords = hasNew ? 0 : pagesWithoutNewRecords + 1
      if (nextToken === '') startSegment(index + 1)
      else if (nextToken === token || tokens.has(nextToken))
        problem = 'the service returned the same page token twice'
      else if (pagesWithoutNewRecords >= maxPagesWithoutNewRecords)
        problem = `${maxPagesWithoutNewRecords} pages in a row contained no new ${noun}s`
      else {
        tokens.add(nextToken)
        token = nextToken
      }
      if (index < segments.length && pages >= maxPages)
        problem ??= `the list has more than ${pluralize(maxPages, 'page')} (to read more, raise --max-pages)`
    },
    restart() {
      if (token === '' || restartedIndex === index) return false
      restartedIndex = index
      startSegment(index)
      return true
    },
    pass: () => pass,
    pages: () => pages,
    isOver: () => index >= segments.length,
    problem: () => problem,
  }
}
