import { param } from '../api/operation.ts'
import * as operations from '../api/operations/pull-requests.ts'
import { countRead, formatBytes, pluralize } from '../domain/format.ts'
import { queueName } from '../domain/values/repository.ts'
import { parseMoment, toIso } from '../domain/values/time.ts'
import { choice, listOf, mapped, moment, text } from '../domain/values/types.ts'
import { MergeqError, usageError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { defineMethod, listParams, type Method } from './method.ts'
import { explanationRecord } from './records.ts'

/** Whether a pull request is by an author, whose name may begin with `@`. */
const isBy = (author: string, record: JsonObject): boolean =>
  getString(record, 'prAuthor')?.toLowerCase() === author.replace(/^@/, '').toLowerCase()

const { repo, targetBranch, since, state } = operations.listPullRequests.params

/** Lists pull requests of a queue, including finished ones; each is given once. */
export const listPullRequests = defineMethod(operations.listPullRequests, {
  params: {
    repo,
    targetBranch,
    // One request for each state; without any, one request for all states.
    states: param(listOf(operations.pullRequestState), state.summary, {
      setsBodyPaths: ['state'],
    }),
    since: param(moment, since.summary, { setsBodyPaths: ['since'] }),
    // The service cannot select by author: other pull requests are dropped here.
    author: param(
      mapped(text('author', 'name'), name => {
        if (name === '@me') throw usageError("'@me' is not a login.", 'Use your login, such as octocat.')
        return name
      }),
      'Only pull requests by this author (filtered by mergeq, not by the service)',
    ),
    ...listParams('pull requests', 'take'),
  },
  list({ repo, targetBranch, states = [], author, since: moment, ...values }, now, nameOf) {
    const since = moment === undefined ? undefined : parseMoment(moment, now)
    const conditions = [
      ...new Set(states),
      ...(since === undefined ? [] : [`ended since ${toIso(since)}`]),
      ...(author === undefined ? [] : [`by ${author}`]),
    ]
    const selection = conditions.length === 0 ? '' : ` (${conditions.join(', ')})`
    const wanted = states.length === 0 ? [undefined] : [...new Set(states)]
    return {
      ...values,
      operation: operations.listPullRequests,
      parts: wanted.map(state => ({ repo, targetBranch, since, state })),
      hiddenBy: record => (author === undefined || isBy(author, record) ? undefined : nameOf('author')),
      describesFilters: true,
      describe: ({ shown, isWhole }) =>
        `${countRead(shown, 'pull request', isWhole)} for ${queueName({ repo, targetBranch })}${selection}.`,
      envelope({ complete, isContinued, envelope: { nextCursor, ...others } }) {
        const cursor = isContinued && nextCursor !== undefined ? { nextCursor } : {}
        const start = since === undefined ? {} : { start: toIso(since) }
        return { ...others, ...cursor, window: { ...start, complete } }
      },
    }
  },
})

/** Explains a pull request; the command line and the library read what it takes with `explain`. */
export const explainPullRequest = {
  ...operations.getPartialPullRequest,
  name: 'explainPullRequest',
  summary: 'Explains why a pull request is not merging and what to do next.',
  params: { repo, targetBranch, pr: operations.getPartialPullRequest.params.pr },
  exclusive: [],
  response: explanationRecord,
} satisfies Method

const { forkedRun, sha, targets, ...targetParams } = operations.setImpactedTargets.params

/** Sets the impacted targets of a pull request; a list that is too large becomes `"ALL"`. */
export const setImpactedTargets = defineMethod(operations.setImpactedTargets, {
  params: {
    ...targetParams,
    // The hosted service requires it; `false` sends none.
    sha: { ...sha, required: true },
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
    if (!operations.isEncoded(targets) || targets.list === 'ALL' || targets.list.bytes === 2) return undefined
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
