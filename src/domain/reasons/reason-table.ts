import type { pullRequestStates } from '../states.ts'

type PullRequestState = (typeof pullRequestStates)[number]

/** Who caused a change of state: the pull request itself (`author`), one ahead of it, GitHub (`host`), and so on. */
export type Causer =
  | ('author' | 'ahead' | 'queue' | 'setup' | 'host')
  | ('push' | 'person' | 'program' | 'service' | 'unknown')

/**
 * Whether a new submission helps: after a pause (`later`), after a change, only after somebody has looked, or not at
 * all. `queued` is still in the queue, `done` has merged.
 */
export type Again = 'later' | 'after-change' | 'look' | 'no' | 'queued' | 'done'

export interface Reason {
  readonly by: Causer
  /** Null for a word that says how a pull request was submitted. */
  readonly again: Again | null
  readonly mayBeMerged?: true
  /** Whether nothing else is expected before this state, so that it is no news. */
  readonly isUsual?: true
  /** A sentence; `{by}` is replaced by ` by <login>`, or by nothing. */
  readonly meaning: string
  /** What to do; a word of a pull request that needs nothing has none. */
  readonly advice?: string
}

type Words = Readonly<Record<string, Reason>>

const reasons = (
  by: Causer,
  again: Reason['again'],
  rows: Readonly<Record<string, readonly [meaning: string, advice?: string, mayBeMerged?: 'may be merged']>>,
): Words =>
  Object.fromEntries(
    Object.entries(rows).map(([word, [meaning, advice, mayBeMerged]]) => [
      word,
      { by, again, meaning, ...(advice && { advice }), ...(mayBeMerged && { mayBeMerged: true }) },
    ]),
  )

const submitted: Words = {
  ...reasons('person', null, {
    user_requested: ['It was submitted{by}.'],
    trunk_admin_requested: ['It was submitted by the support of the service.'],
  }),
  ...reasons('program', null, { api_requested: ['Submitted through the API.'] }),
}

const pending: Words = {
  merge_item_now_ready: { by: 'queue', again: 'queued', meaning: 'It became ready.', isUsual: true },
  ...reasons('queue', 'queued', {
    skip_the_line_interrupted: ['It waits again because an urgent pull request went ahead of it.'],
    bisection_required: ['It waits again because its batch failed and is split.'],
    bisection_test_run_passed: ['It waits again because its part of a failed batch passed.'],
  }),
  ...reasons('ahead', 'queued', {
    prerequisite_merge_item_failed: ['It waits again because a pull request ahead of it failed.'],
    prerequisite_merge_item_cancelled: ['It waits again because a pull request ahead of it was cancelled.'],
    prerequisite_merge_item_manually_merged: [
      'It waits again because a pull request ahead of it was merged outside the queue.',
    ],
  }),
  ...reasons('person', 'queued', {
    tests_restarted_by_user: ['It waits again because its tests were restarted{by}.'],
  }),
  ...reasons('program', 'queued', {
    tests_restarted_by_api_request: ['It waits again because a program restarted its tests.'],
  }),
  ...reasons('push', 'queued', {
    manual_push_to_target_branch: ['It waits again because somebody pushed to the target branch.'],
  }),
}

const passed = reasons('queue', 'queued', {
  test_run_passed: ['Its tests passed.'],
  successor_test_run_passed: ['The tests of a pull request behind it passed, which include its change.'],
  passed_by_optimization: ['Its tests were not needed: the queue knew their result from an earlier run.'],
})

const merged: Words = {
  ...reasons('queue', 'done', {
    merge_graph_merge: ['The queue merged it.'],
    merge_graph_direct_merge: ['The queue merged it without a test run.'],
  }),
  ...reasons('person', 'done', { manual_merge: ['It was merged outside the queue{by}.'] }),
}

const fixTheFile = 'Correct .trunk/trunk.yaml on the branch, then push.'
const askGitHub = 'Read on GitHub what is missing: approvals, checks, or the merge method.'
const checkTheHead = 'Check that its new head is what you want to merge.'
const lookAtTheBranch = 'Look at the target branch first: it may have merged.'

