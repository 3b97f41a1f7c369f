// The public types of mergeq as a library. They import nothing.

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** The pagination of a list; for a list that was merged from several pages, only the totals. */
export interface Page {
  readonly total_rows?: number
  readonly total_pages?: number
  readonly next_page_token?: string
  readonly prev_page_token?: string
  readonly last_page_token?: string
  readonly page_index?: number
}

/** The range of time that a list of tests covers. */
export interface TimeWindow {
  /** Inclusive, in ISO 8601. */
  readonly start: string
  /** Exclusive, in ISO 8601. */
  readonly end: string
  /** Whether all failing tests of the range were read. */
  readonly complete: boolean
}

/** Whether all records of a list were read. */
export interface ListWindow {
  readonly complete: boolean
}

/** What a list of pull requests covers. */
export interface PullRequestWindow extends ListWindow {
  /** The earliest end of a pull request, inclusive, in ISO 8601; only if `since` was given. */
  readonly start?: string
  /** The latest end of a pull request, inclusive, in ISO 8601; only if `until` was given. */
  readonly end?: string
}

/** The range of time that a list of test runs covers. */
export interface TestRunWindow extends ListWindow {
  /** Inclusive, in ISO 8601. */
  readonly start: string
  /** Inclusive, in ISO 8601. */
  readonly end: string
}

/** What the service says about its health; the fields are not documented. */
export interface ServiceStatus {
  readonly status?: Json
}

/**
 * The error that a method rejects with. `instanceof MergeqError` also holds for an error of another copy of this
 * package, such as one in a bundle.
 */
export declare class MergeqError extends Error {
  private constructor()
  override readonly name: 'MergeqError'
  /** `usage`: an option is wrong or missing, and nothing was sent. */
  readonly kind: ErrorKind
  /** The exit code of the command line for the same error. */
  readonly exit: number
  /** What to do next. */
  readonly hint?: string
  /** The HTTP status of the response. */
  readonly status?: number
  /** Where the request was sent. */
  readonly host?: string
  readonly operation?: string
  /** How many times the request was sent. */
  readonly attempts?: number
  /** The id of the request, for the support of the service. */
  readonly requestId?: string
  /** The pull request that the error is about. */
  readonly pr?: number
  /** The repository that it is about: `host/owner/name`. */
  readonly repo?: string
  readonly targetBranch?: string
  /** The error message of the service. */
  readonly serviceMessage?: string
  /** The delay that the service requests before the next attempt, in seconds. */
  readonly retryAfter?: number
  /** Whether the service applied a change that was sent. */
  readonly delivery?: 'not-applied' | 'unknown'
  /** The receipt of a change that failed, the part of a list that was read, or null. */
  readonly document:
    | Receipt
    | FailingTests
    | PullRequestList
    | TestRunResultList
    | QuarantinedTests
    | UnhealthyTests
    | null
}

/** A repository. */
export interface Repository {
  readonly host: string
  readonly owner: string
  readonly name: string
}

/** A pull request: its number, or a string such as `#123` or its URL. */
export type PullRequestReference = number | string

/** What `parsePullRequest` reads in a reference. */
export interface ParsedPullRequest {
  readonly number: number
  /** As `host/owner/name`; only if the reference names it. */
  readonly repo?: string
}

/** A point in time: a `Date`, an RFC 3339 string, or a date alone (`2026-01-05`). */
export type Instant = Date | string

/** A point in time, or a duration before now such as `7d` or `1h30m`. */
export type Moment = Instant

// In the place of what follows, the build ships generated types (scripts/generate/library-types.ts).

type ErrorKind = string
type Receipt = JsonObject
type FailingTests = JsonObject
type PullRequestList = JsonObject
type TestRunResultList = JsonObject
type QuarantinedTests = JsonObject
type UnhealthyTests = JsonObject
