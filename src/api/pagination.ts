import type { Failure } from '../errors.ts'
import { type Json, type JsonObject, textAt } from '../json.ts'
import { count, marked } from '../output/view.ts'
import { openIds } from '../domain/id-table.ts'
import type { Range } from '../domain/time-range.ts'
import type { Reply } from './decode.ts'
import { type Place, type Step, stepsThrough } from '../domain/page-cursor.ts'

/** What is left to say when a walk has ended. */
export interface Finish {
  /** Records that were held back until now. */
  readonly records: readonly JsonObject[]
  readonly complete: boolean
  /** True when the list ended early for a reason that the person did not ask for. */
  readonly broken: boolean
  readonly notes: readonly string[]
  /** What stands beside the records in the one document that stands for all pages. */
  readonly around: JsonObject
}

/** Where a walk stands, and what it has printed: enough to go on in another run. */
export interface Mark extends Place {
  readonly range: Range
  /** Pages and tests of all runs so far. */
  readonly pages: number
  readonly tests: number
  readonly complete: boolean
}

/** Many requests that make one answer: what to ask next, what to print, and how it ended. Pure but for its own count. */
export interface Walk {
  /** The file that says how far earlier runs came, where one is named. */
  readonly resumeFile?: string
  /** What to add to the next request; undefined at the end. */
  ask(): Readonly<Record<string, Json>> | undefined
  /** Takes an answer; the records to print now. */
  take(reply: Reply): readonly JsonObject[]
  /** Whether the walk goes on in spite of a failure: a page token that expired begins its window again, once. */
  survives(failure: Failure): boolean
  /** Whether an answer was taken: from then on a failure leaves a part worth printing. */
  begun(): boolean
  mark(): Mark
  /** Goes on where another run came to, which had shown these ids; before the first request. */
  goOn(mark: Mark, ids: Iterable<string>): void
  /** The ids that were met since this was last asked. */
  news(): readonly string[]
  /** Ends the walk; `why` says what broke it, where something did. */
  finish(why?: string): Finish
}

/** A condition on records, under the name of its flag. */
export interface Filter {
  readonly flag: string
  keeps(record: JsonObject): boolean
}

/** How failing tests are walked (CLI.md section 6). */
export interface WalkPlan {
  readonly range: Range
  readonly pageSize: number
  readonly maxPages: number
  /** One page only, the one that this token names. */
  readonly pageToken?: string
  readonly limit: number
  readonly filters: readonly Filter[]
  /** Collects everything first and orders it; undefined streams. */
  readonly order?: (one: JsonObject, other: JsonObject) => number
  readonly resumeFile?: string
}

export const iso = (time: number): string => new Date(time).toISOString()

/** `start` to `end`, as every message names a range. */
export const spelled = ({ start, end }: Range): string => `${iso(start)} to ${iso(end)}`

