// The public types of mergeq as a library. The build ships this file as it is, so it imports nothing.

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object. Fields without a type here can be read by name. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Any other string: the service may add values. */
type OtherString = string & Readonly<Record<never, never>>

/** The state of a pull request, in upper case. */
export type PullRequestState =
  | 'NOT_READY'
  | 'PENDING'
  | 'TESTING'
  | 'TESTS_PASSED'
  | 'PENDING_FAILURE'
  | 'MERGED'
  | 'FAILED'
  | 'CANCELLED'
  | OtherString

/** The state of a queue, in upper case. */
export type QueueState = 'RUNNING' | 'PAUSED' | 'DRAINING' | 'SWITCHING_MODES' | OtherString

/** The pagination of a list; for a list that was merged from several pages, only the totals. */
export interface Page extends JsonObject {
  readonly total_rows?: number
  readonly total_pages?: number
  readonly next_page_token?: string
  readonly prev_page_token?: string
  readonly last_page_token?: string
  readonly page_index?: number
}

/** The range of time that a list of tests covers. */
export interface TimeWindow extends JsonObject {
  /** Inclusive, in ISO 8601. */
  readonly start: string
  /** Exclusive, in ISO 8601. */
  readonly end: string
  /** Whether all failing tests of the range were read. */
  readonly complete: boolean
}

/** Whether all records of a list were read. */
export interface ListWindow extends JsonObject {
  readonly complete: boolean
}

/** What a list of pull requests covers. */
export interface PullRequestWindow extends ListWindow {
  /** The earliest end of a pull request, inclusive, in ISO 8601; only if `since` was given. */
  readonly start?: string
}

/** What the service says about its health; the fields are not documented. */
export interface ServiceStatus extends JsonObject {
  readonly status?: Json
}

/** The result of a change. */
export interface Receipt extends JsonObject {
  /** The name of the operation: `submitPullRequest`. */
  readonly operation: string
  /** As `host/owner/name`. */
  readonly repo?: string
  readonly targetBranch?: string
  readonly pr?: number
  /** The number of impacted targets, or `ALL`. */
  readonly targets?: number | 'ALL'
  readonly ok: boolean
  /** `confirmed-by-read`: no response arrived, and reading the record back shows the change. */
  readonly delivery: 'confirmed' | 'confirmed-by-read' | 'not-applied' | 'unknown'
  /** The exit code of the command line for the same error; only when `ok` is false. */
  readonly exit?: number
  /** What happened; only when `ok` is false. */
  readonly message?: string
}

/** The kind of an error. */
export type ErrorKind =
  | 'internal'
  | 'usage'
  | 'failed'
  | 'auth'
  | 'not-found'
  | 'refused'
  | 'unavailable'
  | 'pending'
  | 'cancelled'
  | 'unknown-outcome'
  | 'stale'
  | 'bad-answer'
  | 'output'
  | 'incomplete'
  | 'differs'
  | 'check-failed'
  | 'timed-out'
  | 'interrupted'

/** The error that a method rejects with. */
export interface MergeqError extends Error {
  readonly name: 'MergeqError'
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
  /** The error message of the service. */
  readonly serviceMessage?: string
  /** The delay that the service requests before the next attempt, in seconds. */
  readonly retryAfter?: number
  /** Whether the service applied a change that was sent. */
  readonly delivery?: 'not-applied' | 'unknown'
  /** The receipt of a change that failed, the part of a list that was read, or null. */
  readonly document: Receipt | FailingTests | PullRequestList | QuarantinedTests | UnhealthyTests | null
}

/** A repository. */
export interface Repository {
  readonly host: string
  readonly owner: string
  readonly name: string
}

/** A pull request: its number, or a string such as `#123` or its URL. */
export type PullRequestReference = number | string

/** A point in time: a `Date`, an RFC 3339 string, or a date alone (`2026-01-05`). */
export type Instant = Date | string

/** A point in time, or a duration before now such as `7d` or `1h30m`. */
export type Moment = Instant

