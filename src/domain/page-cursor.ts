import { type Range, windows } from './time-range.ts'

/** One request of a walk: a window, and the token of its page; an empty one is the first page. */
export interface Step extends Range {
  readonly token: string
}

/** Where a walk stands: the window, counted from the newest, and the token of the page that comes next in it. */
export interface Place {
  readonly window: number
  readonly token: string
}

/** The way through all windows and pages of a range. It asks nothing and knows no records: it counts. */
export interface Steps {
  /** The page that comes next; undefined at the end, and where it cannot go on. */
  next(): Step | undefined
  /** Goes past a page: `token` names the one behind it, `isNew` says whether it held what the window had not shown. */
  pass(token: string, isNew: boolean): void
  /** Begins a window again whose token has expired: once for each window, and never for its first page. */
  restart(): boolean
  place(): Place
  /** Which reading of which window this is, from 1 on: changes with every window and every restart. */
  reading(): number
  /** So many pages were passed. */
  pages(): number
  /** Whether every window was walked to its end. */
  isOver(): boolean
  /** Why it cannot go on, where it cannot. */
  trouble(): string | undefined
}

/** After so many pages in a row without anything new a list is taken to have no end. */
const mostFruitless = 100

/** Walks the windows of a range, the newest first, and in each the pages as their tokens say. */
export function stepsThrough(range: Range, maxPages: number, from: Place = { window: 0, token: '' }): Steps {
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
    pass(next, isNew) {
      pages++
      fruitless = isNew ? 0 : fruitless + 1
      if (next === '') begin(window + 1)
      else if (next === token || tokens.has(next)) trouble = 'the service gave a page token a second time'
      else if (fruitless >= mostFruitless) trouble = `${mostFruitless} pages in a row held no new test`
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
    reading: () => reading,
    pages: () => pages,
    isOver: () => window >= cut.length,
    trouble: () => trouble,
  }
}
