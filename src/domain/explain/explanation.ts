import type { JsonObject } from '../../json.ts'
import type { CommandWords } from '../suggested-command.ts'
import type { TestRun } from './test-run.ts'

/** `held` means PENDING_FAILURE, a state from which a pull request may still merge. */
export type ExplanationVerdict =
  | 'waiting'
  | 'blocked'
  | 'testing'
  | 'held'
  | 'dropped'
  | 'merged'
  | 'never-submitted'
  | 'unknown'

export interface UnreadSource {
  readonly what: 'queue' | 'test run'
  readonly why: string
}

export interface ExplainSources {
  readonly pr: number
  readonly targetBranch: string
  /** Returns a command line about the same queue. */
  commandLine(words: CommandWords): string
  /** The pull request's record; undefined if the service knows no submission (404). */
  readonly record: JsonObject | undefined
  /** Null if there is no queue (404), undefined if the queue could not be read. */
  readonly queue: JsonObject | null | undefined
  readonly run: TestRun | undefined
  readonly unread: readonly UnreadSource[]
}

/** Whether running `pr submit` now is safe; `safe` is null if that is unknown. */
export interface SubmitAgain {
  readonly safe: boolean | null
  readonly why: string
}

/** A next step: a command line of mergeq, or, if `command` is null, an action outside mergeq. */
export interface NextStep {
  readonly command: string | null
  readonly why: string
}

/** Why a pull request is not merging. The output of `pr explain --json` has exactly these keys. */
export interface Explanation {
  readonly pr: number
  readonly targetBranch: string
  readonly title: string | null
  readonly verdict: ExplanationVerdict
  readonly state: string | null
  /** When the pull request entered the state, as the service wrote it. */
  readonly since: string | null
  readonly queue: {
    readonly state: string | null
    /** The position, from 1; null if the queue does not list the pull request. */
    readonly position: number | null
    readonly length: number
    readonly ahead: readonly number[]
    readonly testing: number
    readonly concurrency: number | null
  } | null
  readonly testRun: TestRun | null
  /** The most important reason first; `code` is stable, `message` is text for people. */
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
  readonly next: readonly NextStep[]
  readonly submitAgain: SubmitAgain
  readonly unread: readonly UnreadSource[]
}