/** Settings of a call. A setting that is omitted is resolved as on the command line. */
export interface CommonOptions {
  /** The repository, or its name as `[host/]owner/name`. */
  readonly repo?: Repository | string | undefined
  /** The branch that the queue merges into. */
  readonly targetBranch?: string | undefined
  /** The slug of the organization, for failing tests. */
  readonly org?: string | undefined
  /** The base URL of the service. */
  readonly baseUrl?: string | undefined
  /** The profile of stored settings to use. */
  readonly profile?: string | undefined
  /** Time limit for each request: milliseconds, or a duration such as `30s`. */
  readonly timeout?: number | string | undefined
  /** Maximum retries; 0 disables them. */
  readonly retries?: number | undefined
  /** A file with additional certificate authorities, in PEM. */
  readonly caFile?: string | undefined
}

/** Options of a client: the settings of all its calls, the token, and callbacks. */
export interface ClientOptions extends CommonOptions {
  /** The API token; without it, the token that the command line would use. */
  readonly token?: string | undefined
  /** Aborts every call that is in progress. */
  readonly signal?: AbortSignal | undefined
  /** Receives each message that the command line would print on standard error, such as a warning. */
  readonly onNotice?: ((text: string) => void) | undefined
}

/** Options of a method that sends a body. */
export interface BodyOptions extends CommonOptions {
  /** Additional fields of the request body, by their dotted paths. */
  readonly set?: { readonly [path: string]: Json } | undefined
}

/** Options of `waitForPullRequests`. */
export interface WaitForPullRequestsOptions extends CommonOptions {
  /** The pull requests: numbers, `#123` or URLs. */
  readonly prs: readonly PullRequestReference[]
  /**
   * The state to wait for; a later state also counts. `left` means no longer in the queue. `merged` by default.
   */
  readonly until?: 'merged' | 'tests-passed' | 'testing' | 'left' | undefined
  /**
   * Time limit for the whole wait: milliseconds, or a duration such as `30m`; `1h` by default. 0 reads the state
   * once. The time limit for each request is that of the client.
   */
  readonly timeout?: number | string | undefined
  /**
   * Time between polls: milliseconds or a duration, from 1 second to 1 day. `auto`, the default, is 2 seconds after
   * a change, and longer while nothing changes.
   */
  readonly interval?: number | string | undefined
  /** Aborts this wait, as the signal of the client does. The pull requests stay in the queue. */
  readonly signal?: AbortSignal | undefined
}

/** A check that failed. */
export interface FailingCheck extends JsonObject {
  readonly name: string
  readonly url: string | null
  /** The conclusion of a check run, or the state of a status, as the service gives it. */
  readonly conclusion: string
}

/** How the wait for a pull request ended. */
export interface WaitResult extends JsonObject {
  readonly type: 'result'
  readonly pr: number
  /** As `host/owner/name`; only if it is not the repository of the settings. */
  readonly repo?: string
  readonly title: string | null
  /** The address of the pull request. */
  readonly url: string
  /**
   * `reached`: the state of `until`. `pending`: `timeout` was 0, and the pull request has not finished. `error`: the
   * state could not be read; `reason` says why.
   */
  readonly outcome: 'merged' | 'reached' | 'left' | 'failed' | 'cancelled' | 'timed-out' | 'pending' | 'error'
  /** The last state that was read; null if the service did not know the pull request. */
  readonly state: PullRequestState | null
  /** The outcome as a sentence: `#7 merged after 6m52s`; of an `error`, its message. */
  readonly reason: string
  /** Only if the pull request failed; empty if the checks are not known. */
  readonly failingChecks?: readonly FailingCheck[]
  /** How long the wait lasted, in seconds. */
  readonly elapsedSeconds: number
  /** The exit code of the command line: 0 if the pull request reached the state. */
  readonly exit: number
}

// Generated from the operations by `npm run reference`: do not edit below this line.

