import { countRead } from '../../domain/format.ts'
import { maxWindow } from '../../domain/limits.ts'
import { parseTimeRange, type TimeRange, windows } from '../../domain/time-range.ts'
import type { TextMatcher } from '../../domain/values/glob.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { toIso } from '../../domain/values/time.ts'
import {
  boolean,
  choice,
  decimal,
  glob,
  moment,
  testId,
  text,
  upperCaseChoice,
} from '../../domain/values/types.ts'
import { usageError } from '../../errors.ts'
import { get, getArray, getNumber, getString, isObject, type JsonObject } from '../../json.ts'
import {
  defineOperation,
  hintIfNotFound,
  pageParams,
  param,
  queueParams,
  requiredParam,
} from '../operation.ts'
import { type ListResult, type PagedList, Paginator } from '../pages.ts'
import {
  emptyDecoder,
  listDecoder,
  missingPartError,
  type ResponseDecoder,
  recordDecoder,
} from '../response.ts'
import {
  failingTestsRecord,
  quarantinedTestRecord,
  quarantinedTestsRecord,
  testDocumentRecord,
  testRecord,
  unhealthyTestsRecord,
} from './fields.ts'

const organizationParams = {
  repo: queueParams.repo,
  org: requiredParam(text('organization slug', 'slug'), 'Organization slug', {
    location: 'body.org_url_slug',
    setting: 'org',
  }),
}

const { limit, pageSize, maxPages } = pageParams('tests', ['page_query.page_size'])

const testPageParams = {
  limit,
  pageSize,
  pageToken: param(text('page token', 'token'), 'Fetch only the page with this token', {
    setsBodyPaths: ['page_query.page_token'],
    advanced: true,
  }),
  maxPages,
}

const quarantined = param(boolean, 'Only tests that are (or are not) quarantined')

const testFilterParams = {
  owner: param(text('owner', 'name'), 'Only tests of this code owner'),
  name: param(glob(false), 'Only tests whose name matches this pattern (case-sensitive)'),
  path: param(glob(true), 'Only tests whose file path matches this pattern'),
}

const numberIn = (test: JsonObject, path: string): number => getNumber(test, path) ?? -1

interface TestFilters {
  readonly owner?: string | undefined
  readonly quarantined?: boolean | undefined
  readonly minFailureRate?: number | undefined
  readonly name?: TextMatcher | undefined
  readonly path?: TextMatcher | undefined
}

/** Returns the option that hides a test, if one does; `filePath` is the member with the path of the file. */
function hiddenBy(
  test: JsonObject,
  { owner, quarantined, minFailureRate, name, path }: TestFilters,
  filePath = 'file_path',
): string | undefined {
  if (owner !== undefined && !getArray(test, 'codeowners').includes(owner)) return '--owner'
  if (quarantined !== undefined && get(test, 'quarantined') !== quarantined)
    return quarantined ? '--quarantined' : '--no-quarantined'
  if (minFailureRate !== undefined && numberIn(test, 'failure_rate_last_7d') < minFailureRate)
    return '--min-failure-rate'
  if (name !== undefined && !name.test(getString(test, 'name') ?? '')) return '--name'
  if (path !== undefined && !path.test(getString(test, filePath) ?? '')) return '--path'
  return undefined
}

const tokenPath = 'page.next_page_token'

function decodeTests(key: string): ResponseDecoder {
  const decoder = listDecoder({ key, tokenPath }, () =>
    missingPartError(`list of ${key.replaceAll('_', ' ')}`),
  )
  return {
    ...decoder,
    read(response) {
      const page = decoder.read(response)
      // Without it nobody knows whether the list is complete.
      if (!isObject(page.envelope?.page)) throw missingPartError('page information')
      return page
    },
  }
}

/** What the lists of tests have in common (docs/reference/service.md, "Pages"). */
const testPages = {
  key: 'tests',
  noun: 'test',
  segments: [{}],
  tokenPath,
  idOf: (test: JsonObject) => getString(test, 'id'),
  pageQuery: (token: string, pageSize: number) => ({
    page_query: { page_size: pageSize, page_token: token },
  }),
  envelope: (result: ListResult) => envelopeOf(result, {}),
}

/** The members beside the records in the one document for all pages; `window` says what they cover. */
function envelopeOf({ shown, pages, complete, envelope }: ListResult, window: JsonObject): JsonObject {
  const { page } = envelope
  const totals = { total_rows: shown, total_pages: pages }
  return {
    ...envelope,
    page: pages === 1 ? (isObject(page) ? page : {}) : totals,
    window: { ...window, complete },
  }
}

