import { type TimeRange, windows } from './time-range.ts'

/** The next page to request: a time window, and the token of the page, which is empty for the first page. */
export interface PageRequest extends TimeRange {
  readonly token: string
}

/**
 * A position in the list: the index of the window, 0 for the newest, and the token of the next page in it.
 */
export interface PagePosition {
  readonly window: number
  readonly token: string
}

/** A cursor over all windows and pages of a time range. It sends no requests and stores no records. */
export interface PageCursor {
  /** Returns the next page to request; undefined at the end and after a problem. */
  next(): PageRequest | undefined
  /**
   * Moves past a page. `nextToken` is the token of the following page, or empty at the end of the window;
   * `hasNew` says whether the page had records that are new in this window.
   */
  advance(nextToken: string, hasNew: boolean): void
  /**
   * Moves to the start of the current window, after a token has expired, and returns true. Returns false
   * without moving at a window's first page and if this window was restarted before.
   */
  restart(): boolean
  /** Returns the current position. */
  place(): PagePosition
  /** Returns the number of the current pass, from 1: each window and each restart begins a new pass. */
  pass(): number
  /** Returns the number of pages moved past. */
  pages(): number
  /** Whether every window was read to its end. */
  isOver(): boolean
  /** Returns why the cursor cannot continue; undefined if it can. */
  problem(): string | undefined
}

/** The number of consecutive pages without new records after which a list counts as endless. */
const maxPagesWithoutNewRecords = 100

/**
 * Creates a cursor over the windows of a range, the newest first. `maxPages` limits the number of pages;
 * `from` is the position to start at.
 */
export function createPageCursor(
  range: TimeRange,
  maxPages: number,
  from: PagePosition = { window: 0, token: '' },
): PageCursor {
  const allWindows = windows(range)
  const tokens = new Set<string>()
  let { window, token } = from
  let [pages, pagesWithoutNewRecords, pass] = [0, 0, 1]
  let restartedWindow = -1
  let problem: string | undefined

  const startWindow = (index: number) => {
    window = index
    token = ''
    tokens.clear()
    pagesWithoutNewRecords = 0
    pass++
  }
  return {
    next() {
      const range = allWindows[window]
      return range === undefined || problem !== undefined ? undefined : { ...range, token }
    },
    advance(nextToken, hasNew) {
      pages++
      pagesWithoutNewRecords = hasNew ? 0 : pagesWithoutNewRecords + 1
      if (nextToken === '') startWindow(window + 1)
      else if (nextToken === token || tokens.has(nextToken))
        problem = 'the service returned the same page token twice'
      else if (pagesWithoutNewRecords >= maxPagesWithoutNewRecords)
        problem = `${maxPagesWithoutNewRecords} pages in a row contained no new tests`
      else {
        tokens.add(nextToken)
        token = nextToken
      }
      if (window < allWindows.length && pages >= maxPages)
        problem ??= `the list has more than ${maxPages} pages (to read more, raise --max-pages)`
    },
    restart() {
      if (token === '' || restartedWindow === window) return false
      restartedWindow = window
      startWindow(window)
      return true
    },
    place: () => ({ window, token }),
    pass: () => pass,
    pages: () => pages,
    isOver: () => window >= allWindows.length,
    problem: () => problem,
  }
}