/** A pull request in the list of a queue. */
export interface EnqueuedPullRequest extends JsonObject {
  readonly prNumber?: number
  readonly prTitle?: string
  readonly prAuthor?: string
  /** The head commit, which may be newer than the commit under test. */
  readonly prSha?: string
  readonly prBaseBranch?: string
  readonly state?: PullRequestState
  /** In ISO 8601. */
  readonly stateChangedAt?: string
  readonly priorityName?: string
  /** From 0 (first) to 255 (last). */
  readonly priorityValue?: number
  /** The name of the default priority, if it was used. */
  readonly usedDefaultPriorityName?: string
  /** Whether the priority is 0. */
  readonly skipTheLine?: boolean
  /** Whether the pull request is tested alone, never in a batch. */
  readonly noBatch?: boolean
  /** The id of the queue entry; it stays the same if the pull request is cancelled and submitted again. */
  readonly id?: string
}

/** The conditions that a submitted pull request must meet before it is tested. */
export interface Readiness extends JsonObject {
  readonly doesBaseBranchMatch?: boolean
  readonly requiresImpactedTargets?: boolean
  readonly hasImpactedTargets?: boolean
  readonly gitHubMergeability?: 'unspecified' | 'in_progress' | 'mergeable' | 'not_mergeable' | OtherString
}

/** A submitted pull request. */
export interface PullRequest extends EnqueuedPullRequest {
  readonly state: PullRequestState
  /** True after the submission; false after the pull request merged, failed or was cancelled. */
  readonly isCurrentlySubmittedToQueue?: boolean
  /** Whether the pull request was queued although it was not ready. */
  readonly forceEnqueued?: boolean
  readonly readiness?: Readiness
  /** The test run that verified a merged pull request. */
  readonly verifiedByTestRun?: string | null
  /** The events of the pull request, newest first; present only if the request asked for them. */
  readonly timeline?: readonly JsonObject[]
}

/** A pull request in a test run. */
export interface TestedPullRequest extends JsonObject {
  readonly prNumber?: number
  readonly prUrl?: string
  readonly title?: string
}

/** A check run of a test run. */
export interface CheckRun extends JsonObject {
  readonly name?: string
  readonly url?: string
  readonly status?: 'QUEUED' | 'IN_PROGRESS' | 'COMPLETED' | OtherString
  /** Present once the status is `COMPLETED`. */
  readonly conclusion?: 'SUCCESS' | 'FAILURE' | 'NEUTRAL' | 'SKIPPED' | 'CANCELLED' | 'TIMED_OUT' | 'STALE' | 'ACTION_REQUIRED' | OtherString
}

/** A check suite of a test run. */
export interface CheckSuite extends JsonObject {
  readonly checkRuns?: readonly CheckRun[]
}

/** A status check of a test run. */
export interface StatusCheck extends JsonObject {
  readonly context?: string
  readonly url?: string
  readonly state?: 'SUCCESS' | 'PENDING' | 'FAILURE' | 'ERROR' | OtherString
}

/** A test run of a queue. */
export interface TestRun extends JsonObject {
  readonly status?: 'in_progress' | 'succeeded' | 'failed' | 'cancelled' | OtherString
  /** In ISO 8601. */
  readonly createdAt?: string
  readonly testBranch?: string
  readonly testBranchSha?: string
  /** The pull requests that the run tests; several in a batch. */
  readonly testedPullRequests?: readonly TestedPullRequest[]
  readonly checkSuites?: readonly CheckSuite[]
  /** All status changes, newest first: a context can have several entries. */
  readonly statusChecks?: readonly StatusCheck[]
  readonly requiredStatuses?: readonly string[]
  readonly requiredStatusesSource?: 'trunk_config' | 'repo_provider_branch_protection' | 'merge_instance' | OtherString
  /** The targets of the tested pull requests. */
  readonly impactedTargetsForTestedPrs?: readonly string[]
  /** The targets of the tested pull requests and of all pull requests that they build on. */
  readonly impactedTargets?: readonly string[]
  /** The numbers of the pull requests that the run builds on without testing them. */
  readonly dependentPrs?: readonly number[]
}