/** Walks all windows and pages of a list of failing tests, each test once (service-api.md section 4.4). */
export function walkTests(plan: WalkPlan): Walk {
  let range = plan.range
  let steps = stepsThrough(range, plan.maxPages, { window: 0, token: plan.pageToken ?? '' })
  const met = openIds()
  let news: string[] = []
  const held: JsonObject[] = []
  const hidden = new Map<string, number>()
  const again: string[] = []
  let earlier = { pages: 0, tests: 0 }
  let [shown, repeated] = [0, 0]
  let [limited, isOnePageOver] = [false, false]
  let [lastPage, frame]: [JsonObject, JsonObject] = [{}, {}]
  const next = (): Step | undefined => (limited || isOnePageOver ? undefined : steps.next())

  /** Notes an id; whether its test was never met, and whether this reading of the window had not shown it. */
  const meet = (record: JsonObject) => {
    const id = textAt(record, 'id')
    if (id === undefined) return { isFirst: true, isNew: true }
    const last = met.meet(id, steps.reading())
    if (last === undefined && plan.resumeFile !== undefined) news.push(id)
    return { isFirst: last === undefined, isNew: last !== steps.reading() }
  }

  const isKept = (record: JsonObject): boolean => {
    const by = plan.filters.find(filter => !filter.keeps(record))
    if (by !== undefined) hidden.set(by.flag, (hidden.get(by.flag) ?? 0) + 1)
    return by === undefined
  }

  return {
    ...(plan.resumeFile === undefined ? {} : { resumeFile: plan.resumeFile }),
    ask() {
      const step = next()
      if (step === undefined) return undefined
      return {
        start_time: iso(step.start),
        end_time: iso(step.end),
        page_query: { page_size: plan.pageSize, page_token: step.token },
      }
    },
    take({ page = {}, frame: { tests: _, ...around } = {}, records }) {
      const meetings = records.map(meet)
      const unseen = records.filter((_, index) => meetings[index]?.isFirst)
      repeated += records.length - unseen.length
      const wanted = unseen.filter(isKept)
      lastPage = page
      frame = around
      const token = textAt(page, 'next_page_token') ?? ''
      steps.pass(
        token,
        meetings.some(({ isNew }) => isNew),
      )
      if (plan.pageToken !== undefined) {
        isOnePageOver = true
        limited = token !== ''
      }
      if (plan.order !== undefined) {
        for (const record of wanted) held.push(record)
        return []
      }
      const room = plan.limit - shown
      if (wanted.length > room || (wanted.length === room && next() !== undefined)) limited = true
      const now = wanted.slice(0, room)
      shown += now.length
      return now
    },
    survives({ details: { status, said = '' } }) {
      if ((status !== 400 && status !== 404) || !/token/i.test(said) || plan.pageToken !== undefined)
        return false
      const window = next()
      if (window === undefined || !steps.restart()) return false
      again.push(`A page token had expired: ${spelled(window)} was read again from its first page.`)
      return true
    },
    begun: () => steps.pages() > 0,
    mark: () => ({
      ...steps.place(),
      range,
      pages: earlier.pages + steps.pages(),
      tests: earlier.tests + shown,
      complete: steps.isOver(),
    }),
    goOn(mark, ids) {
      range = mark.range
      earlier = mark
      steps = stepsThrough(range, plan.maxPages, mark)
      for (const id of ids) met.meet(id, 0)
    },
    news() {
      const since = news
      news = []
      return since
    },
    finish(why) {
      const trouble = steps.trouble() ?? why
      const sorted = plan.order === undefined ? [] : held.sort(plan.order)
      if (sorted.length > plan.limit) limited = true
      const records = sorted.slice(0, plan.limit)
      shown += records.length
      const complete = (steps.isOver() || isOnePageOver) && !limited && trouble === undefined
      const { pages, tests } = earlier
      const before = pages === 0 ? '' : `, ${marked(tests)} of them printed by earlier runs`
      const notes = [`${count(tests + shown, 'test')} that failed from ${spelled(range)}${before}.`, ...again]
      if (repeated > 0) notes.push(`${count(repeated, 'repeated row')} left out: each test is shown once.`)
      if (hidden.size > 0) notes.push(told(hidden))
      if (limited) notes.push(`There are more: this is not the whole list.`)
      if (trouble !== undefined) notes.push(`The list is incomplete: ${trouble}.`)
      const totals = { total_rows: shown, total_pages: steps.pages() }
      return {
        records,
        complete,
        broken: !complete && !limited,
        notes,
        around: {
          ...frame,
          page: steps.pages() === 1 ? lastPage : totals,
          window: { start: iso(range.start), end: iso(range.end), complete },
        },
      }
    },
  }
}

/** `2 tests hidden by --owner, 1 by --name.` */
const told = (hidden: ReadonlyMap<string, number>): string =>
  `${[...hidden]
    .map(([flag, number], index) =>
      index === 0 ? `${count(number, 'test')} hidden by ${flag}` : `${marked(number)} by ${flag}`,
    )
    .join(', ')}.`
