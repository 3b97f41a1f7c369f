// Operations that read a list: what they ask for page by page, and what is given of it.
import type { JsonObject } from '../base/json.ts'
import { defaultMaxPages, defaultPageSize } from '../values/limits.ts'
import { toIso } from '../values/time.ts'
import { instant, integer } from '../values/types.ts'
import type { Operation } from './operation.ts'
import { type NameOf, type ParamLocation, type Params, type ParamValues, param } from './params.ts'

/** What was read of a list, for its summary and the members beside its records. */
export interface ListResult {
  readonly shown: number
  readonly pages: number
  readonly complete: boolean
  /** Whether it is all of the list, not one page of it. */
  readonly isWhole: boolean
  /** `matching ` if a filter has hidden records, otherwise empty: a word before the noun. */
  readonly matching: string
  /** The members of the last document, without the records. */
  readonly envelope: JsonObject
  /** Whether the next page begins right after the last record: only then the token of the next page helps. */
  readonly isContinued: boolean
}

export interface EmptyListHint {
  readonly sentence: string
  readonly hint: string
  /** Whether a name that no record has is probably a mistyped one that some have. */
  readonly isMistake: boolean
}

/** A list as a caller wants it: the requests that read it, and what is given of it. */
export interface List {
  readonly operation: Operation
  /** Returns the same list where it is another time, in milliseconds since 1970; left out where no range counts back. */
  at?(now: number): List
  /** The params of each part of the list with pages of its own, such as a time window, without those of a page. */
  readonly parts: readonly Readonly<Record<string, unknown>>[]
  /** Records per page; 100 by default. */
  readonly pageSize?: number | undefined
  /** How many pages are requested at most; 10,000 by default. */
  readonly maxPages?: number | undefined
  /** The token of the only page to read. */
  readonly pageToken?: string | undefined
  readonly limit?: number | undefined
  /** Returns the name of the param that hides a record, as the caller writes it, if one does. */
  hiddenBy(record: JsonObject): string | undefined
  /** Whether the summary names the filters: then no other sentence does. */
  readonly describesFilters?: boolean
  /** Returns a hint for a list of which every record is hidden. */
  hintIfEmpty?(): EmptyListHint | undefined
  /** Returns a record with what mergeq adds to it. */
  complete?(record: JsonObject): JsonObject
  /** Sorts all records when the list has ended. Without it, records are given as they arrive. */
  readonly order?: ((a: JsonObject, b: JsonObject) => number) | undefined
  /** The summary of what was read: a sentence. */
  describe(result: ListResult): string
  /** The members beside the records in the one document for all pages. */
  envelope(result: ListResult): JsonObject
}

export interface ListOperation<P extends Params = Params, R extends Operation['route'] = Operation['route']>
  extends Operation<P, R> {
  /**
   * Returns the list that is read for these values. Throws a usage error for values that contradict each other.
   *
   * @param now milliseconds since 1970, from which durations are subtracted
   */
  list(values: ParamValues<P>, now: number, nameOf: NameOf): List
}

export const isList = (operation: Operation): operation is ListOperation => 'list' in operation

/** A list of the pages that an operation reads; the functions are typed from its own `params`. */
export const listOperation = <const P extends Params, R extends Operation['route']>(
  page: Operation<Params, R>,
  own: Pick<ListOperation<P>, 'params' | 'list' | 'response' | 'document'>,
): ListOperation<P, R> => {
  const list: ListOperation<P>['list'] = (values, now, nameOf) => ({
    ...own.list(values, now, nameOf),
    at: other => own.list(values, other, nameOf),
  })
  return { ...page, ...own, list } as ListOperation<P, R>
}

/** The params that request a range of time, of `test runs that ended`. */
export const rangeParams = (what: string) => {
  const bound = (word: 'since' | 'until') =>
    param(instant, `Only ${what} ${word} this time`, {
      encode: time => (time === undefined ? undefined : toIso(time)),
    })
  return { since: bound('since'), until: bound('until') }
}

/** Records per page. What a service does with more than it takes is its own to say. */
export const pageSizeType = integer(1, Number.MAX_SAFE_INTEGER)

/**
 * The params of every list: how many records, and how they are requested.
 *
 * @param noun the records, in the plural: `tests`
 * @param pageSizeLocation where the pages have their size
 */
export const listParams = (noun: string, pageSizeLocation: ParamLocation) => ({
  limit: param(integer(1, Number.MAX_SAFE_INTEGER), `Maximum number of ${noun}`),
  pageSize: param(
    pageSizeType,
    `${noun.charAt(0).toUpperCase()}${noun.slice(1)} per page; the hosted service takes up to 100`,
    { defaultText: String(defaultPageSize), location: pageSizeLocation },
  ),
  maxPages: param(integer(1, Number.MAX_SAFE_INTEGER), 'Maximum number of pages to fetch', {
    defaultText: String(defaultMaxPages),
  }),
})
