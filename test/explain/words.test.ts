import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { reasonTable } from '../../src/domain/reasons/reason-table.ts'
import { parseTestRun } from '../../src/domain/test-run.ts'
import { entry, explainSeven, queue, record, textOf, uuid } from '../support/pr-explain.ts'

const explain = (source: JsonObject | undefined, run?: JsonObject, read?: JsonObject | null): string =>
  textOf(explainSeven({ record: source, queue: read, run: run && parseTestRun(uuid, run) }))

const objectOf: Readonly<Record<string, string>> = {
  NOT_READY: 'notReady',
  PENDING: 'pending',
  TESTS_PASSED: 'testsPassed',
  MERGED: 'merged',
  FAILED: 'failure',
  CANCELLED: 'cancellation',
}

/** A record in a state whose timeline ends with an event that has this in the object of the state. */
const ended = (state: string, part: JsonObject, more: JsonObject = {}): JsonObject =>
  record(state, {
    timeline: [
      { state, [objectOf[state] ?? '']: part, ...more },
      ...(state === 'NOT_READY' ? [] : [{ state: 'not_ready', notReady: { reason: 'api_requested' } }]),
    ],
  })

const failedRun = {
  status: 'failed',
  checkSuites: [{ checkRuns: [{ name: 'e2e', status: 'COMPLETED', conclusion: 'FAILURE' }] }],
  testedPullRequests: [{ prNumber: 7 }],
}
const page = 'https://github.com/acme/web/actions/runs/1'
const timedOut = {
  checkSuites: [{ checkRuns: [{ name: 'e2e', conclusion: 'TIMED_OUT', url: page }] }],
  testedPullRequests: [{ prNumber: 7 }],
}
const passed = (...ahead: JsonObject[]) =>
  [record('TESTS_PASSED'), undefined, queue('RUNNING', [...ahead, entry(7, 'TESTS_PASSED')])] as const
const submitted = (at: string) => record('NOT_READY', { stateChangedAt: `2026-01-05T${at}Z` })
const passedRun = { status: 'succeeded', testedPullRequests: [{ prNumber: 7 }] }
const ada = { gitHubLogin: 'ada', trunkUserId: uuid }
const older = [
  { state: 'failed', failure: { reason: 'test_run_required_status_failed' } },
  { state: 'not_ready', notReady: { reason: 'user_requested', actor: ada } },
]

/** The runs that the records of some words come with. */
const runs: Readonly<Record<string, JsonObject>> = {
  test_run_required_status_failed: failedRun,
  // Its run is not the reason, even where a check of it failed.
  github_api_rate_limit_exceeded: failedRun,
  github_api_merge_already_in_progress: passedRun,
}

const words = Object.entries(reasonTable).flatMap(([state, reasons]) =>
  Object.keys(reasons).map(
    word => [`${state} ${word}`, explain(ended(state, { reason: word }), runs[word])] as const,
  ),
)