/** The settings of a queue, as the service reports them. */
export interface QueueSettings extends JsonObject {
  /** The target branch. */
  readonly branch?: string
  readonly state?: QueueState
  readonly mode?: 'single' | 'parallel' | OtherString
  /** Maximum number of concurrent test runs. */
  readonly concurrency?: number
  /** Maximum number of concurrent test runs while a failed batch is split. */
  readonly bisectionConcurrency?: number
  /** Time limit for a test run in minutes; 0 means no limit. */
  readonly testingTimeoutMinutes?: number
  /** Later runs to wait for before a failure is final. */
  readonly pendingFailureDepth?: number
  /** Whether a passing run also validates the pull requests ahead of it. */
  readonly canOptimisticallyMerge?: boolean
  /** Whether several pull requests are tested together. */
  readonly batch?: boolean
  readonly batchingMinSize?: number
  readonly batchingMaxWaitTimeMinutes?: number
  readonly createPrsForTestingBranches?: boolean
  readonly commentsEnabled?: boolean
  readonly commandsEnabled?: boolean
  readonly statusCheckEnabled?: boolean
  readonly directMergeMode?: 'off' | 'always' | OtherString
  readonly optimizationMode?: 'off' | 'bisection_skip_redundant_tests' | OtherString
  readonly mergeMethod?: 'merge_commit' | 'squash' | 'rebase' | OtherString
  /** Empty or null if branch protection determines the required statuses. */
  readonly requiredStatuses?: readonly string[] | null
  readonly extensionEnabled?: boolean
  readonly labelCommandsEnabled?: boolean
  readonly stateLabelsEnabled?: boolean
  /** The label that submits a pull request. */
  readonly enqueueingLabel?: string
  readonly notReadyTimeoutHours?: number
  readonly testBranchConstructionMode?: 'rename_temp_branch' | 'push_new_branch_from_temp' | OtherString
  readonly allowedBotSubmitters?: readonly Json[]
  readonly batchingRules?: readonly Json[]
}

/** A queue: its state, its settings, and its pull requests in queue order. */
export interface Queue extends QueueSettings {
  readonly enqueuedPullRequests: readonly EnqueuedPullRequest[]
}

/** One sample of a metric. */
export interface Sample extends JsonObject {
  readonly name: string
  readonly type?: string
  readonly labels: { readonly [label: string]: string }
  /** A number, or the text `NaN`, `+Inf` or `-Inf`. */
  readonly value: number | string
}

/** The status of a test. */
export interface TestStatus extends JsonObject {
  readonly value?: 'healthy' | 'flaky' | 'broken' | OtherString
  readonly reason?: string
  /** When the status last changed, in ISO 8601. */
  readonly timestamp?: string
}

/** A frequent failure of a test. */
export interface CommonFailure extends JsonObject {
  readonly summary?: string
  readonly occurrence_count?: number
  /** In ISO 8601. */
  readonly last_occurrence?: string
}

/** A link to a web page. */
export interface Link extends JsonObject {
  readonly html_url?: string
}

/** A test case. */
export interface TestCase extends JsonObject {
  /** A UUID. */
  readonly id?: string
  readonly name?: string
  readonly variant?: string
  readonly status?: TestStatus
  readonly quarantined?: boolean
  /** A fraction from 0 to 1. */
  readonly failure_rate_last_24h?: number
  /** A fraction from 0 to 1. */
  readonly failure_rate_last_7d?: number
  readonly pull_requests_impacted_last_7d?: number
  readonly most_common_failures?: readonly CommonFailure[]
  readonly codeowners?: readonly string[]
  readonly file_path?: string
  /** The test suite. */
  readonly parent?: string
  readonly classname?: string
  readonly repository?: Link
  readonly html_url?: string
  readonly ticket?: Link
}

/** The failing tests of all pages and windows as one list, each test once. */
export interface FailingTests extends JsonObject {
  readonly tests: readonly TestCase[]
  /** The pagination; for a list that was merged from several pages, only the totals. */
  readonly page?: Page
  readonly window: TimeWindow
}

/** A test, in the document of the service. */
export interface TestDetails extends JsonObject {
  readonly test: TestCase
}

