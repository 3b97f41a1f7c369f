import { negatableFlag, option, settingInput } from '../../cli/inputs.ts'
import { rangeInput } from '../../cli/time-range-options.ts'
import { maxListAnswer, maxWindow } from '../../domain/limits.ts'
import { integerParser, parseDecimal } from '../../domain/values/numbers.ts'
import { choiceParser, textParser } from '../../domain/values/text.ts'
import { usageError } from '../../errors.ts'
import { get, getArray, getString, isObject, type JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
import { type ResponseDecoder, recordDecoder, withoutPart } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { paginateTests, type RecordFilter } from '../pagination.ts'
import { queueInputs } from './pull-requests.ts'

/** What every operation on tests says of where they are. */
export const organizationInputs = { repo: queueInputs.repo, org: settingInput('org', 'body.org_url_slug') }

/** A glob as a pattern: `*` and `?` stop at a slash in a path and nowhere in a name; `**` never stops. */
function glob(word: string, inPath: boolean): RegExp {
  const some = inPath ? '[^/]' : '[^]'
  const pattern = textParser('pattern')(word).replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, piece =>
    piece.startsWith('**') ? '[^]*' : piece === '*' ? `${some}*` : piece === '?' ? some : `\\${piece}`,
  )
  return new RegExp(`^${pattern}$`, 'u')
}

const number = (test: JsonObject, path: string): number => {
  const value = get(test, path)
  return typeof value === 'number' ? value : -1
}

/** The last time that something is known to have happened to a test; 0 when no date can be read. */
const lastSeen = (test: JsonObject): number =>
  [
    ...getArray(test, 'most_common_failures').map(failure => getString(failure, 'last_occurrence')),
    getString(test, 'status.timestamp'),
  ]
    .map(date => Date.parse(date ?? ''))
    .filter(time => !Number.isNaN(time))
    .reduce((latest, time) => Math.max(latest, time), 0)

const byRate = (one: JsonObject, other: JsonObject) =>
  number(other, 'failure_rate_last_7d') - number(one, 'failure_rate_last_7d')

const orders = {
  impact: (one: JsonObject, other: JsonObject) =>
    number(other, 'pull_requests_impacted_last_7d') - number(one, 'pull_requests_impacted_last_7d') ||
    byRate(one, other),
  rate: byRate,
  recent: (one: JsonObject, other: JsonObject) => lastSeen(other) - lastSeen(one),
  name: (one: JsonObject, other: JsonObject) =>
    (getString(one, 'name') ?? '') < (getString(other, 'name') ?? '') ? -1 : 1,
}

/** What was asked of the tests that are shown. */
interface TestFilters {
  readonly owner: string | undefined
  readonly quarantined: boolean | undefined
  readonly minRate: number | undefined
  readonly name: RegExp | undefined
  readonly path: RegExp | undefined
}

/** The conditions that were typed, each under its flag. */
function filtersOf({ owner, quarantined, minRate, name, path }: TestFilters): readonly RecordFilter[] {
  const filters: RecordFilter[] = []
  const when = <T>(flag: string, asked: T | undefined, keeps: (test: JsonObject, asked: T) => boolean) => {
    if (asked !== undefined) filters.push({ flag, keeps: test => keeps(test, asked) })
  }
  when('--owner', owner, (test, owner) => getArray(test, 'codeowners').includes(owner))
  when(
    quarantined === false ? '--no-quarantined' : '--quarantined',
    quarantined,
    (test, quarantined) => get(test, 'quarantined') === quarantined,
  )
  when('--min-failure-rate', minRate, (test, least) => number(test, 'failure_rate_last_7d') >= least)
  when('--name', name, (test, name) => name.test(getString(test, 'name') ?? ''))
  when('--path', path, (test, path) => path.test(getString(test, 'file_path') ?? ''))
  return filters
}

const page: ResponseDecoder = {
  expects: 'json',
  maxBytes: maxListAnswer,
  read(answer) {
    const [document = {}] = recordDecoder(found => found).read(answer).records
    const { page, tests } = document
    if (!Array.isArray(tests) || !tests.every(isObject)) throw withoutPart('list of tests')
    return {
      records: tests,
      document: tests => ({ ...document, tests }),
      envelope: document,
      ...(isObject(page) ? { page } : {}),
      bytes: answer.bytes,
    }
  },
}