/** Titles, each with the record, the run and the queue that are explained. */
const others: readonly (readonly [title: string, ...Parameters<typeof explain>])[] = [
  ['by ada', ended('CANCELLED', { reason: 'user_requested', actor: ada })],
  ['by a text', ended('CANCELLED', { reason: 'pr_closed', actor: 'ada' })],
  ['by a person without a login', ended('CANCELLED', { actor: { trunkUserId: uuid } })],
  ['without a word and an actor', ended('CANCELLED', {})],
  ['without a timeline', record('CANCELLED')],
  ['failed without a timeline', record('FAILED')],
  ['failed without a word, with a run', record('FAILED'), failedRun],
  ['failed without a word, with a run that was stopped', record('FAILED'), { status: 'cancelled' }],
  ['a word that is not known', ended('FAILED', { reason: 'cosmic_ray' }), failedRun],
  ['a word that is not known, by ada', ended('CANCELLED', { reason: 'cosmic_ray', actor: ada })],
  ['a word of another state', ended('FAILED', { reason: 'pr_closed' })],
  ['without a state', record('FAILED', { timeline: [{ failure: { reason: 'test_run_timeout' } }] })],
  [
    'failure as the state',
    record('FAILED', { timeline: [{ state: 'failure', reason: 'test_run_timeout' }] }),
  ],
  [
    'a conflict with one ahead',
    ended(
      'FAILED',
      { reason: 'start_test_run_merge_conflict' },
      { conflictCulprit: { type: 'queue_pr', prNumber: 105 } },
    ),
  ],
  [
    'a conflict with the target branch',
    ended('FAILED', { reason: 'start_test_run_merge_conflict', conflictCulprit: { type: 'base_branch' } }),
  ],
  [
    'a rule that is not met',
    ended('FAILED', {
      reason: 'github_api_branch_protection_unmet',
      blockReasons: [{ kind: 'behind_base' }, { kind: 'awaiting_required_check' }],
    }),
  ],
  [
    "GitHub's own words",
    ended('FAILED', { reason: 'github_api_merge_pr_failed', apiFailureMessage: 'Base was modified' }),
  ],
  [
    'waits again after an older attempt failed',
    record('PENDING', {
      timeline: [
        {
          state: 'pending',
          pending: {
            reason: 'prerequisite_merge_item_failed',
            prerequisitePullRequests: [{ prNumber: 119 }],
          },
        },
        { state: 'not_ready', notReady: { reason: 'user_requested', actor: ada } },
        ...older,
      ],
    }),
  ],
  [
    'waits for an approval',
    record('TESTING'),
    {
      checkSuites: [{ checkRuns: [{ name: 'deploy', status: 'WAITING' }] }],
    },
  ],
  [
    'a stack without targets',
    record('NOT_READY', {
      prBaseBranch: 'checkout-step-one',
      readiness: { doesBaseBranchMatch: true, requiresImpactedTargets: true, hasImpactedTargets: false },
    }),
  ],
  [
    'a default that was used once proves nothing',
    record('PENDING', { priorityValue: 10, usedDefaultPriorityName: 'medium' }),
  ],
  ['tested with others', record('TESTING'), { testedPullRequests: [{ prNumber: 7 }, { prNumber: 8 }] }],
  ['a check that timed out', record('FAILED', { reason: 'test_run_required_status_failed' }), timedOut],
  ['a check that timed out, without a word', record('FAILED'), timedOut],
  ['cancelled, with a run in which a check failed', record('CANCELLED'), failedRun],
  ['merged, with a run in which a check failed', record('MERGED'), { ...failedRun, dependentPrs: [5, 6] }],
  [
    'just submitted, with a time limit',
    submitted('11:59:50'),
    undefined,
    queue('RUNNING', [], { notReadyTimeoutHours: 24 }),
  ],
  ['submitted more than a minute ago', submitted('11:58:30')],
  ['passed, the first in the queue', ...passed()],
  ['passed, behind another one', ...passed(entry(5, 'TESTING'))],
  [
    'waits for two, of which one has left',
    record('PENDING', {
      timeline: [
        { state: 'pending', prerequisitePullRequests: [{ prNumber: 91 }, { prNumber: 52 }] },
        { state: 'not_ready' },
      ],
    }),
    undefined,
    queue('RUNNING', [entry(52, 'TESTING'), entry(7, 'PENDING')]),
  ],
  ['without a queue', undefined, undefined, null],
  ['a state that nobody knows', record('SOMETHING_NEW')],
  [
    'not ready for too long, without targets',
    {
      ...ended('CANCELLED', { reason: 'not_ready_timeout_expired' }),
      readiness: { doesBaseBranchMatch: true, requiresImpactedTargets: true, hasImpactedTargets: false },
    },
  ],
]

test('`pr explain` says of each word of the service what it means, whose it is and what to do', async () => {
  const told = others.map(([title, ...read]) => [title, explain(...read)] as const)
  const text = [...words, ...told].map(([title, explained]) => `=== ${title}\n${explained}\n`).join('\n')
  await expect(text).toMatchFileSnapshot('../golden/pr-explain-words.txt')
})

test('nobody is told to submit what may have merged, and no run is blamed for what is not its failure', () => {
  const all = new Map<string, string>(words)
  for (const [title, text] of all)
    if (text.includes('"mayBeMerged":true')) expect([title, text]).not.toContain('pr submit')
  expect(all.get('FAILED github_api_rate_limit_exceeded')).not.toContain('e2e')
  expect(all.get('FAILED test_run_required_status_failed')).toContain('check "e2e" failed')
})
