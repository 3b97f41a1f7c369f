import { type TimeRange, windows } from './time-range.ts'

/** One request of a walk: a window, and the token of its page; an empty one is the first page. */
export interface PageRequest extends TimeRange {
  readonly token: string
}

/**
 * Where a walk stands: the window, counted from the newest, and the token of the page that comes next in it.
 */
export interface PagePosition {
  readonly window: number
  readonly token: string
}

/** The way through all windows and pages of a range. It asks nothing and knows no records: it counts. */
export interface PageCursor {
  /** The page that comes next; undefined at the end, and where it cannot go on. */
  next(): PageRequest | undefined
  /**
   * Goes past a page: `token` names the one behind it, `isNew` says whether it held what the window had not
   * shown.
   */
  advance(token: string, isNew: boolean): void
  /** Begins a window again whose token has expired: once for each window, and never for its first page. */
  restart(): boolean
  place(): PagePosition
  /** Which reading of which window this is, from 1 on: changes with every window and every restart. */
  pass(): number
  /** So many pages were passed. */
  pages(): number
  /** Whether every window was walked to its end. */
  isOver(): boolean
  /** Why it cannot go on, where it cannot. */
  problem(): string | undefined
}

/** After so many pages in a row without anything new a list is taken to have no end. */
const maxPagesWithoutNews = 100

/** Walks the windows of a range, the newest first, and in each the pages as their tokens say. */
export function createPageCursor(
  range: TimeRange,
  maxPages: number,
  from: PagePosition = { window: 0, token: '' },
): PageCursor {
  const cut = windows(range)
  const tokens = new Set<string>()
  let { window, token } = from
  let [pages, fruitless, reading] = [0, 0, 1]
  let restarted = -1
  let trouble: string | undefined

  const begin = (which: number) => {
    window = which
    token = ''
    tokens.clear()
    fruitless = 0
    reading++
  }
  return {
    next() {
      const range = cut[window]
      return range === undefined || trouble !== undefined ? undefined : { ...range, token }
    },
    advance(next, isNew) {
      pages++
      fruitless = isNew ? 0 : fruitless + 1
      if (next === '') begin(window + 1)
      else if (next === token || tokens.has(next)) trouble = 'the service gave a page token a second time'
      else if (fruitless >= maxPagesWithoutNews)
        trouble = `${maxPagesWithoutNews} pages in a row held no new test`
      else {
        tokens.add(next)
        token = next
      }
      if (window < cut.length && pages >= maxPages)
        trouble ??= `there are more than ${maxPages} pages (raise this with --max-pages)`
    },
    restart() {
      if (token === '' || restarted === window) return false
      restarted = window
      begin(window)
      return true
    },
    place: () => ({ window, token }),
    pass: () => reading,
    pages: () => pages,
    isOver: () => window >= cut.length,
    problem: () => trouble,
  }
}