/** Where a status has no value, its reason stands for it (service-api.md section 2.5 has the reason alone). */
const withStatus = (test: JsonObject): JsonObject =>
  getString(test, 'status.value') === undefined
    ? { ...test, status: { value: getString(test, 'status.reason') } }
    : test

const pageToken = option(
  '--page-token <token>',
  'One page, as the service gives it',
  textParser('page token'),
  {
    fills: ['page_query.page_token'],
  },
)

export const listFailingTests = defineOperation({
  command: 'flaky list',
  route: 'POST /flaky-tests/list-failing-tests',
  summary: 'List the tests that failed in a range of time, each once',
  effect: false,
  inputs: {
    ...organizationInputs,
    range: rangeInput,
    limit: option('--limit <n>', 'At most so many tests', integerParser(1, Number.MAX_SAFE_INTEGER)),
    pageSize: option('--page-size <n>', 'Tests a page, 1 to 100 (default 100)', integerParser(1, 100), {
      fills: ['page_query.page_size'],
    }),
    pageToken,
    maxPages: option(
      '--max-pages <n>',
      'Stop after so many pages (default 10000)',
      integerParser(1, Number.MAX_SAFE_INTEGER),
    ),
    owner: option('--owner <name>', 'Only tests of this code owner', textParser('owner')),
    quarantined: negatableFlag('quarantined', 'Only quarantined tests'),
    minRate: option(
      '--min-failure-rate <x>',
      'Only tests that failed at least so often in the last 7 days',
      parseDecimal,
    ),
    name: option('--name <glob>', 'Only tests whose name matches', word => glob(word, false)),
    path: option('--path <glob>', 'Only tests whose file matches', word => glob(word, true)),
    sort: option(
      '--sort <key>',
      'Collect all, then order by impact, rate, recent or name',
      choiceParser(['impact', 'rate', 'recent', 'name']),
      {
        choices: ['impact', 'rate', 'recent', 'name'],
      },
    ),
    resumeFile: option(
      '--resume-file <file>',
      'Note in this file how far the list was printed; a second run goes on from there',
      textParser('name of the file'),
      { file: true },
    ),
  },
  decoder: page,
  view: ({ records }) =>
    table(records.map(withStatus), [
      ['NAME', 'name'],
      ['STATUS', 'status.value', 'state'],
      ['RATE 7D', 'failure_rate_last_7d', 'number'],
      ['PRS 7D', 'pull_requests_impacted_last_7d', 'number'],
      ['QUARANTINED', 'quarantined'],
      ['OWNERS', 'codeowners'],
      ['ID', 'id', 'id'],
    ]),
  check({ range, pageToken, limit, sort, resumeFile }) {
    const whole = { '--page-token': pageToken, '--limit': limit, '--sort': sort }
    for (const [flag, value] of Object.entries(whole))
      if (resumeFile !== undefined && value !== undefined)
        throw usageError(
          `--resume-file and ${flag} contradict each other.`,
          'What can be resumed is the whole list, in the order in which it comes; --max-pages cuts it into runs.',
        )
    if (pageToken !== undefined && range.end - range.start > maxWindow)
      throw usageError(
        '--page-token goes with a range of at most 7 days.',
        'A token belongs to one request; name its range.',
      )
  },
  pagination: ({ range, limit, pageSize, pageToken, maxPages, sort, resumeFile, ...filters }) =>
    paginateTests({
      range,
      limit: limit ?? Number.POSITIVE_INFINITY,
      pageSize: pageSize ?? 100,
      maxPages: maxPages ?? 10_000,
      ...(pageToken === undefined ? {} : { pageToken }),
      ...(sort === undefined ? {} : { order: orders[sort] }),
      ...(resumeFile === undefined ? {} : { resumeFile }),
      filters: filtersOf(filters),
    }),
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'cart*' --json",
    'mergeq flaky list --since 30d -o ndjson --resume-file walk.state >> tests.ndjson',
  ],
})
