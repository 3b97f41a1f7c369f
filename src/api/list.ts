import { MergeqError, toMergeqError, withPeriod } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { formatInteger, pluralize } from '../values/format.ts'
import { defaultMaxPages, defaultPageSize } from '../values/limits.ts'
import { callOperation } from './call.ts'
import { type NextOffset, offsetAfter } from './offset.ts'
import type { EmptyListHint, List, ListResult, Pages, Params, ParamValues } from './operation.ts'
import { type DecodedResponse, readPageToken, readTotal } from './response.ts'
import type { ServiceClient } from './service-client.ts'
import { serviceStart } from './service-time.ts'

/** How a list ended. */
export interface ListEnd extends Pick<ListResult, 'pages' | 'shown' | 'complete'> {
  /** How many records match, whether given or not; undefined if the list was not read to its end. */
  readonly total: number | undefined
  readonly hidden: number
  /** Whether it ended before it was complete, for another reason than a limit. */
  readonly isBroken: boolean
  /** The error that ended it after a part had been read. */
  readonly failure: MergeqError | undefined
  /** Why the service could not be read further, without a full stop; undefined after an error. */
  readonly problem: string | undefined
  /** All sentences about the list: its summary, what else happened, and whether there are more records. */
  readonly notes: readonly string[]
  /** The sentences about repeated rows and hidden records. */
  readonly warnings: readonly string[]
  /** What was probably meant instead of a name that no record of a whole, empty list has. */
  readonly mistake: EmptyListHint | undefined
  /** The members beside the records in the one document for all pages. */
  readonly envelope: JsonObject
}

export interface ListPage {
  readonly records: readonly JsonObject[]
  /** How the list ended; only on the last page, which has the records of a sorted list. */
  readonly end?: ListEnd
}

export interface ReadOptions {
  /** Is called before each request, with how far the list was read. */
  beforePage?(progress: string): Promise<void>
  /** Is called with each record, also one that is hidden or beyond the limit. */
  see?: ((record: JsonObject) => void) | undefined
  /** Whether an error of the first page ends the list, as one of a later page does. */
  tolerates?(failure: MergeqError): boolean
}

const pageParams = (
  { pageSize = defaultPageSize }: Pick<List, 'pageSize'>,
  part: List['parts'][number],
  pageToken: string,
): ParamValues<Params> => ({ ...part, pageSize, pageToken })

/** Returns the params of the request for the first page of a list. */
export const firstPage = (list: List): ParamValues<Params> =>
  pageParams(list, list.parts[0] ?? {}, list.pageToken ?? '')

const hasSameParts = (one: List, other: List): boolean =>
  JSON.stringify(one.parts) === JSON.stringify(other.parts)

/**
 * Reads a list page by page and gives each record once; the last page says how the list ended. An error after the
 * first page ends the list, also one that the caller throws into the generator; an error before is thrown. If the
 * first page tells that the clock of this machine is wrong, ranges begin again with the time of the service.
 */
export async function* readList(
  client: ServiceClient,
  given: List,
  { beforePage, see, tolerates }: ReadOptions = {},
): AsyncGenerator<ListPage, void> {
  const knownStart = await serviceStart(client)
  let list = given
  let read = new ListProgress(list, client.nameOf)
  let failure: MergeqError | undefined
  try {
    for (let next = read.pageToRead(); next !== undefined; next = read.pageToRead()) {
      const progress = `${read.progress} so far`
      await beforePage?.(progress)
      const params = pageParams(list, next.part, next.token)
      const { response } = await callOperation(client, list.operation, params, { progress })
      const start = read.pages === 0 && list === given ? await serviceStart(client) : knownStart
      const corrected = start === knownStart ? undefined : given.at?.(start)
      if (corrected !== undefined && !hasSameParts(corrected, given)) {
        list = corrected
        read = new ListProgress(list, client.nameOf)
        continue
      }
      if (see !== undefined) for (const record of response.records) see(record)
      yield { records: read.take(response) }
    }
  } catch (error) {
    failure = toMergeqError(error)
    if (read.pages === 0 && tolerates?.(failure) !== true) throw failure
  }
  yield read.finish(failure)
}

/** Returns how a whole list ended, after `take` was called with its records. */
export async function readToEnd(
  pages: AsyncIterable<ListPage>,
  take: (record: JsonObject) => void,
): Promise<ListEnd> {
  for await (const { records, end } of pages) {
    for (const record of records) take(record)
    if (end !== undefined) return end
  }
  throw new Error('a list has no end')
}

/**
 * Returns the error of a list that could not be read completely: `auth` if the token is the reason
 * (docs/reference/cli.md, "Lists of failing tests"). `command` names the command in the message.
 */