/** The time of the last known event of a test, in milliseconds since 1970, or 0. */
const lastSeen = (test: JsonObject): number =>
  [
    ...getArray(test, 'most_common_failures').map(failure => getString(failure, 'last_occurrence')),
    getString(test, 'status.timestamp'),
  ]
    .map(date => Date.parse(date ?? ''))
    .filter(time => !Number.isNaN(time))
    .reduce((latest, time) => Math.max(latest, time), 0)

const byRate = (a: JsonObject, b: JsonObject) =>
  numberIn(b, 'failure_rate_last_7d') - numberIn(a, 'failure_rate_last_7d')

/** The orders of tests, as functions that compare two of them. */
export const testOrders = {
  impact: (a: JsonObject, b: JsonObject) =>
    numberIn(b, 'pull_requests_impacted_last_7d') - numberIn(a, 'pull_requests_impacted_last_7d') ||
    byRate(a, b),
  rate: byRate,
  recent: (a: JsonObject, b: JsonObject) => lastSeen(b) - lastSeen(a),
  name(a: JsonObject, b: JsonObject) {
    const [one, other] = [getString(a, 'name') ?? '', getString(b, 'name') ?? '']
    return one < other ? -1 : Number(one > other)
  },
}

export type TestOrder = keyof typeof testOrders

/** A range in messages: `<start> to <end>` in ISO 8601. */
const describeRange = ({ start, end }: TimeRange): string => `${toIso(start)} to ${toIso(end)}`

/**
 * Lists the tests that failed in a range of time, each test once; without a start the range is 24 hours long, and
 * without an end it ends now (docs/reference/service.md, "list-failing-tests").
 */
export const listFailingTests = defineOperation({
  route: 'POST /flaky-tests/list-failing-tests',
  summary: 'Lists the tests that failed in a time range, each once.',
  params: {
    ...organizationParams,
    since: param(moment, 'Start of the range: a duration before now, such as 7d, or a date and time', {
      defaultText: '24h',
      setsBodyPaths: ['start_time'],
    }),
    until: param(moment, 'End of the range: a duration before now, such as 7d, or a date and time', {
      defaultText: 'now',
      setsBodyPaths: ['end_time'],
    }),
    ...testPageParams,
    quarantined,
    minFailureRate: param(decimal('x'), 'Only tests with at least this failure rate in the last 7 days'),
    ...testFilterParams,
    // Collects all tests, then sorts them; without it, tests are returned as they arrive.
    sort: param(
      choice(['impact', 'rate', 'recent', 'name'], 'key'),
      'Fetch all tests, then sort by impact, rate, recent or name',
    ),
  },
  response: testRecord,
  document: failingTestsRecord,
  decoder: decodeTests('tests'),
  errors: {
    subject: 'the failing tests',
    hint: hintIfNotFound('Check --repo and --org.'),
  },
  pagination({ sort, since, until, ...params }, now) {
    const range = parseTimeRange(since, until, now)
    if (params.pageToken !== undefined && range.end - range.start > maxWindow)
      throw usageError(
        '--page-token requires a range of at most 7 days.',
        'A page token is valid only for the range of the request that returned it. Use the same range.',
      )
    const list: PagedList = {
      ...testPages,
      segments: windows(range).map(window => ({
        start_time: toIso(window.start),
        end_time: toIso(window.end),
      })),
      hiddenBy: test => hiddenBy(test, params),
      order: sort === undefined ? undefined : testOrders[sort],
      describe({ shown, complete, matching }) {
        const count = countRead(shown, `${matching}test`, complete)
        if (complete) return `${count} failed from ${describeRange(range)}.`
        const order = sort === undefined ? ', in the order of the service' : ''
        return `Listed ${count} that failed from ${describeRange(range)}${order}.`
      },
      envelope: result => envelopeOf(result, { start: toIso(range.start), end: toIso(range.end) }),
    }
    return new Paginator(list, params)
  },
})

