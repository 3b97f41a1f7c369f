import { MergeqError, usageError } from '../../base/errors.ts'
import { getNumber, getString, type JsonObject } from '../../base/json.ts'
import { pullRequestStates, stateOption, withNormalizedState } from '../../domain/states.ts'
import { parseCommit } from '../../values/commit.ts'
import { countRead, formatBytes, pluralize } from '../../values/format.ts'
import { isSameLogin } from '../../values/login.ts'
import { isPullRequestReference, parsePullRequest } from '../../values/pull-request.ts'
import { queueName } from '../../values/repository.ts'
import { isOtherAddress, testRunInAddress } from '../../values/test-run.ts'
import { parseMoment, toIso } from '../../values/time.ts'
import { parseTimeRange } from '../../values/time-range.ts'
import {
  anyText,
  branch,
  choice,
  listOf,
  mapped,
  moment,
  priority,
  type Type,
  text,
  toggle,
} from '../../values/types.ts'
import { listOperation, listParams, pageSizeType, rangeParams } from '../list-operation.ts'
import { defineOperation, extendOperation, type RecoveryRule } from '../operation.ts'
import { type ParamValues, param, pullRequestNumber, queueParams, requiredParam } from '../params.ts'
import { anyField, emptyDecoder, listDecoder, type Pages, recordDecoder } from '../response.ts'
import type { ImpactedTargets } from '../target-list.ts'
import { pullRequestListRecord, pullRequestRecord, testRunRecord } from './fields.ts'

const pullRequestParams = {
  ...queueParams,
  pr: requiredParam(pullRequestNumber, "Pull request: 123, '#123' or a URL", {
    location: 'body.pr.number',
    setting: 'pr',
  }),
}

export const hasState = (record: JsonObject): boolean => (getString(record, 'state') ?? '') !== ''

export const getSubmittedPullRequest = defineOperation({
  route: 'POST /getSubmittedPullRequest',
  summary: 'Reads the state and priority of a submitted pull request.',
  params: {
    ...queueParams,
    pr: param(pullRequestNumber, "Pull request: 123, '#123' or a URL", { location: 'body.pr.number' }),
    head: param(branch, 'Find the pull request by its head branch', { location: 'body.pr.branch' }),
    includeTimeline: param(toggle, 'Show the events of the pull request'),
    includeEstimatedTimeToMerge: param(toggle, 'Show when the service expects the merge'),
  },
  exclusive: [['head', 'pr']],
  response: pullRequestRecord,
  decoder: recordDecoder(withNormalizedState, { name: 'state', isPresent: hasState }),
  checkResponse({ records: [record = {}] }, { pr }) {
    const number = record.prNumber ?? pr
    if (pr !== undefined && String(number) !== String(pr))
      throw new MergeqError('bad-answer', `it is about another pull request than #${pr}.`, {
        hint: 'Check the base URL, and any proxy or cache in front of the service.',
      })
  },
})

/** Reads the record of a pull request that may lack its state, but has any other field. */
export const getPartialPullRequest: typeof getSubmittedPullRequest = {
  ...getSubmittedPullRequest,
  decoder: recordDecoder(withNormalizedState, anyField('state')),
}

/** What a reading of the record of a pull request says about a change of it. */
const recordRead = (rule: RecoveryRule) => ({ operation: getSubmittedPullRequest, rule })

/** What a submission says besides its pull request: all who submit take these params, and pass them whole. */
export const submissionParams = {
  priority: param(priority, 'Priority: urgent, high, medium, low, or 0 (first) to 255 (last)'),
  // Without the option the service decides.
  noBatch: param(toggle, 'Test the pull request alone, never in a batch'),
}

export type SubmissionValues = ParamValues<typeof submissionParams>

