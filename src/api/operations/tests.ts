import { usageError } from '../../base/errors.ts'
import { get, getArray, getNumber, getString, isObject, type JsonObject } from '../../base/json.ts'
import { isOneOf, ownersOf } from '../../domain/owners.ts'
import { countRead, joinTruncated } from '../../values/format.ts'
import { maxWindow } from '../../values/limits.ts'
import { repositoryName } from '../../values/repository.ts'
import { findSimilarName } from '../../values/similar-name.ts'
import { toIso } from '../../values/time.ts'
import { parseTimeRange, type TimeRange, windows } from '../../values/time-range.ts'
import {
  anyText,
  boolean,
  choice,
  decimal,
  glob,
  instant,
  moment,
  type Type,
  testId,
  text,
  textual,
  upperCaseChoice,
} from '../../values/types.ts'
import {
  type EmptyListHint,
  type ListResult,
  listOperation,
  listParams,
  pageSizeType,
} from '../list-operation.ts'
import { defineOperation } from '../operation.ts'
import { type NameOf, type ParamValues, param, queueParams, requiredParam } from '../params.ts'
import {
  emptyDecoder,
  listDecoder,
  missingPartError,
  type Pages,
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
} from './test-records.ts'

const organizationParams = {
  repo: queueParams.repo,
  org: requiredParam(text('organization slug', 'slug'), 'Organization slug', {
    location: 'body.org_url_slug',
    setting: 'org',
  }),
}

/** The params that request a page of tests (docs/reference/service.md, "Pages"). */
const testPageParams = {
  pageSize: requiredParam(pageSizeType, 'Tests per page', { location: 'body.page_query.page_size' }),
  /** Empty for the first page. */
  pageToken: param(anyText, 'Fetch only the page with this token', {
    location: 'body.page_query.page_token',
  }),
}

const testPages: Pages = {
  key: 'tests',
  noun: 'test',
  end: { nextToken: 'page.next_page_token' },
  idOf: test => getString(test, 'id'),
}

const quarantinedTestPages: Pages = {
  ...testPages,
  key: 'quarantined_tests',
  idOf: test => getString(test, 'test_case_id'),
}

/** How pages of tests are read, and what errors say of them. */
function pagesOfTests(pages: Pages, subject: string) {
  const decoder = listDecoder(pages)
  const read: ResponseDecoder['read'] = response => {
    const page = decoder.read(response)
    // Without it nobody knows whether the list is complete.
    if (!isObject(page.envelope?.page)) throw missingPartError('page information')
    return page
  }
  return { pages, decoder: { ...decoder, read }, errors: { subject, check: ['repo', 'org'] } }
}

/** Lists the tests that failed in a range of at most 7 days (docs/reference/service.md, "list-failing-tests"). */
export const failingTestsPage = defineOperation({
  route: 'POST /flaky-tests/list-failing-tests',
  summary: 'Lists the tests that failed in a time range, each once.',
  params: {
    ...organizationParams,
    start: requiredParam(instant, 'Start of the range', { location: 'body.start_time', encode: toIso }),
    end: requiredParam(instant, 'End of the range', { location: 'body.end_time', encode: toIso }),
    ...testPageParams,
  },
  response: testRecord,
  document: failingTestsRecord,
  ...pagesOfTests(testPages, 'the failing tests'),
})

const quarantinedTestsPage = defineOperation({
  route: 'POST /flaky-tests/list-quarantined-tests',
  summary: 'Lists the quarantined tests of a repository.',
  isHostedOnly: true,
  params: { ...organizationParams, ...testPageParams },
  response: quarantinedTestRecord,
  document: quarantinedTestsRecord,
  ...pagesOfTests(quarantinedTestPages, 'the quarantined tests'),
})

const unhealthyStatus = upperCaseChoice(['flaky', 'broken'], 'status')

/** Lists the flaky or the broken tests of a repository (docs/reference/service.md, "list-unhealthy-tests"). */
const unhealthyTestsPage = defineOperation({
  route: 'POST /flaky-tests/list-unhealthy-tests',
  summary: 'Lists the flaky and broken tests of a repository.',
  isHostedOnly: true,
  params: {
    ...organizationParams,
    status: requiredParam(unhealthyStatus, 'Only tests with this status'),
    ...testPageParams,
  },
  response: testRecord,
  document: unhealthyTestsRecord,
  ...pagesOfTests(testPages, 'the unhealthy tests'),
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
  errors: { subject: 'the test', check: ['the test ID', 'repo', 'org'] },
})

