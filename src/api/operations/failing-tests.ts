import { maxListResponseSize } from '../../domain/limits.ts'
import type { TimeRange } from '../../domain/time-range.ts'
import { get, getArray, getString, isObject, type JsonObject } from '../../json.ts'
import { missingPartError, type ResponseDecoder, recordDecoder } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { paginateTests, type RecordFilter } from '../pagination.ts'
import { localParam, param } from '../param.ts'
import { queueParams } from './pull-requests.ts'
import { testFields, testListFields } from './service-fields.ts'

/** The params of every operation on tests. */
export const organizationParams = {
  repo: queueParams.repo,
  org: param<string>('body.org_url_slug', { required: true }),
}

const number = (test: JsonObject, path: string): number => {
  const value = get(test, path)
  return typeof value === 'number' ? value : -1
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
  number(b, 'failure_rate_last_7d') - number(a, 'failure_rate_last_7d')

const orders = {
  impact: (a: JsonObject, b: JsonObject) =>
    number(b, 'pull_requests_impacted_last_7d') - number(a, 'pull_requests_impacted_last_7d') || byRate(a, b),
  rate: byRate,
  recent: (a: JsonObject, b: JsonObject) => lastSeen(b) - lastSeen(a),
  name: (a: JsonObject, b: JsonObject) =>
    (getString(a, 'name') ?? '') < (getString(b, 'name') ?? '') ? -1 : 1,
}

/** A key by which tests are sorted: pull requests impacted, failure rate, last failure, or name. */
export type TestOrder = keyof typeof orders

/** The conditions on tests; undefined keeps every test. */
interface TestFilters {
  readonly owner?: string | undefined
  readonly quarantined?: boolean | undefined
  readonly minRate?: number | undefined
  readonly name?: RegExp | undefined
  readonly path?: RegExp | undefined
}

/** The conditions that were given, each with the name of its option. */
function filtersOf({ owner, quarantined, minRate, name, path }: TestFilters): readonly RecordFilter[] {
  const filters: RecordFilter[] = []
  const when = <T>(flag: string, value: T | undefined, keeps: (test: JsonObject, value: T) => boolean) => {
    if (value !== undefined) filters.push({ flag, keeps: test => keeps(test, value) })
  }
  when('--owner', owner, (test, owner) => getArray(test, 'codeowners').includes(owner))
  when(
    quarantined === false ? '--no-quarantined' : '--quarantined',
    quarantined,
    (test, quarantined) => get(test, 'quarantined') === quarantined,
  )
  when('--min-failure-rate', minRate, (test, minRate) => number(test, 'failure_rate_last_7d') >= minRate)
  when('--name', name, (test, name) => name.test(getString(test, 'name') ?? ''))
  when('--path', path, (test, path) => path.test(getString(test, 'file_path') ?? ''))
  return filters
}

/** Reads a page of tests; the response has the records and the whole document. */
const pageDecoder: ResponseDecoder = {
  expects: 'json',
  maxBytes: maxListResponseSize,
  read(response) {
    const [document = {}] = recordDecoder(record => record).read(response).records
    const { page, tests } = document
    if (!Array.isArray(tests) || !tests.every(isObject)) throw missingPartError('list of tests')
    return {
      records: tests,
      document: tests => ({ ...document, tests }),
      envelope: document,
      ...(isObject(page) ? { page } : {}),
      bytes: response.bytes,
    }
  },
}

/** How many tests a page has at most. */
export const defaultPageSize = 100
/** How many pages of a list are requested at most. */
export const defaultMaxPages = 10_000

/** Lists the tests that failed in a range of time; `pagination` requests all windows and pages. */
export const listFailingTests = defineOperation({
  route: 'POST /flaky-tests/list-failing-tests',
  effect: false,
  fields: testFields,
  documentFields: testListFields,
  params: {
    ...organizationParams,
    range: localParam<TimeRange>({ required: true, fills: ['start_time', 'end_time'] }),
    limit: localParam<number | undefined>(),
    pageSize: localParam<number | undefined>({ fills: ['page_query.page_size'] }),
    /** Requests the one page that this token names. */
    pageToken: localParam<string | undefined>({ fills: ['page_query.page_token'] }),
    maxPages: localParam<number | undefined>(),
    owner: localParam<string | undefined>(),
    quarantined: localParam<boolean | undefined>(),
    minRate: localParam<number | undefined>(),
    name: localParam<RegExp | undefined>(),
    path: localParam<RegExp | undefined>(),
    /** Collects all tests, then sorts them; without it, tests are returned as they arrive. */
    sort: localParam<TestOrder | undefined>(),
  },
  decoder: pageDecoder,
  errors: {
    subject: 'the failing tests',
    hint: status => (status === 404 ? 'Check --repo and --org.' : undefined),
  },
  pagination: ({ range, limit, pageSize, pageToken, maxPages, sort, ...filters }) =>
    paginateTests({
      range,
      limit: limit ?? Number.POSITIVE_INFINITY,
      pageSize: pageSize ?? defaultPageSize,
      maxPages: maxPages ?? defaultMaxPages,
      ...(pageToken === undefined ? {} : { pageToken }),
      ...(sort === undefined ? {} : { order: orders[sort] }),
      filters: filtersOf(filters),
    }),
})