export const submitPullRequest = defineOperation({
  route: 'POST /submitPullRequest',
  summary: 'Submits a pull request to the queue for testing and merging.',
  change: {
    noun: 'submission',
    done: 'submitted',
    sentence: { before: 'Submit {pr} to {queue}', after: 'Submitted {pr} to {queue}' },
    isSubmission: true,
    actsOnGuess: true,
    recovery: { readBack: recordRead('submit'), replay: 'if-not-applied', alreadyAppliedStatus: 409 },
  },
  params: { ...pullRequestParams, ...submissionParams },
  decoder: emptyDecoder,
  errors: { check: ['the pull request number', 'repo', 'targetBranch'], makesSubject: true },
})

export const cancelPullRequest = defineOperation({
  route: 'POST /cancelPullRequest',
  summary: 'Removes a pull request from the queue.',
  change: {
    noun: 'cancellation',
    done: 'cancelled',
    sentence: { before: 'Cancel {pr} in {queue}', after: 'Cancelled {pr}: removed from {queue}' },
    recovery: { readBack: recordRead('cancel'), replay: 'if-not-applied', alreadyAppliedStatus: 404 },
  },
  params: pullRequestParams,
  decoder: emptyDecoder,
})

export const restartTestsOnPullRequest = defineOperation({
  route: 'POST /restartTestsOnPullRequest',
  summary: 'Restarts the tests of a queued pull request.',
  change: {
    noun: 'restart',
    done: 'restarted',
    sentence: {
      before: 'Restart the tests of {pr} in {queue}',
      after: 'Requested a restart of the tests of {pr} in {queue}',
    },
    // A second restart would discard the tests that the first one started.
    recovery: { readBack: recordRead('restart'), replay: 'never' },
  },
  params: pullRequestParams,
  decoder: emptyDecoder,
})

/** Targets as a program gives them, or as they were read and encoded. */
type TargetsValue = 'ALL' | readonly string[] | ImpactedTargets

/** Whether targets are encoded: those of the command line, and of a call after its options were checked. */
export const isEncoded = (targets: TargetsValue): targets is ImpactedTargets =>
  typeof targets === 'object' && 'list' in targets

const targetNames = listOf({
  ...text('target'),
  check(name: unknown) {
    if (name === '') throw usageError('A target must not be empty.')
    return String(name)
  },
})

const targetList: Type<TargetsValue> = {
  ...targetNames,
  expected: "a list of strings, or 'ALL'",
  declaration: "readonly string[] | 'ALL'",
  check: value => (value === 'ALL' ? value : targetNames.check(value)),
}

/** Any text, as the service takes it; a program may give `false` to send none. */
const sentCommit: Type<string | false> = {
  ...text('head commit', 'sha'),
  declaration: 'string | false',
  check: value => (value === false ? value : text('head commit').check(value)),
}

/** A commit; a program may give `false` to send none. */
const sentHead = mapped(sentCommit, sha => (sha === false ? sha : parseCommit(sha)))

const impactedTargetsRequest = defineOperation({
  route: 'POST /setImpactedTargets',
  summary: 'Sets the impacted targets of a pull request.',
  change: {
    noun: 'target upload',
    done: 'updated',
    sentence: {
      before: 'Set the impacted targets of {pr} in {queue}',
      after: 'Set the impacted targets of {pr} in {queue}',
    },
    actsOnGuess: true,
    // No operation shows the targets; the last upload for a commit wins
    // (docs/reference/service.md, "setImpactedTargets").
    recovery: { replay: 'without-reading' },
  },
  params: {
    ...pullRequestParams,
    pr: { ...pullRequestParams.pr, takesText: true },
    sha: param(sentCommit, 'Head commit that the targets belong to', {
      location: 'body.pr.sha',
      setting: 'sha',
      encode: sha => (sha === false ? undefined : sha),
    }),
    // A run of a pull request from a fork has no token: its id replaces it
    // (docs/reference/service.md, "setImpactedTargets").
    forkedRun: param(
      text('run ID', 'id'),
      'GitHub run ID to send instead of a token, for pull requests from forks',
      { location: 'credential.x-forked-workflow-run-id', setting: 'forkedRun' },
    ),
    targets: requiredParam(targetList, 'Names of the impacted targets', {
      location: 'body.impactedTargets',
      encode: targets => (isEncoded(targets) ? targets.list : targets),
    }),
  },
  decoder: emptyDecoder,
})

