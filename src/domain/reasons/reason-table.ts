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
  /** Whether the pull request may have merged all the same. */
  readonly mayBeMerged?: true
  /** A sentence; `{by}` is replaced by ` by <login>`, or by nothing. */
  readonly meaning: string
  /** What to do; a word of a pull request that needs nothing has none. */
  readonly advice?: string
}

type Words = Readonly<Record<string, Reason>>

/** Words of a state after which nothing is to be done, with who caused it and what it means. */
const wordsOf = (
  again: Reason['again'],
  words: Readonly<Record<string, readonly [by: Causer, meaning: string]>>,
): Words =>
  Object.fromEntries(Object.entries(words).map(([word, [by, meaning]]) => [word, { by, again, meaning }]))

const submitted = wordsOf(null, {
  user_requested: ['person', 'It was submitted{by}.'],
  trunk_admin_requested: ['person', 'It was submitted by the support of the service.'],
  api_requested: ['program', 'Submitted through the API.'],
})

const pending = wordsOf('queued', {
  merge_item_now_ready: ['queue', 'It became ready.'],
  prerequisite_merge_item_failed: ['ahead', 'It waits again because a pull request ahead of it failed.'],
  prerequisite_merge_item_cancelled: [
    'ahead',
    'It waits again because a pull request ahead of it was cancelled.',
  ],
  prerequisite_merge_item_manually_merged: [
    'ahead',
    'It waits again because a pull request ahead of it was merged outside the queue.',
  ],
  skip_the_line_interrupted: ['queue', 'It waits again because an urgent pull request went ahead of it.'],
  bisection_required: ['queue', 'It waits again because its batch failed and is split.'],
  bisection_test_run_passed: ['queue', 'It waits again because its part of a failed batch passed.'],
  tests_restarted_by_user: ['person', 'It waits again because its tests were restarted{by}.'],
  tests_restarted_by_api_request: ['program', 'It waits again because a program restarted its tests.'],
  manual_push_to_target_branch: ['push', 'It waits again because somebody pushed to the target branch.'],
})

const passed = wordsOf('queued', {
  test_run_passed: ['queue', 'Its tests passed.'],
  successor_test_run_passed: [
    'queue',
    'The tests of a pull request behind it passed, which include its change.',
  ],
  passed_by_optimization: [
    'queue',
    'Its tests were not needed: the queue knew their result from an earlier run.',
  ],
})

const merged = wordsOf('done', {
  merge_graph_merge: ['queue', 'The queue merged it.'],
  merge_graph_direct_merge: ['queue', 'The queue merged it without a test run.'],
  manual_merge: ['person', 'It was merged outside the queue{by}.'],
})

const fixTheFile = 'Correct .trunk/trunk.yaml on the branch, then push.'

const failed: Words = {
  test_run_required_status_failed: {
    by: 'author',
    again: 'after-change',
    meaning: 'A required check failed.',
    advice: 'Read the log of the check. Fix the cause, or the test if it is flaky.',
  },
  test_run_failed_by_optimization: {
    by: 'author',
    again: 'after-change',
    meaning: 'An earlier test run of its batch showed that it fails; it had no run of its own.',
    advice: 'Read the log of that earlier run, and fix the cause.',
  },
  start_test_run_merge_conflict: {
    by: 'author',
    again: 'after-change',
    meaning: 'Its tests did not start because of a merge conflict.',
    advice: 'Rebase it. A conflict with a pull request ahead is gone if that one fails.',
  },
  test_run_timeout: {
    by: 'setup',
    again: 'look',
    meaning: 'Its tests did not finish within the time limit of the queue.',
    advice: 'Look for slow tests and for a required check that never reported, or raise the time limit.',
  },
  start_test_run_retry_exhausted: {
    by: 'host',
    again: 'later',
    meaning: 'Its tests did not start because requests to GitHub failed again and again.',
    advice: 'Wait some minutes.',
  },
  github_api_rate_limit_exceeded: {
    by: 'host',
    again: 'later',
    meaning: 'The rate limit of GitHub stopped the queue.',
    advice: 'Wait: the limit lasts up to an hour.',
  },
  github_api_repeated_server_errors: {
    by: 'host',
    again: 'later',
    meaning: 'GitHub answered with server errors again and again.',
    advice: 'See githubstatus.com, and wait until GitHub works again.',
  },
  start_test_run_draft_prs_not_allowed: {
    by: 'author',
    again: 'after-change',
    meaning: 'Its tests did not start because of a draft.',
    advice: 'Mark it ready for review. If it is no draft, the repository does not allow draft pull requests.',
  },
  github_api_branch_protection_unmet: {
    by: 'setup',
    again: 'after-change',
    meaning: 'GitHub refused the merge because a rule of the branch is not met.',
    advice: 'Do what the rule asks for: an approval, a check, a branch that is up to date.',
  },
  start_test_run_permissions_block_test_branch: {
    by: 'setup',
    again: 'after-change',
    meaning: 'A rule of the repository does not let the queue create its test branch.',
    advice: 'Exclude trunk-temp/* and trunk-merge/* from the rules for branches.',
  },
  start_test_run_no_required_statuses: {
    by: 'setup',
    again: 'after-change',
    meaning: 'No required check is configured.',
    advice: 'Name required checks in the queue, in .trunk/trunk.yaml or in the branch protection.',
  },
  start_test_run_config_not_found: {
    by: 'setup',
    again: 'after-change',
    meaning: 'The file .trunk/trunk.yaml is missing.',
    advice: 'Add .trunk/trunk.yaml to the branch, then push.',
  },
  start_test_run_config_parsing_failure: {
    by: 'setup',
    again: 'after-change',
    meaning: 'The file .trunk/trunk.yaml cannot be read.',
    advice: fixTheFile,
  },
  start_test_run_config_bad_version: {
    by: 'setup',
    again: 'after-change',
    meaning: 'The file .trunk/trunk.yaml has a wrong version.',
    advice: fixTheFile,
  },
  start_test_run_config_bad_required_statuses: {
    by: 'setup',
    again: 'after-change',
    meaning: 'The required checks in .trunk/trunk.yaml are not valid.',
    advice: fixTheFile,
  },
  start_test_run_config_missing_required_statuses: {
    by: 'setup',
    again: 'after-change',
    meaning: 'The file .trunk/trunk.yaml names no required checks.',
    advice: fixTheFile,
  },
  start_test_run_invalid_event: {
    by: 'unknown',
    again: 'look',
    meaning: 'Its tests did not start because of an event that the service does not describe.',
    advice: 'Ask the support of the service.',
  },
  pr_updated_at_merge_time: {
    by: 'push',
    again: 'look',
    meaning: 'Somebody pushed to it while it was being merged.',
    advice: 'Check that its new head is what you want to merge.',
  },
  github_api_merge_pr_failed: {
    by: 'host',
    again: 'look',
    meaning: 'GitHub refused the merge.',
    advice: 'Read on GitHub what is missing: approvals, checks, or the merge method.',
  },
  github_api_direct_merge_pr_failed: {
    by: 'host',
    again: 'look',
    meaning: 'GitHub refused the merge without a test run.',
    advice: 'Read on GitHub what is missing: approvals, checks, or the merge method.',
  },
  github_api_merge_already_in_progress: {
    by: 'host',
    again: 'look',
    mayBeMerged: true,
    meaning: 'GitHub was merging something else each time the queue tried to merge it.',
    advice: 'Look at the target branch first: it may have merged.',
  },
}

