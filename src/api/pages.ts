import { formatInteger, pluralize } from '../domain/format.ts'
import { defaultMaxPages, defaultPageSize } from '../domain/limits.ts'
import { MergeqError, withPeriod } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import { type DecodedResponse, readPageToken } from './response.ts'

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
  /** The sentences about repeated rows and hidden records. */
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

/** Members of a body that request a page. */
export type PageQuery = Readonly<Record<string, Json>>

/** What was read of a list, for its summary and the members beside its records. */
export interface ListResult {
  readonly shown: number
  readonly pages: number
  readonly complete: boolean
  /** `matching ` if an option has hidden records, otherwise empty: a word before the noun. */
  readonly matching: string
  /** The members of the last document, without the records. */
  readonly envelope: JsonObject
}

export interface PagedList {
  /** The member of the response that contains the records. */
  readonly key: string
  /** Names one record in messages. */
  readonly noun: string
  /**
   * The parts of the list with pages of their own, such as time windows: the members of the body that select
   * each.
   */
  readonly segments: readonly PageQuery[]
  /** Returns the members that request a page of a segment; the token is empty for the first page. */
  pageQuery(token: string, pageSize: number): PageQuery
  /** The member of the response with the token of the next page; empty or missing at the end of the segment. */
  readonly tokenPath: string
  /** Returns the id of a record. A record with an id is returned only once; a record without an id always. */
  idOf(record: JsonObject): string | undefined
  /** Returns the option of mergeq that hides a record, if one does. */
  hiddenBy(record: JsonObject): string | undefined
  /** Sorts all records when the list has ended. Without it, records are returned as they arrive. */
  readonly order?: ((a: JsonObject, b: JsonObject) => number) | undefined
  /** The summary of what was read: a sentence. */
  describe(result: ListResult): string
  /** The members beside the records in the one document for all pages. */
  envelope(result: ListResult): JsonObject
}

interface PageOptions {
  /** Records per page; 100 by default. */
  readonly pageSize?: number | undefined
  /** How many pages are requested at most; 10,000 by default. */
  readonly maxPages?: number | undefined
  /** The token of the only page to read. */
  readonly pageToken?: string | undefined
  readonly limit?: number | undefined
}

/** Records beyond the limit are dropped whenever more than this number of them were collected. */
const maxSortedLater = 1_000

/**
 * Reads all segments and pages of a list as one response, and returns each record once. Does no I/O: the caller
 * sends the requests.
 */
export class Paginator {
  readonly #list: PagedList
  readonly #cursor: PageCursor<PageQuery>
  readonly #options: PageOptions
  readonly #limit: number
  /** Each id that was seen, with the index of the segment in which it was seen last. */
  readonly #seenIds = new Map<string, number>()
  /** How many records each option hid. */
  readonly #hidden = new Map<string, number>()
  #collected: JsonObject[] = []
  #shown = 0
  #repeated = 0
  /** How many records no option hid. */
  #wanted = 0
  /** Whether there are more records than the limit. */
  #isLimited = false
  #isOnePageOver = false
  #lastEnvelope: JsonObject = {}
  #end: PaginationEnd | undefined

  constructor(list: PagedList, options: PageOptions) {
    const { maxPages = defaultMaxPages, limit = Number.POSITIVE_INFINITY, pageToken } = options
    this.#list = list
    this.#options = options
    this.#limit = limit
    this.#cursor = new PageCursor(list.segments, { maxPages, noun: list.noun, firstToken: pageToken })
  }

  get key(): string {
    return this.#list.key
  }

  get noun(): string {
    return this.#list.noun
  }

  /** Whether at least one response was taken, so that there is something to print after an error. */
  get hasStarted(): boolean {
    return this.#cursor.pages > 0
  }

  /** Requests page after page, and yields the records of each. */
  async *read(
    request: (pageQuery: PageQuery) => Promise<DecodedResponse>,
  ): AsyncGenerator<readonly JsonObject[]> {
    for (let query = this.nextQuery(); query !== undefined; query = this.nextQuery())
      yield this.take(await request(query))
  }

  nextQuery(): PageQuery | undefined {
    const next = this.#next()
    const { pageSize = defaultPageSize } = this.#options
    return next && { ...next.segment, ...this.#list.pageQuery(next.token, pageSize) }
  }

  #next() {
    return this.#isLimited || this.#isOnePageOver ? undefined : this.#cursor.next()
  }

