import { pluralize } from './format.ts'

/** The next page to request: its segment, and the token of the page, which is empty for the first page. */
type PageRequest<S extends object> = S & { readonly token: string }

/**
 * A cursor over all segments and pages of a list. A segment is a part of the list with pages of its own, such
 * as a time window. The cursor sends no requests and stores no records.
 */
export interface PageCursor<S extends object> {
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