export const listQuarantinedTests = defineOperation({
  route: 'POST /flaky-tests/list-quarantined-tests',
  summary: 'Lists the quarantined tests of a repository.',
  isHostedOnly: true,
  params: { ...organizationParams, ...testPageParams, ...testFilterParams },
  response: quarantinedTestRecord,
  document: quarantinedTestsRecord,
  decoder: decodeTests('quarantined_tests'),
  errors: {
    subject: 'the quarantined tests',
    hint: hintIfNotFound('Check --repo and --org.'),
  },
  pagination({ repo, ...params }) {
    const list: PagedList = {
      ...testPages,
      key: 'quarantined_tests',
      idOf: test => getString(test, 'test_case_id'),
      hiddenBy: test => hiddenBy(test, params, 'file'),
      describe: ({ shown, matching, complete }) =>
        `${countRead(shown, `${matching}quarantined test`, complete)} in ${repositoryName(repo)}.`,
    }
    return new Paginator(list, params)
  },
})

/** The statuses of a test that is not healthy, in the order in which they are requested. */
const unhealthyStatuses = ['FLAKY', 'BROKEN'] as const

/**
 * Lists the flaky tests and then the broken tests of a repository
 * (docs/reference/service.md, "list-unhealthy-tests").
 */
export const listUnhealthyTests = defineOperation({
  route: 'POST /flaky-tests/list-unhealthy-tests',
  summary: 'Lists the flaky and broken tests of a repository.',
  isHostedOnly: true,
  params: {
    ...organizationParams,
    // Without it, one request after another for each status.
    status: param(upperCaseChoice(['flaky', 'broken'], 'status'), 'Only tests with this status', {
      defaultText: 'flaky, then broken',
      setsBodyPaths: ['status'],
    }),
    ...testPageParams,
    quarantined,
    ...testFilterParams,
  },
  response: testRecord,
  document: unhealthyTestsRecord,
  decoder: decodeTests('tests'),
  errors: {
    subject: 'the unhealthy tests',
    hint: hintIfNotFound('Check --repo and --org.'),
  },
  pagination({ repo, status, ...params }) {
    if (params.pageToken !== undefined && status === undefined)
      throw usageError(
        '--page-token requires --status.',
        'A page token is valid only for the status of the request that returned it. Add --status flaky or --status broken.',
      )
    const statuses = status === undefined ? unhealthyStatuses : [status]
    const adjective = statuses.join(' or ').toLowerCase()
    const list: PagedList = {
      ...testPages,
      segments: statuses.map(status => ({ status })),
      hiddenBy: test => hiddenBy(test, params),
      describe: ({ shown, matching, complete }) =>
        `${countRead(shown, `${matching}${adjective} test`, complete)} in ${repositoryName(repo)}.`,
    }
    return new Paginator(list, params)
  },
})

/** The record is the test itself; `--json` prints the whole document with the test in it. */
const testDecoder: ResponseDecoder = {
  expects: 'json',
  read(response) {
    const [document = {}] = recordDecoder(record => record).read(response).records
    if (!isObject(document.test)) throw missingPartError('test')
    return {
      records: [document.test],
      document: ([test = {}]) => (test === document.test ? document : { ...document, test }),
      bytes: response.bytes,
    }
  },
}

export const getTestDetails = defineOperation({
  route: 'POST /flaky-tests/get-test-details',
  summary: 'Reads the details of a test.',
  params: {
    ...organizationParams,
    testId: requiredParam(testId, 'Test ID, a UUID', { location: 'body.test_id' }),
  },
  response: testRecord,
  document: testDocumentRecord,
  decoder: testDecoder,
  errors: {
    subject: 'the test',
    hint: hintIfNotFound('Check the test ID, --repo and --org.'),
  },
})

export const linkTicketToTestCase = defineOperation({
  route: 'POST /flaky-tests/link-ticket-to-test-case',
  summary: 'Links a ticket to a test. Never sent again after a lost response.',
  // No operation is known to show the link, and whether a second link is harmless is not known either.
  recovery: { change: 'linking of the ticket', done: 'linked', replay: 'never', inspectCommand: '' },
  isHostedOnly: true,
  params: {
    repo: queueParams.repo,
    testId: requiredParam(testId, 'Test ID, a UUID as printed by `mergeq flaky list`', {
      location: 'body.test_case_id',
    }),
    ticket: requiredParam(text('ticket'), 'Ticket ID in the issue tracker, such as KAN-123', {
      location: 'body.external_ticket_id',
    }),
  },
  decoder: emptyDecoder,
  errors: {
    subject: 'the test',
    hint: hintIfNotFound('Check the test ID and --repo.'),
  },
})