/** A word as issue trackers name tickets, or the URL of one. */
const ticketName: Type<string> = textual({
  expected: 'a ticket',
  placeholder: 'ticket',
  parse(word) {
    const ticket = text('ticket').parse(word)
    if (/^(?:[\p{L}\p{N}_#/-]+|https?:\/\/\S+)$/u.test(ticket)) return ticket
    throw usageError(
      `'${ticket}' is not a ticket.`,
      'Use letters, digits, -, _, # and /, such as KAN-123, or the URL of the ticket.',
    )
  },
})

export const linkTicketToTestCase = defineOperation({
  route: 'POST /flaky-tests/link-ticket-to-test-case',
  summary: 'Links a ticket to a test. Never sent again after a lost response.',
  change: {
    noun: 'linking of the ticket',
    done: 'linked',
    sentence: {
      before: 'Link ticket {ticket} to test {test} of {repo}',
      after: 'Linked ticket {ticket} to test {test} of {repo}',
    },
    // No operation is known to show the link, and whether a second link is harmless is not known either.
    recovery: { replay: 'never' },
  },
  isHostedOnly: true,
  params: {
    repo: queueParams.repo,
    testId: requiredParam(testId, 'Test ID, a UUID', { location: 'body.test_case_id' }),
    ticket: requiredParam(ticketName, 'Ticket ID in the issue tracker, such as KAN-123', {
      location: 'body.external_ticket_id',
    }),
  },
  decoder: emptyDecoder,
  errors: { subject: 'the test', check: ['the test ID', 'repo'] },
})

const { limit, pageSize, maxPages } = listParams('tests', 'body.page_query.page_size')

const testListParams = {
  limit,
  pageSize,
  pageToken: param(text('page token', 'token'), 'Fetch only the page with this token', {
    location: 'body.page_query.page_token',
  }),
  maxPages,
}

const filterParams = {
  quarantined: param(boolean, 'Only tests that are (or are not) quarantined'),
  minFailureRate: param(decimal('x'), 'Only tests with at least this failure rate in the last 7 days'),
  owner: param(text('owner', 'name'), 'Only tests of this code owner'),
  name: param(glob(false), 'Only tests whose name matches this pattern (case-sensitive)'),
  path: param(glob(true), 'Only tests whose file path matches this pattern'),
}

const { minFailureRate: _, ...unhealthyFilters } = filterParams
const { quarantined: __, ...quarantinedFilters } = unhealthyFilters

const ownerKey = (owner: string): string => owner.toLowerCase().replace(/^.*\/|^@/, '')

/** Returns a hint with the owners that are most like one without tests, otherwise all that there are. */
function suggestOwners(owner: string, known: readonly string[]): EmptyListHint {
  const key = ownerKey(owner)
  const named = known.filter(other => ownerKey(other) === key)
  const similar = findSimilarName(key, known.map(ownerKey))
  const nearest = named.length > 0 ? named : known.filter(other => ownerKey(other) === similar)
  const hint =
    nearest.length > 0
      ? `Did you mean ${joinTruncated(nearest)}?`
      : known.length > 0
        ? `Owners: ${joinTruncated(known)}.`
        : 'No test has an owner.'
  return { sentence: `No test is owned by ${owner}.`, hint, isMistake: nearest.length > 0 }
}

const numberIn = (test: JsonObject, path: string): number => getNumber(test, path) ?? -1

/** The filters of a list, and the hint for an owner without tests; `filePath` is the member with the path of a file. */
function filtersOf(
  { owner, quarantined, minFailureRate, name, path }: ParamValues<typeof filterParams>,
  nameOf: NameOf,
  filePath = 'file_path',
) {
  const owners = new Set<string>()
  return {
    /** Returns the name of the filter that hides a test, if one does. */
    hiddenBy(test: JsonObject): string | undefined {
      for (const other of ownersOf(test)) owners.add(other)
      if (owner !== undefined && !isOneOf(owner, ownersOf(test))) return nameOf('owner')
      if (quarantined !== undefined && get(test, 'quarantined') !== quarantined)
        return nameOf('quarantined', quarantined)
      if (minFailureRate !== undefined && numberIn(test, 'failure_rate_last_7d') < minFailureRate)
        return nameOf('minFailureRate')
      if (name !== undefined && !name.test(getString(test, 'name') ?? '')) return nameOf('name')
      if (path !== undefined && !path.test(getString(test, filePath) ?? '')) return nameOf('path')
      return undefined
    },
    hintIfEmpty: () =>
      owner === undefined || isOneOf(owner, owners) ? undefined : suggestOwners(owner, [...owners].sort()),
  }
}

/** The members beside the records in the one document for all pages; `window` says what they cover. */
function envelopeOf(
  { shown, pages, complete, envelope, isContinued }: ListResult,
  window: JsonObject = {},
): JsonObject {
  const page = isObject(envelope.page) ? envelope.page : {}
  const hasToken = (getString(page, 'next_page_token') ?? '') !== ''
  const onePage = isContinued || !hasToken ? page : { ...page, next_page_token: '' }
  return {
    ...envelope,
    page: pages === 1 ? onePage : { total_rows: shown, total_pages: pages },
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

const describeRange = ({ start, end }: TimeRange): string => `${toIso(start)} to ${toIso(end)}`

const momentForms = 'a duration before now, such as 7d, a date and time, or a day, such as yesterday'

const { repo, org } = failingTestsPage.params

/** Lists the tests that failed in a range of time, each test once; by default in the last 24 hours. */
export const listFailingTests = listOperation(failingTestsPage, {
  params: {
    repo,
    org,
    since: param(moment, `Start of the range: ${momentForms}`, {
      defaultText: '24h',
      location: 'body.start_time',
    }),
    until: param(moment, `End of the range: ${momentForms}`, {
      defaultText: 'now',
      location: 'body.end_time',
    }),
    ...testListParams,
    ...filterParams,
    // Collects all tests, then sorts them; without it, tests are given as they arrive.
    sort: param(
      choice(['impact', 'rate', 'recent', 'name'], 'key'),
      'Read all tests, then sort by impact (pull requests that a test failed), rate, recent or name',
    ),
  },
  list(values, now, nameOf) {
    const { repo, org, since, until, sort, pageToken } = values
    const range = parseTimeRange(since, until, now, nameOf)
    if (pageToken !== undefined && range.end - range.start > maxWindow)
      throw usageError(
        `${nameOf('pageToken')} requires a range of at most 7 days.`,
        'A page token is valid only for the range of the request that returned it. Use the same range.',
      )
    return {
      ...values,
      operation: failingTestsPage,
      parts: windows(range).map(window => ({ repo, org, ...window })),
      ...filtersOf(values, nameOf),
      order: sort === undefined ? undefined : testOrders[sort],
      describe({ shown, isWhole, matching }) {
        const count = countRead(shown, `${matching}test`, isWhole)
        if (isWhole) return `${count} failed from ${describeRange(range)}.`
        const order = sort === undefined ? ', in the order of the service' : ''
        return `${count} that failed from ${describeRange(range)}${order}.`
      },
      envelope: result => envelopeOf(result, { start: toIso(range.start), end: toIso(range.end) }),
    }
  },
})

export const listQuarantinedTests = listOperation(quarantinedTestsPage, {
  params: { repo, org, ...testListParams, ...quarantinedFilters },
  list: (values, _, nameOf) => ({
    ...values,
    operation: quarantinedTestsPage,
    parts: [{ repo: values.repo, org: values.org }],
    ...filtersOf(values, nameOf, 'file'),
    describe: ({ shown, matching, isWhole }) =>
      `${countRead(shown, `${matching}quarantined test`, isWhole)} in ${repositoryName(values.repo)}.`,
    envelope: envelopeOf,
  }),
})

/** The statuses of a test that is not healthy, in the order in which they are requested. */
const unhealthyStatuses = ['FLAKY', 'BROKEN'] as const

const unhealthyOrders = { impact: testOrders.impact, 'last-failed': testOrders.recent }

const orderWords = { impact: 'most pull requests first', 'last-failed': 'last failure first' }

/** Returns the order of a list of flaky and broken tests as the end of a sentence; empty for that of the service. */
export const unhealthyOrder = (sort: keyof typeof unhealthyOrders | undefined): string =>
  sort === undefined ? '' : `, ${orderWords[sort]}`

/** Lists the flaky tests and then the broken tests of a repository. */
export const listUnhealthyTests = listOperation(unhealthyTestsPage, {
  params: {
    repo,
    org,
    // Without it, one request after another for each status.
    status: param(unhealthyStatus, 'Only tests with this status', {
      defaultText: 'flaky, then broken',
      location: 'body.status',
    }),
    ...testListParams,
    ...unhealthyFilters,
    // Collects all tests, then sorts them; without it, the flaky ones come first, in the order of the service.
    sort: param(
      choice(['impact', 'last-failed'], 'key'),
      'Read all tests, then sort by impact (pull requests that a test failed) or by the last failure',
    ),
  },
  list(values, _, nameOf) {
    const { repo, org, status, pageToken, sort } = values
    if (pageToken !== undefined && status === undefined)
      throw usageError(
        `${nameOf('pageToken')} requires ${nameOf('status')}.`,
        `A page token is valid only for the status of the request that returned it. Add ${nameOf('status')} flaky or ${nameOf('status')} broken.`,
      )
    const statuses = status === undefined ? unhealthyStatuses : [status]
    const adjective = statuses.join(' or ').toLowerCase()
    return {
      ...values,
      operation: unhealthyTestsPage,
      parts: statuses.map(status => ({ repo, org, status })),
      ...filtersOf(values, nameOf),
      order: sort === undefined ? undefined : unhealthyOrders[sort],
      describe: ({ shown, matching, isWhole }) =>
        `${countRead(shown, `${matching}${adjective} test`, isWhole)} in ${repositoryName(repo)}${unhealthyOrder(sort)}.`,
      envelope: envelopeOf,
    }
  },
})

export const testRequests = {
  listFailingTests: failingTestsPage,
  getTestDetails,
  listQuarantinedTests: quarantinedTestsPage,
  listUnhealthyTests: unhealthyTestsPage,
  linkTicketToTestCase,
}

export const testOperations = { ...testRequests, listFailingTests, listQuarantinedTests, listUnhealthyTests }
