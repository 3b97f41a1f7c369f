import type { JsonObject } from '../../json.ts'
import type { NextStep } from './finding.ts'
import type { TestRun } from './test-run.ts'

/** How a pull request stands, in one word: `held` is PENDING_FAILURE, which may still merge. */
export type ExplanationVerdict =
  | 'waiting'
  | 'blocked'
  | 'testing'
  | 'held'
  | 'dropped'
  | 'merged'
  | 'never-submitted'
  | 'unknown'

/** What could not be read, and why. */
export interface UnreadSource {
  readonly what: 'queue' | 'test run'
  readonly why: string
}

/** What was read of a pull request. */
export interface ExplainSources {
  readonly pr: number
  readonly targetBranch: string
  /**
   * What must be said again for another command to mean the same queue: empty, or flags with a blank before
   * each.
   */
  readonly flags: string
  /** Undefined when the service knows of no submission (404). */
  readonly record: JsonObject | undefined
  /** Null when there is no queue (404), undefined when it could not be read. */
  readonly queue: JsonObject | null | undefined
  readonly run: TestRun | undefined
  readonly unread: readonly UnreadSource[]
}

/** Whether `pr submit` does no harm now; null where that cannot be told. */
export interface SubmitAgain {
  readonly safe: boolean | null
  readonly why: string
}

/**
 * Why a pull request is not merging. What `pr explain --json` prints holds exactly these keys, and all of
 * them.
 */
export interface Explanation {
  readonly pr: number
  readonly targetBranch: string
  readonly title: string | null
  readonly verdict: ExplanationVerdict
  readonly state: string | null
  /** When it came into that state, as the service wrote it. */
  readonly since: string | null
  readonly queue: {
    readonly state: string | null
    /** Counted from 1; null when the queue does not list it. */
    readonly position: number | null
    readonly length: number
    readonly ahead: readonly number[]
    readonly testing: number
    readonly concurrency: number | null
  } | null
  readonly testRun: TestRun | null
  /** What matters most comes first; `code` is stable, `message` is for people. */
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
  readonly next: readonly NextStep[]
  readonly submitAgain: SubmitAgain
  readonly unread: readonly UnreadSource[]
}