/** The pull requests of all pages as one list, each pull request once. */
export interface PullRequestList extends JsonObject {
  readonly pullRequests: readonly PullRequest[]
  /** The cursor of the next page, if only one page was read. */
  readonly nextCursor?: string | null
  readonly window: PullRequestWindow
}

/** A quarantined test: its failures do not fail a CI job. */
export interface QuarantinedTest extends JsonObject {
  readonly name?: string
  readonly variant?: string
  readonly status?: 'HEALTHY' | 'FLAKY' | 'BROKEN' | OtherString
  readonly quarantine_setting?: 'ALWAYS_QUARANTINE' | 'AUTO_QUARANTINE' | OtherString
  /** In ISO 8601. */
  readonly status_last_updated_at?: string
  readonly codeowners?: readonly string[]
  readonly file?: string | null
  /** The test suite. */
  readonly parent?: string
  readonly classname?: string
  /** Not stable, and not the id of the test in other lists. */
  readonly test_case_id?: string
}

/** The quarantined tests of all pages as one list. */
export interface QuarantinedTests extends JsonObject {
  readonly quarantined_tests: readonly QuarantinedTest[]
  /** The pagination; for a list that was merged from several pages, only the totals. */
  readonly page?: Page
  readonly window: ListWindow
}

/** The flaky and broken tests of all pages as one list, each test once; without failure rates. */
export interface UnhealthyTests extends JsonObject {
  readonly tests: readonly TestCase[]
  /** The pagination; for a list that was merged from several pages, only the totals. */
  readonly page?: Page
  readonly window: ListWindow
}

/** Options of `submitPullRequest`. */
export interface SubmitPullRequestOptions extends BodyOptions {
  /** Pull request: 123, #123 or a URL. */
  readonly pr?: PullRequestReference | undefined
  /** Priority: urgent, high, medium, low, or 0 (first) to 255 (last). */
  readonly priority?: 'urgent' | 'high' | 'medium' | 'low' | number | undefined
  /** Test the pull request alone, never in a batch. */
  readonly noBatch?: boolean | undefined
}

/** Options of `cancelPullRequest`. */
export interface CancelPullRequestOptions extends BodyOptions {
  /** Pull request: 123, #123 or a URL. */
  readonly pr?: PullRequestReference | undefined
}

/** Options of `restartTestsOnPullRequest`. */
export interface RestartTestsOnPullRequestOptions extends BodyOptions {
  /** Pull request: 123, #123 or a URL. */
  readonly pr?: PullRequestReference | undefined
}

/** Options of `getSubmittedPullRequest`. */
export interface GetSubmittedPullRequestOptions extends BodyOptions {
  /** Pull request: 123, #123 or a URL. */
  readonly pr?: PullRequestReference | undefined
  /** Find the pull request by its head branch. */
  readonly head?: string | undefined
  /** Show the events of the pull request. */
  readonly includeTimeline?: boolean | undefined
  /** Show when the service expects the merge. */
  readonly includeEstimatedTimeToMerge?: boolean | undefined
}

/** Options of `setImpactedTargets`. */
export interface SetImpactedTargetsOptions extends BodyOptions {
  /** Pull request: 123, #123 or a URL. */
  readonly pr?: PullRequestReference | undefined
  /** Head commit that the targets belong to. */
  readonly sha?: string | false | undefined
  /** If the list is over 20 MiB: all sends "ALL" instead, fail sends nothing. */
  readonly tooLarge?: 'all' | 'fail' | undefined
  /** GitHub run ID to send instead of a token, for pull requests from forks. */
  readonly forkedRun?: string | undefined
  /** Names of the impacted targets. */
  readonly targets: readonly string[] | 'ALL'
}

/** Options of `getMergeQueueTestingDetails`. */
export interface GetMergeQueueTestingDetailsOptions extends BodyOptions {
  /** Test run ID, or a test branch whose name ends in the ID. */
  readonly run?: string | undefined
  /** Find the test run of this pull request. */
  readonly pr?: PullRequestReference | undefined
}

