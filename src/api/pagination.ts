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

export interface PaginationEnd
  extends Pick<ListResult, 'records' | 'complete' | 'isBroken' | 'shown' | 'total' | 'hidden' | 'problem'> {
  /** All sentences about the list: its summary, what else happened, and whether there are more records. */
  readonly notes: readonly string[]
  /** The sentences about restarts, repeated rows and hidden records. */
  readonly incidents: readonly string[]
  /** The members beside the records in the one document for all pages. */
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

/**
 * Combines many requests into one response: the next request, the records to print, and the end. Does no I/O.
 */
export interface Paginator extends Pick<ListReader, 'nextQuery' | 'take' | 'recover' | 'hasStarted'> {
  readonly content: ListContent
  finish(why?: string): PaginationEnd
}

const sentencesOf = (
  { notes, isLimited }: ListResult,
  summary: string,
  { noun }: ListContent,
): Pick<PaginationEnd, 'notes' | 'incidents'> => ({
  incidents: notes,
  notes: [summary, ...notes, ...(isLimited ? [`This list is incomplete: there are more ${noun}s.`] : [])],
})

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
