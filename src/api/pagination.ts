import { formatInteger, pluralize } from '../domain/format.ts'
import { createIdTable } from '../domain/id-table.ts'
import { createPageCursor, type PagePosition, type PageRequest } from '../domain/page-cursor.ts'
import type { TimeRange } from '../domain/time-range.ts'
import type { MergeqError } from '../errors.ts'
import { getString, type Json, type JsonObject } from '../json.ts'
import type { DecodedResponse } from './decode.ts'

/** What is left to say when a walk has ended. */
export interface PaginationEnd {
  /** Records that were held back until now. */
  readonly records: readonly JsonObject[]
  readonly complete: boolean
  /** True when the list ended early for a reason that the person did not ask for. */
  readonly isBroken: boolean
  readonly notes: readonly string[]
  /** What stands beside the records in the one document that stands for all pages. */
  readonly envelope: JsonObject
}

/** Where a walk stands, and what it has printed: enough to go on in another run. */
export interface Checkpoint extends PagePosition {
  readonly range: TimeRange
  /** Pages and tests of all runs so far. */
  readonly pages: number
  readonly tests: number
  readonly complete: boolean
}

/** Many requests that make one answer: what to ask next, what to print, and how it ended. Pure but for its own count. */
export interface Paginator {
  /** The file that says how far earlier runs came, where one is named. */
  readonly resumeFile?: string
  /** What to add to the next request; undefined at the end. */
  nextQuery(): Readonly<Record<string, Json>> | undefined
  /** Takes an answer; the records to print now. */
  take(reply: DecodedResponse): readonly JsonObject[]
  /** Whether the walk goes on in spite of a failure: a page token that expired begins its window again, once. */
  recover(failure: MergeqError): boolean
  /** Whether an answer was taken: from then on a failure leaves a part worth printing. */
  hasStarted(): boolean
  checkpoint(): Checkpoint
  /** Goes on where another run came to, which had shown these ids; before the first request. */
  resume(mark: Checkpoint, ids: Iterable<string>): void
  /** The ids that were met since this was last asked. */
  newIds(): readonly string[]
  /** Ends the walk; `why` says what broke it, where something did. */
  finish(why?: string): PaginationEnd
}

/** A condition on records, under the name of its flag. */
export interface RecordFilter {
  readonly flag: string
  keeps(record: JsonObject): boolean
}

/** How failing tests are walked (CLI.md section 6). */
export interface PaginationPlan {
  readonly range: TimeRange
  readonly pageSize: number
  readonly maxPages: number
  /** One page only, the one that this token names. */
  readonly pageToken?: string
  readonly limit: number
  readonly filters: readonly RecordFilter[]
  /** Collects everything first and orders it; undefined streams. */
  readonly order?: (one: JsonObject, other: JsonObject) => number
  readonly resumeFile?: string
}

export const toIso = (time: number): string => new Date(time).toISOString()

/** `start` to `end`, as every message names a range. */
export const describeRange = ({ start, end }: TimeRange): string => `${toIso(start)} to ${toIso(end)}`