export function incompleteListError(
  { failure, problem }: Partial<Pick<ListEnd, 'failure' | 'problem'>>,
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

/** Records beyond the limit are dropped whenever more than this number of them were collected. */
const maxSortedLater = 1_000

/** What was read of a list so far. */
class ListProgress {
  readonly #list: List
  readonly #pages: Pages
  readonly #cursor: PageCursor<List['parts'][number]>
  readonly #limit: number
  /** Each id that was seen, with the index of the part in which it was seen last. */
  readonly #seenIds = new Map<string, number>()
  /** How many records each param hid. */
  readonly #hidden = new Map<string, number>()
  #collected: JsonObject[] = []
  #shown = 0
  #repeated = 0
  /** How many records no param hid. */
  #wanted = 0
  /** Whether there are more records than the limit. */
  #isLimited = false
  /** Whether the limit left out records of a page. */
  #isCut = false
  #isOnlyPageRead = false
  #lastEnvelope: JsonObject = {}
  /** How many records all pages have, as the last page says. */
  #total: number | undefined

  constructor(list: List, nameOf: ServiceClient['nameOf']) {
    const { pages } = list.operation
    if (pages === undefined) throw new Error(`${list.operation.route} has no pages`)
    const { maxPages = defaultMaxPages, limit = Number.POSITIVE_INFINITY, pageToken: firstToken } = list
    this.#list = list
    this.#pages = pages
    this.#limit = limit
    this.#cursor = new PageCursor(list.parts, {
      maxPages,
      maxPagesName: nameOf('maxPages'),
      noun: pages.noun,
      firstToken,
    })
  }

  get pages(): number {
    return this.#cursor.pages
  }

  /** `3 pages and 12 tests`. */
  get progress(): string {
    return `${pluralize(this.#cursor.pages, 'page')} and ${pluralize(this.#shown, this.#pages.noun)}`
  }

  pageToRead() {
    return this.#isLimited || this.#isOnlyPageRead ? undefined : this.#cursor.pageToRead()
  }

  /** Returns the records of a page that were not given before and that no param hides. */
  take({ records, envelope = {} }: DecodedResponse): readonly JsonObject[] {
    const { key, end } = this.#pages
    const { order, pageToken } = this.#list
    const { [key]: _, ...rest } = envelope
    this.#lastEnvelope = rest
    const sightings = records.map(record => this.#see(record))
    const unseen = records.filter((_, index) => sightings[index]?.isFirst)
    this.#repeated += records.length - unseen.length
    const { complete = (record: JsonObject) => record } = this.#list
    const wanted = unseen.filter(record => this.#keeps(record)).map(record => complete(record))
    this.#wanted += wanted.length
    const hasNew = sightings.some(({ isNew }) => isNew)
    const { token, problem } =
      'total' in end
        ? this.#offsetAfter(records.length, hasNew, readTotal(rest, end.total))
        : { token: readPageToken(rest, end.nextToken) }
    this.#cursor.advance(token, hasNew, problem)
    if (pageToken !== undefined) {
      this.#isOnlyPageRead = true
      this.#isLimited = token !== ''
    }
    if (order !== undefined) {
      for (const record of wanted) this.#collected.push(record)
      if (this.#collected.length > this.#limit + maxSortedLater) this.#collected = this.#sortAndCut()
      return []
    }
    const room = this.#limit - this.#shown
    this.#isCut = wanted.length > room
    if (this.#isCut || (wanted.length === room && this.pageToRead() !== undefined)) this.#isLimited = true
    const now = wanted.slice(0, room)
    this.#shown += now.length
    return now
  }

  #offsetAfter(count: number, hasNew: boolean, total: number | undefined): NextOffset {
    const offset = Number(this.#cursor.pageToRead()?.token ?? '')
    const totalBefore = this.#total
    this.#total = total
    return offsetAfter({ offset, count, hasNew, total, totalBefore, noun: this.#pages.noun })
  }

  /** Returns whether the record is new in the list, and whether it is new in its part. */
  #see(record: JsonObject): { readonly isFirst: boolean; readonly isNew: boolean } {
    const id = this.#pages.idOf(record)
    if (id === undefined) return { isFirst: true, isNew: true }
    const { index } = this.#cursor
    const lastIndex = this.#seenIds.get(id)
    this.#seenIds.set(id, index)
    return { isFirst: lastIndex === undefined, isNew: lastIndex !== index }
  }

  #keeps(record: JsonObject): boolean {
    const name = this.#list.hiddenBy(record)
    if (name !== undefined) this.#hidden.set(name, (this.#hidden.get(name) ?? 0) + 1)
    return name === undefined
  }

  /** Sorts the collected records in place, and returns those within the limit. */
  #sortAndCut(): JsonObject[] {
    return this.#collected.sort(this.#list.order).slice(0, this.#limit)
  }

  finish(failure: MergeqError | undefined): ListPage {
    const { order, parts } = this.#list
    const { noun } = this.#pages
    const cursor = this.#cursor
    const isStopped = cursor.problem !== undefined || failure !== undefined
    const isReadToEnd = cursor.isOver && !isStopped && !this.#isLimited
    const records = order === undefined ? [] : this.#sortAndCut()
    this.#shown += records.length
    const isLimited = this.#isLimited || (order !== undefined && this.#wanted > this.#limit)
    const complete = (cursor.isOver || this.#isOnlyPageRead) && !isLimited && !isStopped
    const isWhole = complete && this.#list.pageToken === undefined
    const warnings: string[] = []
    if (this.#repeated > 0) warnings.push(`Omitted ${pluralize(this.#repeated, 'duplicate row')}.`)
    if (this.#hidden.size > 0 && this.#list.describesFilters !== true)
      warnings.push(describeHidden(this.#hidden, noun))
    const hint = this.#shown === 0 ? this.#list.hintIfEmpty?.() : undefined
    if (hint !== undefined) warnings.push(`${hint.sentence} ${hint.hint}`)
    const result = {
      shown: this.#shown,
      pages: cursor.pages,
      complete,
      isWhole,
      matching: this.#hidden.size > 0 ? 'matching ' : '',
      envelope: this.#lastEnvelope,
      isContinued: cursor.pages === 1 && parts.length === 1 && order === undefined && !this.#isCut,
    }
    const rest = isLimited ? ' There are more.' : ''
    const end: ListEnd = {
      ...result,
      // A sorted list that ended early is incomplete even below its limit: records that were not read may
      // belong in it.
      isBroken: isStopped || (!complete && !isLimited),
      failure,
      problem: cursor.problem,
      hidden: [...this.#hidden.values()].reduce((sum, count) => sum + count, 0),
      total: isReadToEnd ? this.#wanted : undefined,
      notes: [`${this.#list.describe(result)}${rest}`, ...warnings],
      warnings,
      mistake: complete && hint?.isMistake === true ? hint : undefined,
      envelope: this.#list.envelope(result),
    }
    return { records, end }
  }
}

/** `2 tests hidden by --owner, 1 by --name.` */
const describeHidden = (hidden: ReadonlyMap<string, number>, noun: string): string =>
  `${[...hidden]
    .map(([name, number], index) =>
      index === 0 ? `${pluralize(number, noun)} hidden by ${name}` : `${formatInteger(number)} by ${name}`,
    )
    .join(', ')}.`

/** The number of consecutive pages without new records after which a list counts as endless. */
const maxPagesWithoutNewRecords = 100

interface PageCursorOptions {
  readonly maxPages: number
  /** The name of the limit as the caller writes it. */
  readonly maxPagesName: string
  /** Names a record in messages. */
  readonly noun: string
  /** The token of the page to start at; without it the first page. */
  readonly firstToken?: string | undefined
}

/** A cursor over all parts and pages of a list, in their order. It stores no records. */
export class PageCursor<S extends object> {
  readonly #parts: readonly S[]
  readonly #options: PageCursorOptions
  readonly #tokens = new Set<string>()
  #token: string
  #pagesWithoutNewRecords = 0
  pages = 0
  /** The index of the current part. */
  index = 0
  /** Why the list cannot be read further. */
  problem: string | undefined

  constructor(parts: readonly S[], options: PageCursorOptions) {
    this.#parts = parts
    this.#options = options
    this.#token = options.firstToken ?? ''
  }

  get isOver(): boolean {
    return this.index >= this.#parts.length
  }

  /** The next page to request; the token of a first page is empty. Undefined at the end and after a problem. */
  pageToRead(): { readonly part: S; readonly token: string } | undefined {
    const part = this.#parts[this.index]
    return part === undefined || this.problem !== undefined ? undefined : { part, token: this.#token }
  }

  /**
   * Moves past a page. `nextToken` is empty at the end of the part; `hasNew` says whether the page had
   * records that are new in this part, `problem` why nothing can follow it.
   */
  advance(nextToken: string, hasNew: boolean, problem?: string): void {
    const { maxPages, maxPagesName, noun } = this.#options
    this.pages++
    this.#pagesWithoutNewRecords = hasNew ? 0 : this.#pagesWithoutNewRecords + 1
    if (problem !== undefined) this.problem = problem
    else if (nextToken === '') {
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
      this.problem ??= `the list has more than ${pluralize(maxPages, 'page')} (to read more, raise ${maxPagesName})`
  }
}