/** The ID of a test run, an address that has it, or the name of a test branch, which ends in the ID. */
const testRunId: Type<string> = mapped(text('test run', 'run'), name => {
  if (isPullRequestReference(name))
    throw usageError(
      `'${name}' is a pull request, not a test run.`,
      `Give it as pr: ${parsePullRequest(name).number}.`,
    )
  return isOtherAddress(name)
    ? testRunInAddress(name)
    : text('test run').parse(name.slice(name.lastIndexOf('/') + 1))
})

export const getMergeQueueTestingDetails = defineOperation({
  route: 'POST /getMergeQueueTestingDetails',
  summary: 'Reads a test run: its checks and pull requests.',
  params: {
    ...queueParams,
    run: param(testRunId, 'Test run ID, its URL, or a test branch whose name ends in the ID', {
      location: 'body.testRunId',
    }),
    pr: param(pullRequestNumber, 'Find the test run of this pull request', { location: 'body.pr.number' }),
  },
  exclusive: [['run', 'pr']],
  response: testRunRecord,
  decoder: recordDecoder(document => document),
  errors: { subject: 'the test run', check: ['the test run ID', 'repo', 'targetBranch'] },
})

const pullRequestPages: Pages = {
  key: 'pullRequests',
  noun: 'pull request',
  end: { nextToken: 'nextCursor' },
  idOf: record => getNumber(record, 'prNumber')?.toString(),
}

const stateName = choice(pullRequestStates.map(stateOption), 'state')

/** Parses a state in any case, `not-ready` or `NOT_READY`, and returns it as the service spells it. */
function parseState(word = ''): string {
  return stateName.parse(word.replaceAll('_', '-')).toUpperCase().replaceAll('-', '_')
}

const pullRequestState: Type<string> = {
  ...stateName,
  declaration: 'PullRequestState',
  parse: parseState,
  check: value => parseState(String(value)),
}

/** Lists pull requests of a queue, including finished ones (docs/reference/service.md, "listPullRequests"). */
export const pullRequestsPage = defineOperation({
  route: 'POST /listPullRequests',
  summary: 'Lists pull requests of a queue, including finished ones.',
  isHostedOnly: true,
  params: {
    ...queueParams,
    ...rangeParams('pull requests that merged, failed or were cancelled'),
    state: param(pullRequestState, 'Only pull requests in this state'),
    // `cursor` and `take` are members of the body itself.
    pageToken: param(anyText, 'Fetch only the page with this cursor', {
      location: 'body.cursor',
      encode: token => (token === '' ? undefined : token),
    }),
    pageSize: param(pageSizeType, 'Pull requests per page', { location: 'body.take' }),
  },
  response: pullRequestRecord,
  document: pullRequestListRecord,
  decoder: listDecoder(pullRequestPages, withNormalizedState),
  errors: { subject: 'the pull requests' },
  pages: pullRequestPages,
})

const { repo, targetBranch, since, until, state } = pullRequestsPage.params