const putInOrder = 'Put the stack in order, then submit it again.'

const cancelled: Words = {
  user_requested: {
    by: 'person',
    again: 'look',
    meaning: 'It was cancelled{by}.',
    advice: 'Find out why before you submit it again.',
  },
  trunk_admin_requested: {
    by: 'person',
    again: 'look',
    meaning: 'It was cancelled by the support of the service.',
    advice: 'Ask the support of the service why.',
  },
  pr_closed: {
    by: 'person',
    again: 'no',
    meaning: 'It was closed{by}.',
    advice: 'Reopen it first if it should merge.',
  },
  pr_merged_into_other_branch: {
    by: 'person',
    again: 'no',
    meaning: 'It was merged into another branch{by}.',
    advice: 'Open another pull request if it should merge into this branch, too.',
  },
  pr_pushed_to: {
    by: 'push',
    again: 'look',
    meaning: 'A commit was pushed to it{by}.',
    advice: 'Check that its new head is what you want to merge.',
  },
  pr_base_branch_changed: {
    by: 'person',
    again: 'no',
    meaning: 'Its base branch was changed{by}.',
    advice: 'Submit it to the queue for its new base branch.',
  },
  pr_converted_to_draft: {
    by: 'person',
    again: 'after-change',
    meaning: 'It was converted to a draft{by}.',
    advice: 'Mark it ready for review.',
  },
  not_ready_timeout_expired: {
    by: 'author',
    again: 'after-change',
    meaning: 'It did not become ready within the time limit of the queue.',
    advice: 'Do what it was waiting for.',
  },
  stacked_pr_member_pushed_to: {
    by: 'push',
    again: 'after-change',
    meaning: 'A commit was pushed to another pull request of its stack{by}.',
    advice: putInOrder,
  },
  stacked_pr_member_closed: {
    by: 'person',
    again: 'after-change',
    meaning: 'Another pull request of its stack was closed{by}.',
    advice: putInOrder,
  },
  stacked_pr_member_base_branch_changed: {
    by: 'person',
    again: 'after-change',
    meaning: 'The base branch of another pull request of its stack was changed{by}.',
    advice: putInOrder,
  },
  stacked_pr_stack_changed: {
    by: 'person',
    again: 'after-change',
    meaning: 'Its stack was changed{by}.',
    advice: putInOrder,
  },
  stacked_pr_member_merged: {
    by: 'queue',
    again: 'look',
    mayBeMerged: true,
    meaning: 'Another pull request of its stack merged with another stack.',
    advice: 'Look at the target branch first: it may have merged.',
  },
  stacked_pr_group_cancelled_at_merge_time: {
    by: 'service',
    again: 'look',
    mayBeMerged: true,
    meaning: 'The service gave its stack up while it was merging it.',
    advice: 'Look at the target branch first: it may have merged.',
  },
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
