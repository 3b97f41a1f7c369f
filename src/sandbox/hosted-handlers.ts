import { pullRequestStates } from '../domain/states.ts'
import { repositoryName } from '../domain/values/repository.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from './dialects.ts'
import { finalStates } from './engine/queue-queries.ts'
import { checkField, choiceField, readField } from './field-types.ts'
import type { Handler } from './handler.ts'
import { paginate } from './paginate.ts'
import {
  getField,
  readInteger,
  readOptionalText,
  readQueueRef,
  readRepository,
  readText,
  readTime,
} from './request-fields.ts'
import { formatPullRequest, formatTest } from './response-records.ts'
import type { SandboxState } from './sandbox-state.ts'
import { createUuid } from './seed.ts'
import { statusError } from './status-error.ts'
import type { SandboxTest } from './test-history.ts'

/**
 * Operations that only the hosted service has (docs/reference/service.md, "Hosted service only"). The
 * sandbox's own: both dialects have them, with the fields that were observed.
 */

const withObservedFields = ({ dialect }: SandboxState): Dialect => ({ ...dialect, hasObservedFields: true })

const stateField = choiceField(...pullRequestStates.map(state => state.toLowerCase()))

const defaultTake = 50

/**
 * Lists pull requests (docs/reference/service.md, "listPullRequests"). The sandbox's own: the latest
 * submission comes first, and `since` and `until` include both ends.
 */
const listPullRequests: Handler = (sandbox, { body }) => {
  const queue = sandbox.getQueue(readQueueRef(body))
  sandbox.checkStateCase(body)
  const state = readField<string | undefined>(body, 'state', stateField, undefined)
  const since = body.since === undefined ? undefined : readTime(body, 'since')
  const until = body.until === undefined ? undefined : readTime(body, 'until')
  const take = body.take === undefined ? defaultTake : readInteger(body, 'take', 1, 100)
  const cursor = readOptionalText(body, 'cursor') ?? ''
  const isWanted = (pullRequest: { readonly state: string; readonly stateChangedAt: number }) =>
    (state === undefined || pullRequest.state.toLowerCase() === state) &&
    ((since === undefined && until === undefined) || finalStates.includes(pullRequest.state)) &&
    pullRequest.stateChangedAt >= (since ?? 0) &&
    pullRequest.stateChangedAt <= (until ?? Number.POSITIVE_INFINITY)
  const found = [...queue.pullRequests.values()]
    .filter(isWanted)
    .sort((one, other) => other.submitOrder - one.submitOrder)
  const queryKey = JSON.stringify([repositoryName(queue.repo), queue.targetBranch, state, since, until])
  const { items, page } = paginate(found, take, cursor, queryKey)
  const dialect = withObservedFields(sandbox)
  return {
    document: {
      pullRequests: items.map(pullRequest => formatPullRequest(queue, pullRequest, dialect, false)),
      nextCursor: getField(page, 'next_page_token') || null,
    },
  }
}

function readTestPage<T>(body: JsonObject, tests: readonly T[], query: readonly string[]) {
  const pageSize = readInteger(body, 'page_query.page_size', 1, 100)
  const token = getField(body, 'page_query.page_token') ?? ''
  if (typeof token !== 'string') throw statusError(400, 'page_query.page_token must be a string.')
  return paginate(tests, pageSize, token, JSON.stringify([repositoryName(readRepository(body)), ...query]))
}

/**
 * Lists quarantined tests (docs/reference/service.md, "list-quarantined-tests"). The sandbox's own: a broken
 * test is always quarantined by hand, and `test_case_id` is another id than that of other lists.
 */
const listQuarantinedTests: Handler = (sandbox, { body }) => {
  const tests = sandbox.getTests(readRepository(body)).filter(({ isQuarantined }) => isQuarantined)
  readText(body, 'org_url_slug')
  const { items, page } = readTestPage(body, tests, ['quarantined'])
  return {
    document: {
      quarantined_tests: items.map(test => ({
        name: test.name,
        parent: test.parent,
        file: test.filePath,
        classname: test.className,
        variant: test.variant,
        status: test.health.toUpperCase(),
        codeowners: test.owners,
        quarantine_setting: test.health === 'broken' ? 'ALWAYS_QUARANTINE' : 'AUTO_QUARANTINE',
        status_last_updated_at: sandbox.dialect.formatTime(test.healthSince),
        test_case_id: createUuid('quarantined test', test.id),
      })),
      page,
    },
  }
}

const unhealthyField = choiceField('flaky', 'broken')

const listUnhealthyTests: Handler = (sandbox, { body }) => {
  const repo = readRepository(body)
  readText(body, 'org_url_slug')
  const status = checkField(body.status, 'status', unhealthyField)
  const tests = sandbox.getTests(repo).filter(({ health }) => health === status)
  const { items, page } = readTestPage(body, tests, ['unhealthy', status])
  const formatUnhealthy = (test: SandboxTest) => {
    const {
      failure_rate_last_7d: _7d,
      failure_rate_last_24h: _24h,
      ...record
    } = formatTest(test, repo, withObservedFields(sandbox))
    return record
  }
  return { document: { tests: items.map(formatUnhealthy), page } }
}

/**
 * Links a ticket to a test (docs/reference/service.md, "link-ticket-to-test-case"). The sandbox's own: the
 * ticket gets an invented address, which the records of the test show from then on.
 */
const linkTicket: Handler = (sandbox, { body }) => {
  sandbox.linkTicket(
    readRepository(body),
    readText(body, 'test_case_id').toLowerCase(),
    readText(body, 'external_ticket_id'),
  )
  return undefined
}

export const hostedHandlers = {
  listPullRequests,
  'flaky-tests/list-quarantined-tests': listQuarantinedTests,
  'flaky-tests/list-unhealthy-tests': listUnhealthyTests,
  'flaky-tests/link-ticket-to-test-case': linkTicket,
  // The sandbox's own: the form of the response is not known.
  status: () => ({ document: { status: 'ok' } }),
} as const satisfies Readonly<Record<string, Handler>>
