// What the service says of why a pull request is in its state, and what follows from it for a new submission
// (docs/reference/service.md, "Reasons").
import { getArray, getString, type JsonObject } from '../../base/json.ts'
import { shorten } from '../../values/format.ts'
import { isFailedOrCancelled, queuedStates, stateOf } from '../states.ts'
import { isInconclusive, type TestRun } from '../test-run.ts'
import { actorOfEvent, detailOfState, eventOfState, reasonOfEvent, submissionEvent } from '../timeline.ts'
import { type Again, type Causer, type Reason, reasonTable } from './reason-table.ts'

/** The words of the service, as every command gives them in JSON. */
export interface ServiceWords {
  readonly serviceReason: string | null
  readonly by: Causer | null
  readonly actor: string | null
  readonly again: Again | null
  /** Null if a wait could not read the words. */
  readonly mayBeMerged: boolean | null
}

/** What is known of why a pull request is in its state. */
export interface Explained {
  readonly words: ServiceWords
  /** In a sentence; null if there is nothing to say. */
  readonly sentence: string | null
  /** The entry of the table; undefined without a word, and for one that is not known. */
  readonly known: Reason | undefined
}

/** Returns what a word means in a state; undefined for one that is not known, or not in this state. */
export function findReason(state: string, word: string): Reason | undefined {
  const words = Object.entries(reasonTable).find(([known]) => known === state)?.[1] ?? {}
  const key = word.toLowerCase()
  return Object.hasOwn(words, key) ? words[key] : undefined
}

/** Returns what an event, or a record with the word itself, says of its state. */
export function explainEvent(state: string, event: JsonObject | undefined): Explained {
  const word = reasonOfEvent(event)
  const actor = actorOfEvent(event)
  const login = actor === undefined || actor.login === '' ? null : actor.login
  const whom = login === null ? '' : ` by ${shorten(login)}`
  const base = { serviceReason: word ?? null, actor: login, mayBeMerged: false }
  if (word === undefined) {
    const sentence =
      state === 'CANCELLED' && event !== undefined
        ? `It was cancelled${whom || (actor === undefined ? ' by the service or a program' : ' by a person')}.`
        : null
    return { words: { ...base, by: null, again: againWithoutWord(state) }, sentence, known: undefined }
  }
  const known = findReason(state, word)
  if (known === undefined) {
    const sentence = `The service says: ${shorten(word)}${whom}.`
    return { words: { ...base, by: 'unknown', again: 'look' }, sentence, known }
  }
  const { by, again, mayBeMerged = false, meaning } = known
  return {
    words: { ...base, serviceReason: word.toLowerCase(), by, again, mayBeMerged },
    sentence: meaning.replace('{by}', () => whom),
    known,
  }
}

/** Whether a pull request that left may have merged all the same; null if the words of the service were not read. */
export function mayHaveMerged(record: JsonObject): boolean | null {
  const { timeline, reason, actor } = record
  const areWordsRead = timeline !== undefined || reason != null || actor != null
  return areWordsRead || !isFailedOrCancelled(stateOf(record)) ? explainState(record).words.mayBeMerged : null
}

function againWithoutWord(state: string): Again | null {
  if (queuedStates.includes(state)) return 'queued'
  if (state === 'MERGED') return 'done'
  return isFailedOrCancelled(state) ? 'look' : null
}

/** The event of the state of a record; the record itself counts if it has the word. */
function eventOf(record: JsonObject): JsonObject | undefined {
  const { reason, actor } = record
  return reason != null || actor != null
    ? { reason: reason ?? null, actor: actor ?? null }
    : eventOfState(record)
}

/**
 * Returns why a pull request is in its state. Without a word of the service, a failed one is judged by its test run;
 * nobody is blamed for what nobody says.
 */
export function explainState(record: JsonObject, run?: TestRun): Explained {
  const state = stateOf(record)
  const explained = explainEvent(state, eventOf(record))
  if (explained.words.serviceReason !== null || !isFailedOrCancelled(state)) return explained
  const judged = (by: Causer, again: Again | null, sentence: string | null): Explained => ({
    ...explained,
    words: { ...explained.words, by, again },
    sentence,
  })
  const { again } = explained.words
  if (state === 'CANCELLED') return judged('unknown', again, explained.sentence)
  if (isInconclusive(run)) return judged('unknown', 'later', 'Its tests did not finish.')
  const causes = getArray({ causes: detailOfState(record, 'failureCausingStatuses') ?? null }, 'causes')
  return (run?.failingChecks ?? causes).length > 0
    ? judged('author', 'after-change', 'A required check failed.')
    : judged('unknown', again, 'The service does not say why it failed.')
}

/** Whether a failure is one of the test run, so that its failing checks explain it. */
export const isFailureOfTestRun = ({ words: { serviceReason } }: Explained): boolean =>
  serviceReason === null ||
  ['test_run_required_status_failed', 'test_run_timeout', 'test_run_failed_by_optimization'].includes(
    serviceReason,
  )

/** Whether a new submission is safe, and whether it needs a change first; null is not known. */
export const submissionsAgain: Readonly<
  Record<Again, { readonly safe: boolean | null; readonly needsChange: boolean }>
> = {
  later: { safe: true, needsChange: false },
  'after-change': { safe: true, needsChange: true },
  look: { safe: null, needsChange: false },
  no: { safe: false, needsChange: true },
  queued: { safe: null, needsChange: false },
  done: { safe: null, needsChange: false },
}

export const causerTexts: Readonly<Record<Causer, string>> = {
  author: 'the pull request itself',
  ahead: 'a pull request ahead of it',
  queue: 'the queue',
  setup: 'the setup of the queue or of CI',
  host: 'GitHub',
  push: 'a push',
  person: 'a person',
  program: 'a program',
  service: 'the service',
  unknown: 'nobody known',
}

export const againTexts: Readonly<Record<Again, string>> = {
  later: 'later',
  'after-change': 'after a change',
  look: 'look first',
  no: 'no',
  queued: 'it is in the queue',
  done: 'it has merged',
}

/** Who submitted a pull request: the login of the last submission, and the author, as far as they are known. */
export function submitters(record: JsonObject): {
  readonly author?: string
  readonly submittedBy?: string
} {
  const author = getString(record, 'prAuthor') ?? ''
  const submittedBy = actorOfEvent(submissionEvent(record))?.login ?? ''
  return { ...(author && { author }), ...(submittedBy && { submittedBy }) }
}

/** For how long a wait reads on while a pull request that ended may have merged, in milliseconds. */
export const mergeDoubtTime = 60_000

const pausesBeforeAgain = [5, 15, 30].map(minutes => minutes * 60_000)

/** Returns the pause before the next submission, in milliseconds; `ended` is how many have ended, from 1. */
export function pauseBeforeAgain({ known }: Explained, ended: number): number {
  const last = pausesBeforeAgain.length - 1
  return known?.again === 'later' ? (pausesBeforeAgain[Math.min(ended - 1, last)] ?? 0) : 0
}

/**
 * Whether a pull request that left is submitted again without a person: after `later`, and after a failure without a
 * known word whose tests did not finish; with `any` after each failure, but never where it may have merged.
 */
export function isSubmittedAgain(
  record: JsonObject,
  run: TestRun | undefined,
  resubmit: 'safe' | 'any',
): boolean {
  const { words, known } = explainState(record, run)
  if (words.mayBeMerged) return false
  if (words.again === 'later') return true
  if (stateOf(record) !== 'FAILED') return false
  return resubmit === 'any' || (known === undefined && isInconclusive(run))
}
