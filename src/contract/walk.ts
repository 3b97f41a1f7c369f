import { count, type Json, type JsonObject, textAt } from '../view/shapes.ts'
import { widestWindow } from './limits.ts'
import type { Reply } from './reply.ts'

/** A range of time in milliseconds since 1970: start inclusive, end exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Windows of at most 7 days that touch, never overlap and cover the range exactly, the newest first. */
export function windows({ start, end }: Range): readonly Range[] {
  const cut: Range[] = []
  for (let to = end; to > start; to -= widestWindow)
    cut.push({ start: Math.max(start, to - widestWindow), end: to })
  return cut
}

/** What is left to say when a walk has ended. */
export interface Finish {
  /** Records that were held back until now. */
  readonly records: readonly JsonObject[]
  readonly complete: boolean
  /** True when the list ended early for a reason that the person did not ask for. */
  readonly broken: boolean
  readonly notes: readonly string[]
  /** The one document that stands for all pages. */
  document(records: readonly JsonObject[]): JsonObject
}

/** Many requests that make one answer: what to ask next, what to print, and how it ended. Pure but for its own count. */
export interface Walk {
  /** What to add to the next request; undefined at the end. */
  ask(): Readonly<Record<string, Json>> | undefined
  /** Takes an answer; the records to print now. */
  take(reply: Reply): readonly JsonObject[]
  /** Whether an answer was taken: from then on a failure leaves a part worth printing. */
  begun(): boolean
  /** Ends the walk; `why` says what broke it, where something did. */
  finish(why?: string): Finish
}

/** How failing tests are walked (CLI.md section 6). */
export interface WalkPlan {
  readonly range: Range
  readonly pageSize: number
  readonly maxPages: number
  /** One page only, the one that this token names. */
  readonly pageToken?: string
  readonly limit: number
  keep(record: JsonObject): boolean
  /** Collects everything first and orders it; undefined streams. */
  readonly order?: (one: JsonObject, other: JsonObject) => number
}

/** After so many pages in a row without a new test a list is taken to have no end. */
const mostFruitless = 100

const iso = (time: number): string => new Date(time).toISOString()

/** Walks all windows and pages of a list of failing tests, each test once (service-api.md section 4.4). */
export function walkTests(plan: WalkPlan): Walk {
  const cut = windows(plan.range)
  const ids = new Set<string>()
  const tokens = new Set<string>()
  const held: JsonObject[] = []
  let window = 0
  let token = plan.pageToken ?? ''
  let [pages, shown, repeated, hidden, fruitless] = [0, 0, 0, 0, 0]
  let limited = false
  let trouble: string | undefined
  let [lastPage, frame]: [JsonObject, JsonObject] = [{}, {}]
  const done = () => window >= cut.length || limited || trouble !== undefined

  const fresh = (record: JsonObject): boolean => {
    const id = textAt(record, 'id')
    if (id === undefined) return true
    if (ids.has(id)) {
      repeated++
      return false
    }
    ids.add(id)
    return true
  }

  const turn = (next: string) => {
    pages++
    if (plan.pageToken !== undefined) {
      window = cut.length
      limited ||= next !== ''
    } else if (next === '') {
      window++
      token = ''
      tokens.clear()
    } else if (tokens.has(next)) trouble = 'the service gave a page token a second time'
    else if (fruitless >= mostFruitless) trouble = `${mostFruitless} pages in a row held no new test`
    else {
      tokens.add(next)
      token = next
    }
    if (!done() && pages >= plan.maxPages)
      trouble = `there are more than ${plan.maxPages} pages (raise this with --max-pages)`
  }

  return {
    ask() {
      const range = cut[window]
      if (range === undefined || done()) return undefined
      return {
        start_time: iso(range.start),
        end_time: iso(range.end),
        page_query: { page_size: plan.pageSize, page_token: token },
      }
    },
    take({ page = {}, frame: around = {}, records }) {
      const unseen = records.filter(fresh)
      fruitless = unseen.length === 0 ? fruitless + 1 : 0
      const wanted = unseen.filter(record => plan.keep(record))
      hidden += unseen.length - wanted.length
      lastPage = page
      frame = around
      turn(textAt(page, 'next_page_token') ?? '')
      if (plan.order !== undefined) {
        held.push(...wanted)
        return []
      }
      const room = plan.limit - shown
      if (wanted.length > room || (wanted.length === room && !done())) limited = true
      const now = wanted.slice(0, room)
      shown += now.length
      return now
    },
    begun: () => pages > 0,
    finish(why) {
      trouble ??= why
      const sorted = plan.order === undefined ? [] : held.sort(plan.order)
      if (sorted.length > plan.limit) limited = true
      const records = sorted.slice(0, plan.limit)
      shown += records.length
      const complete = window >= cut.length && !limited && trouble === undefined
      const { start, end } = plan.range
      const notes = [`${count(shown, 'test')} that failed from ${iso(start)} to ${iso(end)}.`]
      if (repeated > 0) notes.push(`${count(repeated, 'repeated row')} left out: each test is shown once.`)
      if (hidden > 0) notes.push(`${count(hidden, 'test')} hidden by filters.`)
      if (limited) notes.push(`There are more: this is not the whole list.`)
      if (trouble !== undefined) notes.push(`The list is incomplete: ${trouble}.`)
      return {
        records,
        complete,
        broken: !complete && !limited,
        notes,
        document: tests => ({
          ...frame,
          tests,
          page: pages === 1 ? lastPage : { total_rows: tests.length, total_pages: pages },
          window: { start: iso(start), end: iso(end), complete },
        }),
      }
    },
  }
}
