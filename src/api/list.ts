import { MergeqError, toMergeqError, withPeriod } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { formatInteger, pluralize } from '../values/format.ts'
import { defaultMaxPages, defaultPageSize } from '../values/limits.ts'
import { callOperation } from './call.ts'
import type { EmptyListHint, List, ListResult } from './list-operation.ts'
import type { Operation } from './operation.ts'
import type { NameOf, Params, ParamValues } from './params.ts'
import type { Resource } from './resource.ts'
import { type DecodedResponse, readPageToken, readTotal } from './response.ts'
import type { ServiceClient } from './service-client.ts'
import { serviceStart } from './service-time.ts'

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
  part: List['parts'][number] = {},
  pageToken = '',
): ParamValues<Params> => ({ ...part, pageSize, pageToken })

export const firstPage = (list: List): ParamValues<Params> => pageParams(list, list.parts[0], list.pageToken)

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
  let read = followPages(list, client.nameOf)
  let failure: MergeqError | undefined
  try {
    for (let params = read.pageToRead(); params !== undefined; params = read.pageToRead()) {
      const progress = `${read.progress()} so far`
      await beforePage?.(progress)
      const { response } = await callOperation(client, list.operation, params, { progress })
      const start = read.pagesRead() === 0 && list === given ? await serviceStart(client) : knownStart
      const corrected = start === knownStart ? undefined : given.at?.(start)
      if (corrected !== undefined && JSON.stringify(corrected.parts) !== JSON.stringify(given.parts)) {
        list = corrected
        read = followPages(list, client.nameOf)
        continue
      }
      if (see !== undefined) for (const record of response.records) see(record)
      yield { records: read.take(response) }
    }
  } catch (error) {
    failure = toMergeqError(error)
    if (read.pagesRead() === 0 && tolerates?.(failure) !== true) throw failure
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

/** Returns the error of an incomplete list: `auth` if the token is the reason. `command` names the command. */
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

/** Follows what was read of a list so far, and what is to be read next: all parts and their pages, in their order. */
function followPages(list: List, nameOf: NameOf) {
  const { parts, order, pageToken, limit = Number.POSITIVE_INFINITY, maxPages = defaultMaxPages } = list
  const { complete = (record: JsonObject) => record } = list
  if (list.operation.pages === undefined) throw new Error(`${list.operation.route} has no pages`)
  const { key, noun, end: lastPage, idOf } = list.operation.pages
  let pages = 0
  let part = 0
  /** The token of the next page; empty for the first page of a part. */
  let token = pageToken ?? ''
  const tokens = new Set<string>()
  const seenIds = new Set<string>()
  /** How many records each param hid. */
  const hidden = new Map<string, number>()
  /** The records of a list that is sorted at its end. */
  const collected: JsonObject[] = []
  let shown = 0
  let repeated = 0
  /** Whether there are more records than the limit. */
  let isLimited = false
  /** Whether the limit left out records of a page. */
  let isCut = false
  let lastEnvelope: JsonObject = {}
  /** How many records all pages have, as the last page says. */
  let lastTotal: number | undefined
  /** Why the list cannot be read further. */
  let problem: string | undefined
  const isOver = () => part >= parts.length

  /** Returns the params of the next page; undefined at the end, after a problem and where the limit is reached. */
  const pageToRead = (): ParamValues<Params> | undefined => {
    const isOnlyPageRead = pageToken !== undefined && pages > 0
    if (isOver() || isLimited || isOnlyPageRead || problem !== undefined) return undefined
    return pageParams(list, parts[part], token)
  }

  const isNew = (record: JsonObject): boolean => {
    const id = idOf(record)
    const isKnown = id !== undefined && seenIds.has(id)
    if (id !== undefined) seenIds.add(id)
    return !isKnown
  }

  const keeps = (record: JsonObject): boolean => {
    const name = list.hiddenBy(record)
    if (name !== undefined) hidden.set(name, (hidden.get(name) ?? 0) + 1)
    return name === undefined
  }

  /**
   * Returns where the next page of a list without tokens begins. Only a page that ends at the total, or without a total an
   * empty one, is the last: a short page in between must not look like the end. Every offset is another one, so that only
   * the records show that pages repeat.
   */
  const offsetAfter = (count: number, hasNew: boolean, total: number | undefined): string => {
    const totalBefore = lastTotal
    const read = Number(token) + count
    lastTotal = total
    if (count > 0 && !hasNew) problem = `the service returned the same ${noun}s twice`
    else if (total === undefined) return count === 0 ? '' : String(read)
    else if (totalBefore !== undefined && total < totalBefore)
      problem = `the service counted ${pluralize(totalBefore, noun)} and then ${formatInteger(total)}, so some may have been skipped`
    else if (read > total || (count === 0 && read < total))
      problem = `the service counted ${pluralize(total, noun)} and returned ${formatInteger(read)}`
    return read === total ? '' : String(read)
  }

  /** Moves past a page. `nextToken` is empty at the end of a part. */
  const advance = (nextToken: string): void => {
    pages++
    if (problem !== undefined) return
    if (nextToken === '') {
      part++
      tokens.clear()
    } else if (nextToken === token || tokens.has(nextToken))
      problem = 'the service returned the same page token twice'
    tokens.add(nextToken)
    token = nextToken
    if (!isOver() && pages >= maxPages)
      problem ??= `the list has more than ${pluralize(maxPages, 'page')} (to read more, raise ${nameOf('maxPages')})`
  }

  return {
    pageToRead,
    pagesRead: () => pages,
    /** `3 pages and 12 tests`. */
    progress: () => `${pluralize(pages, 'page')} and ${pluralize(shown, noun)}`,
    /** Returns the records of a page that were not given before and that no param hides. */
    take({ records, envelope = {} }: DecodedResponse): readonly JsonObject[] {
      const { [key]: _, ...rest } = envelope
      lastEnvelope = rest
      const unseen = records.filter(isNew)
      repeated += records.length - unseen.length
      const wanted = unseen.filter(keeps).map(record => complete(record))
      const nextToken =
        'total' in lastPage
          ? offsetAfter(records.length, unseen.length > 0, readTotal(rest, lastPage.total))
          : readPageToken(rest, lastPage.nextToken)
      advance(nextToken)
      if (pageToken !== undefined) isLimited = nextToken !== ''
      if (order !== undefined) {
        for (const record of wanted) collected.push(record)
        return []
      }
      const room = limit - shown
      isCut = wanted.length > room
      if (isCut || (wanted.length === room && pageToRead() !== undefined)) isLimited = true
      const now = wanted.slice(0, room)
      shown += now.length
      return now
    },
    finish(failure: MergeqError | undefined): ListPage {
      const records = collected.sort(order).slice(0, limit)
      const hasMore = isLimited || records.length < collected.length
      const isStopped = problem !== undefined || failure !== undefined
      const isComplete = isOver() && !hasMore && !isStopped
      const result = {
        shown: shown + records.length,
        pages,
        complete: isComplete,
        isWhole: isComplete && pageToken === undefined,
        matching: hidden.size > 0 ? 'matching ' : '',
        envelope: lastEnvelope,
        isContinued: pages === 1 && parts.length === 1 && order === undefined && !isCut,
      }
      const warnings: string[] = []
      if (repeated > 0) warnings.push(`Omitted ${pluralize(repeated, 'duplicate row')}.`)
      if (hidden.size > 0 && list.describesFilters !== true) warnings.push(describeHidden(hidden, noun))
      const hint = result.shown === 0 ? list.hintIfEmpty?.() : undefined
      if (hint !== undefined) warnings.push(`${hint.sentence} ${hint.hint}`)
      const end: ListEnd = {
        ...result,
        // A sorted list that ended early is incomplete even below its limit: records that were not read may
        // belong in it.
        isBroken: isStopped || (!isComplete && !hasMore),
        failure,
        problem,
        hidden: [...hidden.values()].reduce((sum, count) => sum + count, 0),
        total: isOver() && !isStopped && !isLimited ? shown + collected.length : undefined,
        notes: [`${list.describe(result)}${hasMore ? ' There are more.' : ''}`, ...warnings],
        warnings,
        mistake: isComplete && hint?.isMistake === true ? hint : undefined,
        envelope: list.envelope(result),
      }
      return { records, end }
    },
  }
}

/** `2 tests hidden by --owner, 1 by --name.` */
const describeHidden = (hidden: ReadonlyMap<string, number>, noun: string): string =>
  `${[...hidden]
    .map(([name, number], index) =>
      index === 0 ? `${pluralize(number, noun)} hidden by ${name}` : `${formatInteger(number)} by ${name}`,
    )
    .join(', ')}.`

/**
 * Returns the time that the ranges of an operation count back from, in milliseconds since 1970. For pages that begin at an
 * offset, it is that of the response to a read of the queue: a range that ends then stays the same while they are read.
 */
export async function rangeEnd<P extends Params>(
  client: ServiceClient,
  { pages }: Pick<Operation<P>, 'pages'>,
  values: ParamValues<P>,
): Promise<number> {
  const { repo, targetBranch }: Resource = values
  const hasOffsets = pages !== undefined && 'total' in pages.end
  if (!hasOffsets || repo === undefined || targetBranch === undefined) return serviceStart(client)
  const { getQueue } = await import('./operations/queues.ts')
  const { date } = await callOperation(client, getQueue, { repo, targetBranch })
  const start = await serviceStart(client)
  return date ?? start
}