/** Options of `createQueue`. */
export interface CreateQueueOptions extends BodyOptions {
  /** Test in one lane (single), or in several lanes by impacted targets (parallel). */
  readonly mode?: 'single' | 'parallel' | undefined
  /** Maximum number of concurrent test runs, from 1 to 4294967295. */
  readonly concurrency?: number | undefined
}

/** Options of `getQueue`. */
export interface GetQueueOptions extends BodyOptions {
}

/** Options of `updateQueue`. */
export interface UpdateQueueOptions extends BodyOptions {
  /** State of the queue: running, paused, draining. */
  readonly state?: 'running' | 'RUNNING' | 'paused' | 'PAUSED' | 'draining' | 'DRAINING' | undefined
  /** Test in one lane (single), or in several lanes by impacted targets (parallel). */
  readonly mode?: 'single' | 'parallel' | undefined
  /** Maximum number of concurrent test runs, from 1 to 4294967295. */
  readonly concurrency?: number | undefined
  /** Maximum number of concurrent test runs while a failed batch is split (as concurrency until set), from 1 to 4294967295. */
  readonly bisectionConcurrency?: number | undefined
  /** Time limit for a test run in minutes; 0 means no limit, from 0 to 4294967295. */
  readonly testingTimeoutMinutes?: number | undefined
  /** Number of later test runs to wait for before a failure becomes final, from 0 to 4294967295. */
  readonly pendingFailureDepth?: number | undefined
  /** Let a passing test run also validate the pull requests ahead of it. */
  readonly canOptimisticallyMerge?: boolean | undefined
  /** Test several pull requests together in a batch. */
  readonly batch?: boolean | undefined
  /** Target number of pull requests in a batch, from 1 to 4294967295. */
  readonly batchingMinSize?: number | undefined
  /** Maximum time to wait for a batch to fill, in minutes, from 1 to 4294967295. */
  readonly batchingMaxWaitTimeMinutes?: number | undefined
  /** Create draft pull requests for test branches. */
  readonly createPrsForTestingBranches?: boolean | undefined
  /** Post comments on pull requests. */
  readonly commentsEnabled?: boolean | undefined
  /** Accept commands in pull request comments. */
  readonly commandsEnabled?: boolean | undefined
  /** Post a status check on pull requests. */
  readonly statusCheckEnabled?: boolean | undefined
  /** Merge a pull request without testing if it is up to date and the queue is empty: off, always. */
  readonly directMergeMode?: 'off' | 'always' | undefined
  /** Skip redundant tests when a failed batch is split: off, bisection_skip_redundant_tests. */
  readonly optimizationMode?: 'off' | 'bisection_skip_redundant_tests' | undefined
  /** Merge method: merge_commit, squash, rebase. */
  readonly mergeMethod?: 'merge_commit' | 'squash' | 'rebase' | undefined
  /** Status that a test run must pass; overrides branch protection. */
  readonly requiredStatuses?: readonly string[] | undefined
  /** Remove the required statuses that override branch protection. */
  readonly deleteRequiredStatuses?: boolean | undefined
  /** Enable the browser extension. */
  readonly extensionEnabled?: boolean | undefined
  /** Accept commands as labels. */
  readonly labelCommandsEnabled?: boolean | undefined
  /** Label pull requests with their state. */
  readonly stateLabelsEnabled?: boolean | undefined
  /** Label that submits a pull request to the queue. */
  readonly enqueueingLabel?: string | undefined
  /** Cancel pull requests that are not ready after this many hours, from 0 to 4294967295. */
  readonly notReadyTimeoutHours?: number | undefined
  /** How to create test branches: rename_temp_branch, push_new_branch_from_temp. */
  readonly testBranchConstructionMode?: 'rename_temp_branch' | 'push_new_branch_from_temp' | undefined
}

/** Options of `deleteQueue`. */
export interface DeleteQueueOptions extends BodyOptions {
}

/** Options of `getMergeQueueMetrics`. */
export interface GetMergeQueueMetricsOptions extends CommonOptions {
}

