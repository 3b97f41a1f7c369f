import { pluralizeFirst } from '../domain/format.ts'
import { type TimeRange, windows } from '../domain/time-range.ts'
import { toIso } from '../domain/values/time.ts'
import { MergeqError, withPeriod } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import {
  createListReader,
  type ListContent,
  type ListReader,
  type ListResult,
  type ListSelection,
  type PageProtocol,
} from './list-reader.ts'
import { pagesOfTests } from './test-pages.ts'

export interface PaginationEnd
  extends Pick<ListResult, 'records' | 'complete' | 'isBroken' | 'shown' | 'total' | 'hidden' | 'problem'> {
  readonly notes: readonly string[]
  readonly incidents: readonly string[]
  readonly envelope: JsonObject
}

/**
 * Returns the error of a list that could not be read completely: `auth` if the token is the reason
 * (docs/reference/cli.md, "Lists of failing tests"). `failure` is the error that ended the list, if there was
 * one; `command` names the command in the message.
 */
export function incompleteListError(
  failure: MergeqError | undefined,
  problem: string | undefined,
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

/** Combines many requests into one response. Does no I/O. */
export interface Paginator extends Pick<ListReader, 'nextQuery' | 'take' | 'recover' | 'hasStarted'> {
  readonly content: ListContent
  finish(why?: string): PaginationEnd
}

/** How failing tests are listed (docs/reference/cli.md, "Lists of failing tests"). */
export interface PaginationPlan extends ListSelection {
  readonly range: TimeRange
}

/** A range in messages: `<start> to <end>` in ISO 8601. */
export const describeRange = ({ start, end }: TimeRange): string => `${toIso(start)} to ${toIso(end)}`

const sentencesOf = (
  { notes, isLimited }: ListResult,
  summary: string,
  { noun }: ListContent,
): Pick<PaginationEnd, 'notes' | 'incidents'> => ({
  incidents: notes,
  notes: [summary, ...notes, ...(isLimited ? [`This list is incomplete: there are more ${noun}s.`] : [])],
})

const failingTestPages: PageProtocol<TimeRange> = {
  ...pagesOfTests,
  query: ({ start, end }, token, pageSize) => ({
    start_time: toIso(start),
    end_time: toIso(end),
    ...pagesOfTests.pageQuery(token, pageSize),
  }),
  describe: describeRange,
}

interface ListSummary {
  describe(result: ListResult): string
  envelope(result: ListResult): JsonObject
}

export function paginateList<S extends object>(
  segments: readonly S[],
  protocol: PageProtocol<S>,
  selection: ListSelection,
  { describe, envelope }: ListSummary,
): Paginator {
  const reader = createListReader(segments, protocol, selection)
  return {
    ...reader,
    content: protocol.content,
    finish(why) {
      const result = reader.finish(why)
      return {
        ...result,
        ...sentencesOf(result, describe(result), protocol.content),
        envelope: envelope(result),
      }
    },
  }
}

/**
 * Lists failing tests of all windows and pages, each test once
 * (docs/reference/service.md, "list-failing-tests").
 */
export const paginateTests = ({ range, ...selection }: PaginationPlan): Paginator =>
  paginateList(windows(range), failingTestPages, selection, {
    describe: ({ shown }) => `${pluralizeFirst(shown, 'test')} failed from ${describeRange(range)}.`,
    envelope: result => pagesOfTests.envelope(result, { start: toIso(range.start), end: toIso(range.end) }),
  })
