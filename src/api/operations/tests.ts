import { toIso } from '../../domain/values/time.ts'
import { anyText, instant, integer, testId, text, upperCaseChoice } from '../../domain/values/types.ts'
import { getString, isObject } from '../../json.ts'
import { defineOperation, type Pages, param, queueParams, requiredParam } from '../operation.ts'
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

/** The params that request a page of tests (docs/reference/service.md, "Pages"). */
const testPageParams = {
  pageSize: requiredParam(integer(1, 100), 'Tests per page', {
    location: 'body.page_query.page_size',
  }),
  /** Empty for the first page. */
  pageToken: param(anyText, 'Fetch only the page with this token', {
    location: 'body.page_query.page_token',
  }),
}

const testPages: Pages = {
  key: 'tests',
  noun: 'test',
  nextToken: 'page.next_page_token',
  idOf: test => getString(test, 'id'),
}

const quarantinedTestPages: Pages = {
  ...testPages,
  key: 'quarantined_tests',
  idOf: test => getString(test, 'test_case_id'),
}

function decodeTests(pages: Pages): ResponseDecoder {
  const missing = () => missingPartError(`list of ${pages.key.replaceAll('_', ' ')}`)
  const decoder = listDecoder(pages, missing)
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

/** Lists the tests that failed in a range of at most 7 days (docs/reference/service.md, "list-failing-tests"). */
export const listFailingTests = defineOperation({
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
  decoder: decodeTests(testPages),
  errors: {
    subject: 'the failing tests',
    check: ['repo', 'org'],
  },
  pages: testPages,
})

export const listQuarantinedTests = defineOperation({
  route: 'POST /flaky-tests/list-quarantined-tests',
  summary: 'Lists the quarantined tests of a repository.',
  isHostedOnly: true,
  params: { ...organizationParams, ...testPageParams },
  response: quarantinedTestRecord,
  document: quarantinedTestsRecord,
  decoder: decodeTests(quarantinedTestPages),
  errors: {
    subject: 'the quarantined tests',
    check: ['repo', 'org'],
  },
  pages: quarantinedTestPages,
})

/** Lists the flaky or the broken tests of a repository (docs/reference/service.md, "list-unhealthy-tests"). */
export const listUnhealthyTests = defineOperation({
  route: 'POST /flaky-tests/list-unhealthy-tests',
  summary: 'Lists the flaky and broken tests of a repository.',
  isHostedOnly: true,
  params: {
    ...organizationParams,
    status: requiredParam(upperCaseChoice(['flaky', 'broken'], 'status'), 'Only tests with this status', {
      location: 'body.status',
    }),
    ...testPageParams,
  },
  response: testRecord,
  document: unhealthyTestsRecord,
  decoder: decodeTests(testPages),
  errors: {
    subject: 'the unhealthy tests',
    check: ['repo', 'org'],
  },
  pages: testPages,
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
    check: ['the test ID', 'repo', 'org'],
  },
})

export const linkTicketToTestCase = defineOperation({
  route: 'POST /flaky-tests/link-ticket-to-test-case',
  summary: 'Links a ticket to a test. Never sent again after a lost response.',
  // No operation is known to show the link, and whether a second link is harmless is not known either.
  recovery: { change: 'linking of the ticket', done: 'linked', replay: 'never' },
  isHostedOnly: true,
  params: {
    repo: queueParams.repo,
    testId: requiredParam(testId, 'Test ID, a UUID', {
      location: 'body.test_case_id',
    }),
    ticket: requiredParam(text('ticket'), 'Ticket ID in the issue tracker, such as KAN-123', {
      location: 'body.external_ticket_id',
    }),
  },
  decoder: emptyDecoder,
  errors: {
    subject: 'the test',
    check: ['the test ID', 'repo'],
  },
})
