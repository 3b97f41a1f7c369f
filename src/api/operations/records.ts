// Records that mergeq makes of what the service says.
import {
  field,
  flag,
  list,
  named,
  nested,
  nullable,
  number,
  oneOf,
  placeFields,
  stacked,
  text,
} from './fields.ts'

const textOrNull = field('string | null')

/** Why a pull request is in its state, in the words of the service; `reason` says it in a sentence. */
export const serviceWordFields = {
  reason: field('string | null', 'Why it is in its state, in a sentence.'),
  serviceReason: field('string | null', 'The word of the service for it.'),
  by: nullable(
    field(
      oneOf('author', 'ahead', 'queue', 'setup', 'host', 'push', 'person', 'program', 'service', 'unknown'),
      'Who caused it: the pull request itself, one ahead of it, GitHub, and so on.',
    ),
  ),
  actor: field('string | null', 'The login of who did it; null if the service names nobody.'),
  again: nullable(
    field(
      oneOf('later', 'after-change', 'look', 'no', 'queued', 'done'),
      'Whether to submit it again: after a pause, after a change, after a look, or not.',
    ),
  ),
  mayBeMerged: field(
    'boolean | null',
    'Whether it may have merged all the same; null if a wait could not read why it ended.',
  ),
}

const reasons = list(
  named('Reason', 'Why a pull request is not merging, or a queue does not move.', {
    code: field('string', 'Stable.'),
    message: field('string', 'Text for people.'),
  }),
)

const next = list(
  named('NextStep', 'What to do next.', {
    command: field('string | null', 'Null if it is done elsewhere.'),
    why: text,
  }),
)

/** What `pr explain` and `explainPullRequest` give. */
export const explanationRecord = named(
  'Explanation',
  'Why a pull request is not merging, and what to do next.',
  {
    pr: number,
    targetBranch: text,
    title: textOrNull,
    verdict: field(
      oneOf('waiting', 'blocked', 'testing', 'held', 'dropped', 'merged', 'not-found', 'unknown'),
    ),
    state: field('PullRequestState | null'),
    since: field('string | null', 'When the pull request entered the state, as the service wrote it.'),
    ...serviceWordFields,
    stacked,
    queue: nullable(
      nested(
        named('ExplainedQueue', 'The queue of an explained pull request.', {
          state: field('QueueState | null'),
          position: field('number | null', 'From 1; null if the queue does not list the pull request.'),
          length: number,
          ahead: field('readonly number[]', 'The numbers of the pull requests ahead.'),
          testing: number,
          concurrency: field('number | null'),
        }),
      ),
    ),
    testRun: nullable(
      nested(
        named('ExplainedTestRun', 'The test run of an explained pull request.', {
          id: text,
          status: textOrNull,
          failing: field('readonly string[]', 'The names of the failing checks.'),
          pending: field('readonly string[]', 'The names of the checks that have not finished.'),
          missing: field(
            'readonly string[]',
            'The names of the required checks that have not reported while the run goes on.',
          ),
        }),
      ),
    ),
    reasons,
    next,
    submitAgain: nested(
      named('SubmitAgain', 'Whether to submit a pull request again.', {
        safe: field('boolean | null', 'Null if that is unknown.'),
        needsChange: flag,
        why: text,
      }),
    ),
    unread: list(
      named('UnreadSource', 'What could not be read.', {
        what: field(oneOf('queue', 'test run')),
        why: text,
      }),
    ),
    repo: placeFields.repo,
    url: placeFields.url,
    estimate: nullable(
      nested(
        named('MergeEstimate', 'When a pull request may merge that is queued in a queue that runs.', {
          ahead: field('number', 'How many pull requests are ahead of it.'),
          mergedLastHour: number,
          seconds: field(
            'number | null',
            '(ahead + 1) / mergedLastHour; null if none merged in the last hour.',
          ),
          at: textOrNull,
        }),
      ),
    ),
  },
)

/** What `queue explain` and `explainQueue` give. */
export const queueExplanationRecord = named(
  'QueueExplanation',
  'Why nothing moves in a queue, and what to do next.',
  {
    repo: field('string', 'As `host/owner/name`.'),
    targetBranch: text,
    verdict: field(
      oneOf(
        'paused',
        'draining',
        'switching-modes',
        'unknown',
        'empty',
        'waiting',
        'blocked',
        'stalled',
        'moving',
      ),
      'In a stalled queue no pull request changed its state for an hour; a waiting one has only some that are not ready.',
    ),
    state: field('QueueState | null'),
    mode: textOrNull,
    depth: field('number', 'The pull requests that the queue lists.'),
    head: nullable(nested(explanationRecord)),
    testing: field('number', 'The pull requests under test.'),
    concurrency: field('number | null'),
    batches: list(
      named('Batch', 'Pull requests that share a test run.', {
        testRunId: text,
        pullRequests: field('readonly number[]'),
      }),
    ),
    notReady: field(
      'number | null',
      'Submitted pull requests that are not ready; null if that is not known.',
    ),
    notReadyPullRequests: list(
      named(
        'NotReadyPullRequest',
        'A pull request that is not ready, with what it waits for; at most 20 are read.',
        { pr: number, title: textOrNull, since: textOrNull, reasons },
      ),
    ),
    reasons,
    next,
    unread: list(named('UnreadPart', 'What could not be read.', { what: text, why: text })),
  },
)

/** A queue as `queue list` and `listQueues` give it; a number that the metrics do not say is null. */
export const queueSummaryRecord = named(
  'QueueSummary',
  'A queue in the metrics, and its activity in the last hour.',
  {
    repo: field('string | null', 'As `host/owner/name`.'),
    branch: text,
    depth: field('number | null', 'The pull requests in the queue.'),
    testing: field('number | null'),
    merged: field('number | null', 'In the last hour.'),
    failed: field('number | null', 'In the last hour.'),
    notReady: field('number | null', 'Submitted pull requests that are not ready; not part of the depth.'),
  },
)
