import type { TimeRange } from '../../domain/time-range.ts'
import { getArray, getString, type JsonObject } from '../../json.ts'
import { defineOperation, hintIfNotFound } from '../operation.ts'
import { localParam, param } from '../param.ts'
import { pagesOfTests } from '../test-pages.ts'
import { queueParams } from './pull-requests.ts'
import { testFields, testListFields } from './service-fields.ts'
import { createTestFilters, numberIn } from './test-filters.ts'

export const organizationParams = {
  repo: queueParams.repo,
  org: param<string>('body.org_url_slug', { required: true }),
}

/** The date of the last known event of a test, in milliseconds since 1970; 0 when no date can be read. */
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

const orders = {
  impact: (a: JsonObject, b: JsonObject) =>
    numberIn(b, 'pull_requests_impacted_last_7d') - numberIn(a, 'pull_requests_impacted_last_7d') ||
    byRate(a, b),
  rate: byRate,
  recent: (a: JsonObject, b: JsonObject) => lastSeen(b) - lastSeen(a),
  name: (a: JsonObject, b: JsonObject) =>
    (getString(a, 'name') ?? '') < (getString(b, 'name') ?? '') ? -1 : 1,
}

export type TestOrder = keyof typeof orders

export const testListParams = {
  ...organizationParams,
  limit: localParam<number | undefined>(),
  pageSize: localParam<number | undefined>({ fills: ['page_query.page_size'] }),
  pageToken: localParam<string | undefined>({ fills: ['page_query.page_token'] }),
  maxPages: localParam<number | undefined>(),
  owner: localParam<string | undefined>(),
  name: localParam<RegExp | undefined>(),
  path: localParam<RegExp | undefined>(),
}

export const listFailingTests = defineOperation({
  route: 'POST /flaky-tests/list-failing-tests',
  effect: false,
  fields: testFields,
  documentFields: testListFields,
  params: {
    ...testListParams,
    range: localParam<TimeRange>({ required: true, fills: ['start_time', 'end_time'] }),
    quarantined: localParam<boolean | undefined>(),
    minRate: localParam<number | undefined>(),
    /** Collects all tests, then sorts them; without it, tests are returned as they arrive. */
    sort: localParam<TestOrder | undefined>(),
  },
  decoder: pagesOfTests.decoder,
  errors: {
    subject: 'the failing tests',
    hint: hintIfNotFound('Check --repo and --org.'),
  },
  async pagination({ sort, ...params }) {
    const { paginateTests } = await import('../pagination.ts')
    return paginateTests({
      ...params,
      ...(sort === undefined ? {} : { order: orders[sort] }),
      filters: createTestFilters(params),
    })
  },
})
