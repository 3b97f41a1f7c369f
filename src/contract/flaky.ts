import { usage } from '../failure.ts'
import { at, isObject, type JsonObject, listAt, table, textAt } from '../view/shapes.ts'
import { endpoint } from './endpoint.ts'
import { either, type Field, flag, fromSetting } from './field.ts'
import { widestWindow } from './limits.ts'
import { onQueue } from './pulls.ts'
import { type Reading, record } from './reply.ts'
import { type Range, walkTests } from './walk.ts'
import { decimal, duration, instant, integer, oneOf, text } from './words.ts'

/** What every operation on tests says of where they are. */
export const onOrganization = { repo: onQueue.repo, org: fromSetting('org', 'body.org_url_slug') }

const dayBack = 86_400_000

/** An instant, or a duration back from now. */
const moment = (word: string, now: number): number =>
  /^\d+(ms|[smhdw])/.test(word) || word === '0' ? now - duration(word) : instant(word)

/** The range of time that is asked for: start inclusive, end exclusive and not in the future (CLI.md section 6). */
const range: Field<Range> = {
  words: [
    {
      spell: '--since <duration|instant>',
      summary: 'From so long ago, or from that instant on (default 24h)',
    },
    {
      spell: '--until <duration|instant>',
      summary: 'Until so long ago, or until that instant (default now)',
    },
    { spell: '--start <instant>', summary: 'Start of the range, inclusive' },
    { spell: '--end <instant>', summary: 'End of the range, exclusive' },
  ],
  needed: true,
  read(given, { now }) {
    for (const [one, other] of [
      ['--since', '--start'],
      ['--until', '--end'],
    ] as const)
      if (given.has(one) && given.has(other)) throw usage(`${one} and ${other} name the same thing twice.`)
    const word = (...names: readonly string[]) =>
      names.map(name => given.get(name)?.[0]).find(found => found !== undefined)
    const [from, to] = [word('--since', '--start'), word('--until', '--end')]
    const end = to === undefined ? now : moment(to, now)
    const start = from === undefined ? end - dayBack : moment(from, now)
    if (end > now) throw usage('The end of the range lies in the future.', 'Leave --until out to end now.')
    if (start >= end) throw usage('The range is empty: its start is not before its end.')
    return { start, end }
  },
}

/** A glob as a pattern: `*` and `?` stop at a slash in a path and nowhere in a name; `**` never stops. */
function glob(word: string, inPath: boolean): RegExp {
  const some = inPath ? '[^/]' : '[^]'
  const pattern = text('pattern')(word).replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, piece =>
    piece.startsWith('**') ? '[^]*' : piece === '*' ? `${some}*` : piece === '?' ? some : `\\${piece}`,
  )
  return new RegExp(`^${pattern}$`, 'u')
}

const number = (test: JsonObject, path: string): number => {
  const value = at(test, path)
  return typeof value === 'number' ? value : -1
}

/** The last time that something is known to have happened to a test; 0 when no date can be read. */
const lastSeen = (test: JsonObject): number =>
  [
    ...listAt(test, 'most_common_failures').map(failure => textAt(failure, 'last_occurrence')),
    textAt(test, 'status.timestamp'),
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
    (textAt(one, 'name') ?? '') < (textAt(other, 'name') ?? '') ? -1 : 1,
}

const page: Reading = {
  expects: 'json',
  read(answer) {
    const [document = {}] = record(found => found).read(answer).records
    const { page } = document
    return {
      records: listAt(document, 'tests').filter(isObject),
      document: tests => ({ ...document, tests }),
      frame: document,
      ...(isObject(page) ? { page } : {}),
      bytes: answer.bytes,
    }
  },
}

const pageToken = flag('--page-token <token>', 'One page, as the service gives it', text('page token'))

export const list = endpoint({
  command: 'flaky list',
  route: 'POST /flaky-tests/list-failing-tests',
  summary: 'List the tests that failed in a range of time, each once',
  changes: false,
  fields: {
    ...onOrganization,
    range,
    limit: flag('--limit <n>', 'At most so many tests', integer(1, Number.MAX_SAFE_INTEGER)),
    pageSize: flag('--page-size <n>', 'Tests a page, 1 to 100 (default 100)', integer(1, 100)),
    pageToken,
    maxPages: flag(
      '--max-pages <n>',
      'Stop after so many pages (default 10000)',
      integer(1, Number.MAX_SAFE_INTEGER),
    ),
    owner: flag('--owner <name>', 'Only tests of this code owner', text('owner')),
    quarantined: either('quarantined', 'Only quarantined tests'),
    minRate: flag(
      '--min-failure-rate <x>',
      'Only tests that failed at least so often in the last 7 days',
      decimal,
    ),
    name: flag('--name <glob>', 'Only tests whose name matches', word => glob(word, false)),
    path: flag('--path <glob>', 'Only tests whose file matches', word => glob(word, true)),
    sort: flag(
      '--sort <key>',
      'Collect all, then order by impact, rate, recent or name',
      oneOf(['impact', 'rate', 'recent', 'name']),
      {
        choices: ['impact', 'rate', 'recent', 'name'],
      },
    ),
  },
  reply: page,
  view: ({ records }) =>
    table(records, [
      ['NAME', 'name'],
      ['STATUS', 'status.value', 'state'],
      ['RATE 7D', 'failure_rate_last_7d', 'number'],
      ['PRS 7D', 'pull_requests_impacted_last_7d', 'number'],
      ['QUARANTINED', 'quarantined'],
      ['OWNERS', 'codeowners'],
      ['ID', 'id', 'id'],
    ]),
  check({ range, pageToken }) {
    if (pageToken !== undefined && range.end - range.start > widestWindow)
      throw usage(
        '--page-token goes with a range of at most 7 days.',
        'A token belongs to one request; name its range.',
      )
  },
  pages: ({ range, limit, pageSize, pageToken, maxPages, owner, quarantined, minRate, name, path, sort }) =>
    walkTests({
      range,
      limit: limit ?? Number.POSITIVE_INFINITY,
      pageSize: pageSize ?? 100,
      maxPages: maxPages ?? 10_000,
      ...(pageToken === undefined ? {} : { pageToken }),
      ...(sort === undefined ? {} : { order: orders[sort] }),
      keep: test =>
        (owner === undefined || listAt(test, 'codeowners').includes(owner)) &&
        (quarantined === undefined || at(test, 'quarantined') === quarantined) &&
        (minRate === undefined || number(test, 'failure_rate_last_7d') >= minRate) &&
        (name === undefined || name.test(textAt(test, 'name') ?? '')) &&
        (path === undefined || path.test(textAt(test, 'file_path') ?? '')),
    }),
  examples: [
    'mergeq flaky list --since 7d --sort impact --limit 20',
    'mergeq flaky list --since 30d -o ndjson',
    "mergeq flaky list --owner @acme/web --name 'cart*' --json",
  ],
})