/** Options of `listFailingTests`. */
export interface ListFailingTestsOptions extends BodyOptions {
  /** Start of the range: a duration before now, such as 7d, or a date and time. */
  readonly since?: Moment | undefined
  /** End of the range: a duration before now, such as 7d, or a date and time. */
  readonly until?: Moment | undefined
  /** Maximum number of tests, at least 1. */
  readonly limit?: number | undefined
  /** Tests per page, from 1 to 100. */
  readonly pageSize?: number | undefined
  /** Fetch only the page with this token. */
  readonly pageToken?: string | undefined
  /** Maximum number of pages to fetch, at least 1. */
  readonly maxPages?: number | undefined
  /** Only tests that are (or are not) quarantined. */
  readonly quarantined?: boolean | undefined
  /** Only tests with at least this failure rate in the last 7 days. */
  readonly minFailureRate?: number | undefined
  /** Only tests of this code owner. */
  readonly owner?: string | undefined
  /** Only tests whose name matches this pattern (case-sensitive). */
  readonly name?: string | undefined
  /** Only tests whose file path matches this pattern. */
  readonly path?: string | undefined
  /** Fetch all tests, then sort by impact, rate, recent or name. */
  readonly sort?: 'impact' | 'rate' | 'recent' | 'name' | undefined
}

/** Options of `getTestDetails`. */
export interface GetTestDetailsOptions extends BodyOptions {
  /** Test ID, a UUID. */
  readonly testId: string
}

/** Options of `listPullRequests`. */
export interface ListPullRequestsOptions extends BodyOptions {
  /** Only pull requests in this state. */
  readonly states?: readonly PullRequestState[] | undefined
  /** Only pull requests that merged, failed or were cancelled since this time. */
  readonly since?: Moment | undefined
  /** Only pull requests by this author (filtered by mergeq, not by the service). */
  readonly author?: string | undefined
  /** Maximum number of pull requests, at least 1. */
  readonly limit?: number | undefined
  /** Pull requests per page, from 1 to 100. */
  readonly pageSize?: number | undefined
  /** Maximum number of pages to fetch, at least 1. */
  readonly maxPages?: number | undefined
}

/** Options of `listQuarantinedTests`. */
export interface ListQuarantinedTestsOptions extends BodyOptions {
  /** Maximum number of tests, at least 1. */
  readonly limit?: number | undefined
  /** Tests per page, from 1 to 100. */
  readonly pageSize?: number | undefined
  /** Fetch only the page with this token. */
  readonly pageToken?: string | undefined
  /** Maximum number of pages to fetch, at least 1. */
  readonly maxPages?: number | undefined
  /** Only tests of this code owner. */
  readonly owner?: string | undefined
  /** Only tests whose name matches this pattern (case-sensitive). */
  readonly name?: string | undefined
  /** Only tests whose file path matches this pattern. */
  readonly path?: string | undefined
}

/** Options of `listUnhealthyTests`. */
export interface ListUnhealthyTestsOptions extends BodyOptions {
  /** Only tests with this status. */
  readonly status?: 'flaky' | 'FLAKY' | 'broken' | 'BROKEN' | undefined
  /** Maximum number of tests, at least 1. */
  readonly limit?: number | undefined
  /** Tests per page, from 1 to 100. */
  readonly pageSize?: number | undefined
  /** Fetch only the page with this token. */
  readonly pageToken?: string | undefined
  /** Maximum number of pages to fetch, at least 1. */
  readonly maxPages?: number | undefined
  /** Only tests that are (or are not) quarantined. */
  readonly quarantined?: boolean | undefined
  /** Only tests of this code owner. */
  readonly owner?: string | undefined
  /** Only tests whose name matches this pattern (case-sensitive). */
  readonly name?: string | undefined
  /** Only tests whose file path matches this pattern. */
  readonly path?: string | undefined
}

/** Options of `linkTicketToTestCase`. */
export interface LinkTicketToTestCaseOptions extends BodyOptions {
  /** Test ID, a UUID as printed by `mergeq flaky list`. */
  readonly testId: string
  /** Ticket ID in the issue tracker, such as KAN-123. */
  readonly ticket: string
}