  /** Returns the records of a page that were not returned before and that no option hides. */
  take({ records, envelope = {} }: DecodedResponse): readonly JsonObject[] {
    const { key, tokenPath, order } = this.#list
    const { [key]: _, ...rest } = envelope
    this.#lastEnvelope = rest
    const sightings = records.map(record => this.#see(record))
    const unseen = records.filter((_, index) => sightings[index]?.isFirst)
    this.#repeated += records.length - unseen.length
    const wanted = unseen.filter(record => this.#keeps(record))
    this.#wanted += wanted.length
    const token = readPageToken(rest, tokenPath)
    this.#cursor.advance(
      token,
      sightings.some(({ isNew }) => isNew),
    )
    if (this.#options.pageToken !== undefined) {
      this.#isOnePageOver = true
      this.#isLimited = token !== ''
    }
    if (order !== undefined) {
      for (const record of wanted) this.#collected.push(record)
      if (this.#collected.length > this.#limit + maxSortedLater) this.#collected = this.#sorted()
      return []
    }
    const room = this.#limit - this.#shown
    if (wanted.length > room || (wanted.length === room && this.#next() !== undefined)) this.#isLimited = true
    const now = wanted.slice(0, room)
    this.#shown += now.length
    return now
  }

  /** Returns whether the record is new in the list, and whether it is new in its segment. */
  #see(record: JsonObject): { readonly isFirst: boolean; readonly isNew: boolean } {
    const id = this.#list.idOf(record)
    if (id === undefined) return { isFirst: true, isNew: true }
    const { index } = this.#cursor
    const lastIndex = this.#seenIds.get(id)
    this.#seenIds.set(id, index)
    return { isFirst: lastIndex === undefined, isNew: lastIndex !== index }
  }

  #keeps(record: JsonObject): boolean {
    const flag = this.#list.hiddenBy(record)
    if (flag !== undefined) this.#hidden.set(flag, (this.#hidden.get(flag) ?? 0) + 1)
    return flag === undefined
  }

  #sorted = () => this.#collected.sort(this.#list.order).slice(0, this.#limit)

  /** Ends the list, once; `why` is the error that ended it early. */
  finish(why?: string): PaginationEnd {
    this.#end ??= this.#finish(why)
    return this.#end
  }

  #finish(why: string | undefined): PaginationEnd {
    const { order, noun } = this.#list
    const cursor = this.#cursor
    const problem = cursor.problem ?? why
    const isReadToEnd = cursor.isOver && problem === undefined && !this.#isLimited
    const records = order === undefined ? [] : this.#sorted()
    this.#shown += records.length
    const isLimited = this.#isLimited || (order !== undefined && this.#wanted > this.#limit)
    const complete = (cursor.isOver || this.#isOnePageOver) && !isLimited && problem === undefined
    const isWhole = complete && this.#options.pageToken === undefined
    const warnings: string[] = []
    if (this.#repeated > 0) warnings.push(`Omitted ${pluralize(this.#repeated, 'duplicate row')}.`)
    if (this.#hidden.size > 0) warnings.push(describeHidden(this.#hidden, noun))
    const matching = this.#hidden.size > 0 ? 'matching ' : ''
    const envelope = this.#lastEnvelope
    const result = { shown: this.#shown, pages: cursor.pages, complete, matching, envelope }
    const rest = isLimited ? [`There are more ${noun}s.`] : []
    return {
      records,
      shown: this.#shown,
      complete,
      // A sorted list that ended early is incomplete even below its limit: records that were not read may
      // belong in it.
      isBroken: problem !== undefined || (!complete && !isLimited),
      problem: cursor.problem,
      hidden: [...this.#hidden.values()].reduce((sum, count) => sum + count, 0),
      total: isReadToEnd ? this.#wanted : undefined,
      notes: [this.#list.describe({ ...result, complete: isWhole }), ...warnings, ...rest],
      warnings,
      envelope: this.#list.envelope(result),
    }
  }
}

/** `2 tests hidden by --owner, 1 by --name.` */
const describeHidden = (hidden: ReadonlyMap<string, number>, noun: string): string =>
  `${[...hidden]
    .map(([flag, number], index) =>
      index === 0 ? `${pluralize(number, noun)} hidden by ${flag}` : `${formatInteger(number)} by ${flag}`,
    )
    .join(', ')}.`

/** The number of consecutive pages without new records after which a list counts as endless. */
const maxPagesWithoutNewRecords = 100

interface PageCursorOptions {
  readonly maxPages: number
  /** Names a record in messages. */
  readonly noun: string
  /** The token of the page to start at; without it the first page. */
  readonly firstToken?: string | undefined
}

/** A cursor over all segments and pages of a list, in their order. It stores no records. */
export class PageCursor<S extends object> {
  readonly #segments: readonly S[]
  readonly #options: PageCursorOptions
  readonly #tokens = new Set<string>()
  #token: string
  #pagesWithoutNewRecords = 0
  pages = 0
  /** The index of the current segment. */
  index = 0
  /** Why the list cannot be read further. */
  problem: string | undefined

  constructor(segments: readonly S[], options: PageCursorOptions) {
    this.#segments = segments
    this.#options = options
    this.#token = options.firstToken ?? ''
  }

  get isOver(): boolean {
    return this.index >= this.#segments.length
  }

  /** The next page to request; the token of a first page is empty. Undefined at the end and after a problem. */
  next(): { readonly segment: S; readonly token: string } | undefined {
    const segment = this.#segments[this.index]
    return segment === undefined || this.problem !== undefined ? undefined : { segment, token: this.#token }
  }

  /**
   * Moves past a page. `nextToken` is empty at the end of the segment; `hasNew` says whether the page had
   * records that are new in this segment.
   */
  advance(nextToken: string, hasNew: boolean): void {
    const { maxPages, noun } = this.#options
    this.pages++
    this.#pagesWithoutNewRecords = hasNew ? 0 : this.#pagesWithoutNewRecords + 1
    if (nextToken === '') {
      this.index++
      this.#token = ''
      this.#tokens.clear()
      this.#pagesWithoutNewRecords = 0
    } else if (nextToken === this.#token || this.#tokens.has(nextToken))
      this.problem = 'the service returned the same page token twice'
    else if (this.#pagesWithoutNewRecords >= maxPagesWithoutNewRecords)
      this.problem = `${maxPagesWithoutNewRecords} pages in a row contained no new ${noun}s`
    else {
      this.#tokens.add(nextToken)
      this.#token = nextToken
    }
    if (!this.isOver && this.pages >= maxPages)
      this.problem ??= `the list has more than ${pluralize(maxPages, 'page')} (to read more, raise --max-pages)`
  }
}