const failed: Words = {
  ...reasons('author', 'after-change', {
    test_run_required_status_failed: [
      'A required check failed.',
      'Read the log of the check. Fix the cause, or the test if it is flaky.',
    ],
    test_run_failed_by_optimization: [
      'An earlier test run of its batch showed that it fails; it had no run of its own.',
      'Read the log of that earlier run, and fix the cause.',
    ],
    start_test_run_merge_conflict: [
      'Its tests did not start because of a merge conflict.',
      'Rebase it. A conflict with a pull request ahead is gone if that one fails.',
    ],
    start_test_run_draft_prs_not_allowed: [
      'Its tests did not start because of a draft.',
      'Mark it ready for review. If it is no draft, the repository does not allow draft pull requests.',
    ],
  }),
  ...reasons('setup', 'look', {
    test_run_timeout: [
      'Its tests did not finish within the time limit of the queue.',
      'Look for slow tests and for a required check that never reported, or raise the time limit.',
    ],
  }),
  ...reasons('host', 'later', {
    start_test_run_retry_exhausted: [
      'Its tests did not start because requests to GitHub failed again and again.',
      'Wait some minutes.',
    ],
    github_api_rate_limit_exceeded: [
      'The rate limit of GitHub stopped the queue.',
      'Wait: the limit lasts up to an hour.',
    ],
    github_api_repeated_server_errors: [
      'GitHub answered with server errors again and again.',
      'See githubstatus.com, and wait until GitHub works again.',
    ],
  }),
  ...reasons('setup', 'after-change', {
    github_api_branch_protection_unmet: [
      'GitHub refused the merge because a rule of the branch is not met.',
      'Do what the rule asks for: an approval, a check, a branch that is up to date.',
    ],
    start_test_run_permissions_block_test_branch: [
      'A rule of the repository does not let the queue create its test branch.',
      'Exclude trunk-temp/* and trunk-merge/* from the rules for branches.',
    ],
    start_test_run_no_required_statuses: [
      'No required check is configured.',
      'Name required checks in the queue, in .trunk/trunk.yaml or in the branch protection.',
    ],
    start_test_run_config_not_found: [
      'The file .trunk/trunk.yaml is missing.',
      'Add .trunk/trunk.yaml to the branch, then push.',
    ],
    start_test_run_config_parsing_failure: ['The file .trunk/trunk.yaml cannot be read.', fixTheFile],
    start_test_run_config_bad_version: ['The file .trunk/trunk.yaml has a wrong version.', fixTheFile],
    start_test_run_config_bad_required_statuses: [
      'The required checks in .trunk/trunk.yaml are not valid.',
      fixTheFile,
    ],
    start_test_run_config_missing_required_statuses: [
      'The file .trunk/trunk.yaml names no required checks.',
      fixTheFile,
    ],
  }),
  ...reasons('unknown', 'look', {
    start_test_run_invalid_event: [
      'Its tests did not start because of an event that the service does not describe.',
      'Ask the support of the service.',
    ],
  }),
  ...reasons('push', 'look', {
    pr_updated_at_merge_time: ['Somebody pushed to it while it was being merged.', checkTheHead],
  }),
  ...reasons('host', 'look', {
    github_api_merge_pr_failed: ['GitHub refused the merge.', askGitHub],
    github_api_direct_merge_pr_failed: ['GitHub refused the merge without a test run.', askGitHub],
    github_api_merge_already_in_progress: [
      'GitHub was merging something else each time the queue tried to merge it.',
      lookAtTheBranch,
      'may be merged',
    ],
  }),
}

const putInOrder = 'Put the stack in order, then submit it again.'

const cancelled: Words = {
  ...reasons('person', 'look', {
    user_requested: ['It was cancelled{by}.', 'Find out why before you submit it again.'],
    trunk_admin_requested: [
      'It was cancelled by the support of the service.',
      'Ask the support of the service why.',
    ],
  }),
  ...reasons('person', 'no', {
    pr_closed: ['It was closed{by}.', 'Reopen it first if it should merge.'],
    pr_merged_into_other_branch: [
      'It was merged into another branch{by}.',
      'Open another pull request if it should merge into this branch, too.',
    ],
    pr_base_branch_changed: [
      'Its base branch was changed{by}.',
      'Submit it to the queue for its new base branch.',
    ],
  }),
  ...reasons('push', 'look', {
    pr_pushed_to: ['A commit was pushed to it{by}.', checkTheHead],
  }),
  ...reasons('person', 'after-change', {
    pr_converted_to_draft: ['It was converted to a draft{by}.', 'Mark it ready for review.'],
  }),
  ...reasons('author', 'after-change', {
    not_ready_timeout_expired: [
      'It did not become ready within the time limit of the queue.',
      'Do what it was waiting for.',
    ],
  }),
  ...reasons('push', 'after-change', {
    stacked_pr_member_pushed_to: [
      'A commit was pushed to another pull request of its stack{by}.',
      putInOrder,
    ],
  }),
  ...reasons('person', 'after-change', {
    stacked_pr_member_closed: ['Another pull request of its stack was closed{by}.', putInOrder],
    stacked_pr_member_base_branch_changed: [
      'The base branch of another pull request of its stack was changed{by}.',
      putInOrder,
    ],
    stacked_pr_stack_changed: ['Its stack was changed{by}.', putInOrder],
  }),
  ...reasons('queue', 'look', {
    stacked_pr_member_merged: [
      'Another pull request of its stack merged with another stack.',
      lookAtTheBranch,
      'may be merged',
    ],
  }),
  ...reasons('service', 'look', {
    stacked_pr_group_cancelled_at_merge_time: [
      'The service gave its stack up while it was merging it.',
      lookAtTheBranch,
      'may be merged',
    ],
  }),
}

/**
 * The words of the service for why a pull request came into a state, by state. The words are documented; what they
 * mean for a new submission follows the advice of the service (docs/reference/service.md, "Reasons").
 */
export const reasonTable: Partial<Readonly<Record<PullRequestState, Words>>> = {
  NOT_READY: submitted,
  PENDING: pending,
  TESTS_PASSED: passed,
  MERGED: merged,
  FAILED: failed,
  CANCELLED: cancelled,
}
