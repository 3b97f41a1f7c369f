// The records of waits and watches: what the commands print, and what the methods of the library give.
import { field, type Infer, list, named, oneOf, optional, placeFields } from '../api/operations/fields.ts'
import { serviceWordFields } from '../api/operations/records.ts'
import { waitOutcomes } from '../domain/states.ts'

/** Why the pull request left; the `reason` of a result is the sentence of the wait. */
const { reason, serviceReason, by, actor, again, mayBeMerged } = serviceWordFields

const optionalWords = {
  serviceReason: optional(serviceReason),
  by: optional(by),
  actor: optional(actor),
  again: optional(again),
  mayBeMerged: optional(mayBeMerged),
}

export const changeRecord = named('WaitChange', 'A change between two polls.', {
  type: oneOf('change'),
  pr: 'number',
  from: field('string | null', 'Null for the first state that was read.'),
  to: 'string',
  at: 'string',
  position: field('number | null', 'The position in the queue, from 1, if it is known.'),
})

/** What the change of a pull request that left the queue has besides: the submitter if that is known. */
export const submitterFields = { author: 'string', submittedBy: 'string' } as const

/** A change of a queue that is watched. */
export const queueChangeRecord = named(
  'QueueChange',
  'A change of a queue between two polls. The last fields are those of a pull request that left the queue.',
  {
    type: oneOf('change'),

    pr: field('number | null', 'Null for the state of the queue itself.'),
    from: field(
      'PullRequestState | QueueState | null',
      'The state before; null if the pull request was not in the queue, or left it before the first poll.',
    ),
    to: field('PullRequestState | QueueState | null', 'The new state; null if it is not known.'),
    at: field('string', 'When it changed, in RFC 3339: the time of the service, or else that of the poll.'),
    position: field(
      'number | null',
      'The position in the queue, from 1; null for the queue itself and for a pull request that left.',
    ),
    repo: placeFields.repo,
    targetBranch: placeFields.targetBranch,
    author: optional(submitterFields.author),
    submittedBy: optional(submitterFields.submittedBy),
    reason: optional({ ...reason, summary: 'Why it left, as a sentence; null if that is not known.' }),
    ...optionalWords,
    mayBeMerged: optional(field('boolean', 'Whether it may have merged all the same.')),
  },
)

/** The result of a wait (docs/reference/cli.md, "Waiting"). */
export const waitResultRecord = named('WaitResult', 'How the wait for a pull request ended.', {
  type: oneOf('result'),
  pr: 'number',
  repo: optional(field('string', 'As `host/owner/name`; only if it is not the repository of the settings.')),
  title: 'string | null',
  url: field('string', 'The address of the pull request.'),
  outcome: field(
    oneOf(...waitOutcomes),
    '`reached`: the state of `until`. `pending`: `timeout` was 0, and the pull request has not finished, or the queue is paused. `stale`: the head is another commit. `error`: the state could not be read; `reason` says why.',
  ),
  state: field(
    'PullRequestState | null',
    'The last state that was read; null if the service did not know the pull request.',
  ),
  reason: field('string', 'The outcome as a sentence: `#7 merged after 6m52s`; of an `error`, its message.'),
  failingChecks: optional(
    list(
      named('FailingCheck', 'A check that failed.', {
        name: 'string',
        url: 'string | null',
        conclusion: field(
          'string',
          'The conclusion of a check run, or the state of a status, as the service gives it.',
        ),
      }),
      'Only if the pull request failed; empty if the checks are not known.',
    ),
  ),
  ...optionalWords,
  stacked: optional(
    field('true', 'Only true: the pull requests below it in its stack are tested and merged with it.'),
  ),
  elapsedSeconds: field('number', 'How long the wait lasted, in seconds.'),
  exit: field('number', 'The exit code of the command line: 0 if the pull request reached the state.'),
})

/** What a result of a wait that submits has besides. */
export const submittedFields = {
  submitted: field(
    'boolean | null',
    'Whether it was submitted, in any attempt: false if it was in the queue already, had merged, or could not be submitted; null if that is not known.',
  ),
  wasQueued: optional(
    field('boolean', 'Whether it was in the queue before the first submission; not given after later ones.'),
  ),
}

export const landResultRecord = {
  ...named('LandResult', 'How the landing of a pull request ended.', {
    ...submittedFields,
    attempts: field('number', 'How many submissions there were, with one that was in the queue already.'),
  }),
  base: waitResultRecord,
}

/** The result of any wait. */
export type PrintedResult = Infer<typeof waitResultRecord> & Partial<Infer<typeof landResultRecord>>

export const attemptRecord = named('LandAttempt', 'A submission of `landPullRequests`.', {
  type: oneOf('attempt'),
  pr: 'number',
  attempt: field('number', 'From 1.'),
  reason: field(
    'string',
    'Why it is submitted, as a sentence: after a failure what the service says, or that it was in the queue already.',
  ),
})
