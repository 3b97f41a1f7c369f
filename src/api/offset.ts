import { formatInteger, pluralize } from '../values/format.ts'

/** Where the next page of a list without tokens begins, or why it cannot be read further. */
export interface NextOffset {
  /** Empty at the end of the list. */
  readonly token: string
  readonly problem?: string
}

/** A page that was requested by its offset. */
export interface OffsetPage {
  readonly offset: number
  /** How many records it has. */
  readonly count: number
  /** Whether one of them was not on a page before. */
  readonly hasNew: boolean
  /** How many records all pages have, as this page says and as the page before said. */
  readonly total: number | undefined
  readonly totalBefore: number | undefined
  /** Names a record in messages. */
  readonly noun: string
}

/**
 * Returns what follows a page. Only a page that ends at the total, or without a total an empty one, is the last: a short
 * page in between must not look like the end. Every offset is another one, so that only the records show that pages
 * repeat.
 */
export function offsetAfter({ offset, count, hasNew, total, totalBefore, noun }: OffsetPage): NextOffset {
  const read = offset + count
  const stop = (problem: string): NextOffset => ({ token: String(read), problem })
  if (count > 0 && !hasNew) return stop(`the service returned the same ${noun}s twice`)
  if (total === undefined) return { token: count === 0 ? '' : String(read) }
  if (totalBefore !== undefined && total < totalBefore)
    return stop(
      `the service counted ${pluralize(totalBefore, noun)} and then ${formatInteger(total)}, so some may have been skipped`,
    )
  if (read > total || (count === 0 && read < total))
    return stop(`the service counted ${pluralize(total, noun)} and returned ${formatInteger(read)}`)
  return { token: read === total ? '' : String(read) }
}