/** Lists pull requests of a queue, including finished ones; each is given once. */
export const listPullRequests = listOperation(pullRequestsPage, {
  params: {
    repo,
    targetBranch,
    // One request for each state; without any, one request for all states.
    states: param(listOf(pullRequestState), state.summary, { location: 'body.state' }),
    since: param(moment, since.summary, { location: 'body.since' }),
    until: param(moment, until.summary, { defaultText: 'now', location: 'body.until' }),
    // The service cannot select by author: other pull requests are dropped here.
    author: param(
      mapped(text('author', 'name'), name => {
        if (name === '@me') throw usageError("'@me' is not a login.", 'Use your login, such as octocat.')
        return name
      }),
      'Only pull requests by this author (filtered by mergeq, not by the service)',
    ),
    ...listParams('pull requests', 'body.take'),
  },
  list({ repo, targetBranch, states = [], author, since: from, until: to, ...values }, now, nameOf) {
    const since = from === undefined ? undefined : parseMoment(from, now)
    const until = to === undefined ? undefined : parseMoment(to, now)
    if (to !== undefined) parseTimeRange(from ?? '1970-01-01', to, now, nameOf)
    const conditions = [
      ...new Set(states),
      ...(since === undefined ? [] : [`ended since ${toIso(since)}`]),
      ...(until === undefined ? [] : [`ended until ${toIso(until)}`]),
      ...(author === undefined ? [] : [`by ${author}`]),
    ]
    const selection = conditions.length === 0 ? '' : ` (${conditions.join(', ')})`
    const wanted = states.length === 0 ? [undefined] : [...new Set(states)]
    return {
      ...values,
      operation: pullRequestsPage,
      parts: wanted.map(state => ({ repo, targetBranch, since, until, state })),
      hiddenBy: record =>
        author === undefined || isSameLogin(getString(record, 'prAuthor'), author)
          ? undefined
          : nameOf('author'),
      describesFilters: true,
      describe: ({ shown, isWhole }) =>
        `${countRead(shown, 'pull request', isWhole)} for ${queueName({ repo, targetBranch })}${selection}.`,
      envelope({ complete, isContinued, envelope: { nextCursor, ...others } }) {
        const cursor = isContinued && nextCursor !== undefined ? { nextCursor } : {}
        const start = since === undefined ? {} : { start: toIso(since) }
        const end = until === undefined ? {} : { end: toIso(until) }
        return { ...others, ...cursor, window: { ...start, ...end, complete } }
      },
    }
  },
})

const { forkedRun, sha, targets, ...targetParams } = impactedTargetsRequest.params

/** Sets the impacted targets of a pull request; a list that is too large becomes `"ALL"`. */
export const setImpactedTargets = extendOperation(impactedTargetsRequest, {
  params: {
    ...targetParams,
    // The hosted service requires it; `false` sends none.
    sha: { ...sha, type: sentHead, required: true },
    tooLarge: param(
      choice(['all', 'fail'], 'all|fail'),
      'If the list is over 20 MiB: all sends "ALL" instead, fail sends nothing',
      { defaultText: 'all' },
    ),
    forkedRun,
    // Read last: other usage errors are found before a long input is read.
    targets,
  },
  fallback(values, { details: { isBodyTooLarge = false, hint = '' } }) {
    const { targets, tooLarge } = values
    if (!isEncoded(targets) || targets.list === 'ALL' || targets.list.bytes === 2) return undefined
    const { number, bytesRead } = targets
    const input = `(${pluralize(number, 'target')}, ${formatBytes(bytesRead)} read)`
    if (tooLarge === 'fail' && isBodyTooLarge)
      throw new MergeqError('refused', `The list of targets is over 20 MiB ${input}. Nothing was sent.`, {
        operation: 'setImpactedTargets',
        hint,
      })
    if (tooLarge === 'fail') return undefined
    const large = isBodyTooLarge
      ? 'The list of targets is over 20 MiB'
      : 'The list of targets is too large for the service (413)'
    return {
      values: { ...values, targets: { ...targets, list: 'ALL' as const } },
      warning: `${large} ${input}. Sending "ALL" instead.`,
    }
  },
})

/** The requests about pull requests, by the names of the methods of the library. */
export const pullRequestRequests = {
  submitPullRequest,
  cancelPullRequest,
  restartTestsOnPullRequest,
  getSubmittedPullRequest,
  setImpactedTargets: impactedTargetsRequest,
  getMergeQueueTestingDetails,
  listPullRequests: pullRequestsPage,
}

/** What command line and library call. */
export const pullRequestOperations = { ...pullRequestRequests, setImpactedTargets, listPullRequests }