/** Walks all windows and pages of a list of failing tests, each test once (service-api.md section 4.4). */
export function paginateTests(plan: PaginationPlan): Paginator {
  let range = plan.range
  let steps = createPageCursor(range, plan.maxPages, { window: 0, token: plan.pageToken ?? '' })
  const met = createIdTable()
  let news: string[] = []
  const held: JsonObject[] = []
  const hidden = new Map<string, number>()
  const again: string[] = []
  let earlier = { pages: 0, tests: 0 }
  let [shown, repeated] = [0, 0]
  let [limited, isOnePageOver] = [false, false]
  let [lastPage, frame]: [JsonObject, JsonObject] = [{}, {}]
  const next = (): PageRequest | undefined => (limited || isOnePageOver ? undefined : steps.next())

  /** Notes an id; whether its test was never met, and whether this reading of the window had not shown it. */
  const meet = (record: JsonObject) => {
    const id = getString(record, 'id')
    if (id === undefined) return { isFirst: true, isNew: true }
    const last = met.add(id, steps.pass())
    if (last === undefined && plan.resumeFile !== undefined) news.push(id)
    return { isFirst: last === undefined, isNew: last !== steps.pass() }
  }

  const isKept = (record: JsonObject): boolean => {
    const by = plan.filters.find(filter => !filter.keeps(record))
    if (by !== undefined) hidden.set(by.flag, (hidden.get(by.flag) ?? 0) + 1)
    return by === undefined
  }

  return {
    ...(plan.resumeFile === undefined ? {} : { resumeFile: plan.resumeFile }),
    nextQuery() {
      const step = next()
      if (step === undefined) return undefined
      return {
        start_time: toIso(step.start),
        end_time: toIso(step.end),
        page_query: { page_size: plan.pageSize, page_token: step.token },
      }
    },
    take({ page = {}, envelope: { tests: _, ...around } = {}, records }) {
      const meetings = records.map(meet)
      const unseen = records.filter((_, index) => meetings[index]?.isFirst)
      repeated += records.length - unseen.length
      const wanted = unseen.filter(isKept)
      lastPage = page
      frame = around
      const token = getString(page, 'next_page_token') ?? ''
      steps.advance(
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
    recover({ details: { status, serviceMessage = '' } }) {
      if (
        (status !== 400 && status !== 404) ||
        !/token/i.test(serviceMessage) ||
        plan.pageToken !== undefined
      )
        return false
      const window = next()
      if (window === undefined || !steps.restart()) return false
      again.push(`A page token had expired: ${describeRange(window)} was read again from its first page.`)
      return true
    },
    hasStarted: () => steps.pages() > 0,
    checkpoint: () => ({
      ...steps.place(),
      range,
      pages: earlier.pages + steps.pages(),
      tests: earlier.tests + shown,
      complete: steps.isOver(),
    }),
    resume(mark, ids) {
      range = mark.range
      earlier = mark
      steps = createPageCursor(range, plan.maxPages, mark)
      for (const id of ids) met.add(id, 0)
    },
    newIds() {
      const since = news
      news = []
      return since
    },
    finish(why) {
      const trouble = steps.problem() ?? why
      const sorted = plan.order === undefined ? [] : held.sort(plan.order)
      if (sorted.length > plan.limit) limited = true
      const records = sorted.slice(0, plan.limit)
      shown += records.length
      const complete = (steps.isOver() || isOnePageOver) && !limited && trouble === undefined
      const { pages, tests } = earlier
      const before = pages === 0 ? '' : `, ${formatInteger(tests)} of them printed by earlier runs`
      const notes = [
        `${pluralize(tests + shown, 'test')} that failed from ${describeRange(range)}${before}.`,
        ...again,
      ]
      if (repeated > 0)
        notes.push(`${pluralize(repeated, 'repeated row')} left out: each test is shown once.`)
      if (hidden.size > 0) notes.push(told(hidden))
      if (limited) notes.push(`There are more: this is not the whole list.`)
      if (trouble !== undefined) notes.push(`The list is incomplete: ${trouble}.`)
      const totals = { total_rows: shown, total_pages: steps.pages() }
      return {
        records,
        complete,
        isBroken: !complete && !limited,
        notes,
        envelope: {
          ...frame,
          page: steps.pages() === 1 ? lastPage : totals,
          window: { start: toIso(range.start), end: toIso(range.end), complete },
        },
      }
    },
  }
}

/** `2 tests hidden by --owner, 1 by --name.` */
const told = (hidden: ReadonlyMap<string, number>): string =>
  `${[...hidden]
    .map(([flag, number], index) =>
      index === 0 ? `${pluralize(number, 'test')} hidden by ${flag}` : `${formatInteger(number)} by ${flag}`,
    )
    .join(', ')}.`