/** Options of `status`. */
export interface StatusOptions extends CommonOptions {
}

/** A client of the service: a method for each operation, with the settings, retries, limits and errors of the command line. Every method rejects with a {@link MergeqError}. */
export interface Client {
  /** Submits a pull request to the queue for testing and merging. */
  submitPullRequest(options?: SubmitPullRequestOptions): Promise<Receipt>
  /** Removes a pull request from the queue. */
  cancelPullRequest(options?: CancelPullRequestOptions): Promise<Receipt>
  /** Restarts the tests of a queued pull request. */
  restartTestsOnPullRequest(options?: RestartTestsOnPullRequestOptions): Promise<Receipt>
  /** Reads the state and priority of a submitted pull request. */
  getSubmittedPullRequest(options?: GetSubmittedPullRequestOptions): Promise<PullRequest>
  /** Sets the impacted targets of a pull request. */
  setImpactedTargets(options: SetImpactedTargetsOptions): Promise<Receipt>
  /** Reads a test run: its checks and pull requests. */
  getMergeQueueTestingDetails(options?: GetMergeQueueTestingDetailsOptions): Promise<TestRun>
  /** Creates a merge queue for a branch. */
  createQueue(options?: CreateQueueOptions): Promise<Receipt>
  /** Reads a queue: its state, settings and pull requests. */
  getQueue(options?: GetQueueOptions): Promise<Queue>
  /** Changes settings of a queue. Resolves to its settings, or to a receipt if the service sent none. */
  updateQueue(options?: UpdateQueueOptions): Promise<QueueSettings | Receipt>
  /** Deletes a queue, which must be empty. */
  deleteQueue(options?: DeleteQueueOptions): Promise<Receipt>
  /** Reads the metrics of merge queues. */
  getMergeQueueMetrics(options?: GetMergeQueueMetricsOptions): Promise<readonly Sample[]>
  /** Lists the tests that failed in a time range, each once. */
  listFailingTests(options?: ListFailingTestsOptions): Promise<FailingTests>
  /** Reads the details of a test. */
  getTestDetails(options: GetTestDetailsOptions): Promise<TestDetails>
  /** Lists pull requests of a queue, including finished ones. Hosted service only. */
  listPullRequests(options?: ListPullRequestsOptions): Promise<PullRequestList>
  /** Lists the quarantined tests of a repository. Hosted service only. */
  listQuarantinedTests(options?: ListQuarantinedTestsOptions): Promise<QuarantinedTests>
  /** Lists the flaky and broken tests of a repository. Hosted service only. */
  listUnhealthyTests(options?: ListUnhealthyTestsOptions): Promise<UnhealthyTests>
  /** Links a ticket to a test. Never sent again after a lost response. Hosted service only. */
  linkTicketToTestCase(options: LinkTicketToTestCaseOptions): Promise<Receipt>
  /** Reads the health of the service; needs no token. Hosted service only. */
  status(options?: StatusOptions): Promise<ServiceStatus>
  /** Iterates over what `listFailingTests` lists. A page is requested when the records before it were taken. */
  iterateFailingTests(options?: ListFailingTestsOptions): AsyncGenerator<TestCase, void>
  /** Iterates over what `listPullRequests` lists. A page is requested when the records before it were taken. */
  iteratePullRequests(options?: ListPullRequestsOptions): AsyncGenerator<PullRequest, void>
  /** Iterates over what `listQuarantinedTests` lists. A page is requested when the records before it were taken. */
  iterateQuarantinedTests(options?: ListQuarantinedTestsOptions): AsyncGenerator<QuarantinedTest, void>
  /** Iterates over what `listUnhealthyTests` lists. A page is requested when the records before it were taken. */
  iterateUnhealthyTests(options?: ListUnhealthyTestsOptions): AsyncGenerator<TestCase, void>
  /** Waits until each pull request reached a state, failed or was cancelled, or the time is over. Resolves to a result for each, in the order given. */
  waitForPullRequests(options: WaitForPullRequestsOptions): Promise<readonly WaitResult[]>
}
