import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Outcome, type Seen, type Setting } from '../support/harness.ts'

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const where = ['-R', 'acme/web', '-b', 'main']
const at = '-R acme/web -b main'
const org = '-R acme/web --org acme'

/** A service that is content with everything: what reaches it shows. */
const answer = ({ path }: Seen): Answer => {
  if (path.includes('list-failing-tests')) return { body: '{"tests":[],"page":{"next_page_token":""}}' }
  if (path.includes('get-test-details')) return { body: '{"test":{}}' }
  return { body: path.includes('Metrics') ? '' : '{"state":"running","enqueuedPullRequests":[]}' }
}

const typed = (words: string | readonly string[], setting: Setting = {}) =>
  mergeq(words, { answer, ...setting })

const silent = ({ code, out, requests }: Outcome) => ({ code, out, requests })
const refused = { code: 2, out: '', requests: [] }

const oneSentence = /^mergeq: [^\n]+\n(?: {2}[^\n]+\n)*$/
const andHint = /^mergeq: [^\n]+\n(?: {2}[^\n]+\n)+$/
const slips = /undefined|\[object|\n {4}at |NaN|error: |CommanderError|test-token/

const junit: Setting = { files: { 'x.xml': '<testsuite><testcase name="a"/></testsuite>' } }

/** What was wrong, as the sentence must tell; a fault is a row that has no hint today. */
type Row = readonly [words: string | readonly string[], says: RegExp, setting?: Setting]

const tables: Readonly<Record<string, readonly Row[]>> = {
  'a command that is not there': [
    ['sumbit', /sumbit/],
    ['pr sbumit 7', /sbumit/],
    ['queue gett', /gett/],
    ['flaky lits', /lits/],
    ['pr 7', /7/],
    ['--bogus', /--bogus/],
    [`pr get 7 ${at} --bogus`, /--bogus/],
    [`pr get 7 ${at} --priority high`, /--priority/],
    ['metrics now', /argument|now/],
    [`queue get main ${at}`, /argument|main/],
    [`flaky gate --max 1 --sort name ${org}`, /--sort/],
    [`flaky get ${org}`, /argument 'test'/],
    ['api', /operation/],
    ['help nothing', /nothing/],
    [`metrics --set a=1`, /--set/],
  ],
  'a flag without its value': [
    ['queue get -R', /--repo/],
    ['queue get --repo= -b main', /--repo/],
    ['queue get -R acme/web --target-branch=', /--target-branch/],
    [`flaky list -R acme/web --org=`, /--org/],
    [`pr get ${at} --head=`, /--head/],
    [`pr submit 7 ${at} --priority`, /--priority/],
    [`pr submit 7 ${at} --priority=`, /--priority/],
    [`queue get ${at} --output`, /--output/],
    [`queue get ${at} --output=`, /--output/],
    [`queue get ${at} --base-url=`, /--base-url/],
    [`queue get ${at} --timeout=`, /--timeout/],
    [`queue get ${at} --profile=`, /--profile/],
    [`queue update ${at} --enqueueing-label=`, /--enqueueing-label/],
    [`queue update ${at} --required-status=`, /--required-status/],
    [`pr targets 7 a ${at} --sha=`, /--sha/],
    [`queue get ${at} --json=yes`, /--json/],
  ],
  'an option where a value should stand': [
    ['flaky list -R acme/web --org --json', /--org needs a value, but --json is an option/],
    [`queue get -b main -R --json`, /--repo needs a value, but --json/],
    [`queue get -b main -R -q`, /--repo needs a value, but -q/],
    [`-R --dry-run queue get -b main`, /--repo needs a value, but --dry-run/],
    [`queue get ${at} --fields -o json`, /--fields needs a value, but -o/],
    [`pr submit 7 -R --wait -b main`, /--repo needs a value, but --wait/],
    [`pr submit 7 ${at} --priority --no-batch`, /--priority needs a value, but --no-batch/],
    [`queue update ${at} --set --dry-run`, /--set needs a value, but --dry-run is an option/],
    [`queue update ${at} --enqueueing-label --wait`, /--enqueueing-label needs a value, but --wait/],
    [`queue update ${at} --enqueueing-label --batch`, /--enqueueing-label needs a value, but --batch/],
    [`queue update ${at} --enqueueing-label --concurrency=5`, /--enqueueing-label needs a value/],
    ['queue get --org --help', /--org needs a value, but --help/],
    ['--org --json', /--org needs a value, but --json/],
    ['help --org --json', /--org needs a value, but --json/],
    ['api getQueue -F --include', /--field needs a value, but --include/],
    ['completion --org -v bash', /--org needs a value, but -v/],
  ],
  'a value that is wrong': [
    [`queue get ${at} -o xml`, /xml/],
    [`queue get ${at} --color sometimes`, /sometimes/],
    [`queue get ${at} --timeout 5`, /--timeout.*'5'/],
    [`queue get ${at} --timeout 1.5h`, /1\.5h/],
    [`queue get ${at} --timeout -5s`, /-5s/],
    [`queue get ${at} --retries -1`, /--retries.*-1/],
    [`queue get ${at} --retries many`, /many/],
    [`queue get ${at} --retries 1.5`, /1\.5/],
    [`queue get ${at} --fields ''`, /--fields/],
    [`queue get ${at} --fields state,,mode`, /--fields/],
    [`pr submit 7 ${at} --priority 256`, /256/],
    [`pr submit 7 ${at} --priority highest`, /highest/],
    [`queue create ${at} --mode both`, /both/],
    [`queue create ${at} --concurrency 0`, /--concurrency.*'0'/],
    [`queue update ${at} --concurrency abc`, /--concurrency.*abc/],
    [`queue update ${at} --concurrency 4294967296`, /4294967296/],
    [`queue update ${at} --concurrency 1.0`, /1\.0/],
    [`queue update ${at} --set large=9007199254740993`, /--set: the number 9007199254740993/],
    [`queue update ${at} --bisection-concurrency 0`, /--bisection-concurrency/],
    [`queue update ${at} --testing-timeout-minutes -1`, /--testing-timeout-minutes/],
    [`queue update ${at} --state switching_modes`, /switching_modes/],
    [`queue update ${at} --mode both`, /both/],
    [`queue update ${at} --merge-method fast`, /fast/],
    [`queue update ${at} --direct-merge-mode on`, /'on'/],
    [`queue update ${at} --optimization-mode on`, /'on'/],
    [`queue update ${at} --test-branch-construction-mode on`, /'on'/],
    [`pr targets 7 a --sha s ${at} --too-large maybe`, /maybe/],
    [`pr wait 7 ${at} --interval 500ms`, /500ms|second/],
    [`pr wait 7 ${at} --interval 1`, /--interval/],
    ['api ../getQueue', /getQueue/],
    ['api getQueue -X put', /put/],
  ],
  'pages of tests': [
    ...['0', '-1', '1e9', 'abc', '101', '1.5', ''].map(
      word => [`flaky list ${org} --page-size '${word}'`, /--page-size/] as const,
    ),
    ...['-1', 'abc', '1e9'].map(word => [`flaky list ${org} --limit ${word}`, /--limit/] as const),
    [`flaky report ${org} --limit 0`, /--limit/],
    ...['0', '-1', 'abc'].map(word => [`flaky list ${org} --max-pages ${word}`, /--max-pages/] as const),
    [`flaky list ${org} --min-failure-rate high`, /--min-failure-rate/],
    [`flaky list ${org} --sort size`, /size/],
    [`flaky list ${org} --name ''`, /--name/],
    [`flaky list ${org} --page-token x --since 8d`, /--page-token/],
    [`flaky list ${org} --page-token ''`, /--page-token/],
  ],
  'a range of time': [
    [`flaky list ${org} --since 2026-01-01 --until 2026-01-01`, /before its end|empty/],
    [`flaky list ${org} --since 2026-01-02 --until 2026-01-01`, /before its end|empty/],
    [`flaky list ${org} --until 2026-01-05T12:00:00.001Z`, /future/],
    [`flaky list ${org} --since 2027-01-01 --until 2027-01-02`, /future/],
    [`flaky list ${org} --until 2027-01-01`, /future/],
    [`flaky list ${org} --since 0`, /before its end|empty/],
    [`flaky list ${org} --since 1h --until 2h`, /before its end|empty/],
    [`flaky list ${org} --since 5`, /--since|'5'/],
    [`flaky list ${org} --since yesterday`, /yesterday/],
    [`flaky list ${org} --since 2026-01-01T00:00:00 --until 2026-01-02`, /2026-01-01T00:00:00/],
    [`flaky list ${org} --since 2026-02-30`, /2026-02-30/],
  ],
  'a test id': [
    ...[`{${id}}`, id.slice(1), '../x', `${id}0`, id.replaceAll('-', '')].map(
      word => [`flaky link '${word}' KAN-1 -R acme/web`, /not a test ID/] as const,
    ),
    [['flaky', 'link', '', 'KAN-1', '-R', 'acme/web'], /not a test ID/],
    [['flaky', 'get', '', ...org.split(' ')], /The test must not be empty/],
    [`flaky get cart --window 0 ${org}`, /--window must be longer than 0/],
    [`flaky get cart --window soon ${org}`, /--window: 'soon' is not a duration/],
  ],
  'a repository': [
    ...['o', '/n', 'o/../n', 'o/', 'o//n', 'o/n/', '../n'].map(
      word => [`queue get -b main -R ${word}`, /--repo.*not a repository/] as const,
    ),
    ['queue get -b main', /not a repository/, { env: { MERGEQ_REPO: 'acme' } }],
    ['metrics -R acme', /not a repository/],
  ],
  'what is missing': [
    ['queue get -b main', /repository/],
    ['queue get -R acme/web', /branch/],
    [`flaky list -R acme/web`, /organization/],
    [`flaky get ${id} --org acme`, /repository/],
    [`pr get ${at}`, /pull request/],
    [`pr submit ${at}`, /pull request/],
    [`pr cancel ${at} --yes`, /pull request/],
    [`pr targets //a --sha s ${at}`, /pull request/],
    [`pr targets 7 ${at} --sha s`, /targets/],
    [`pr targets 7 a ${at}`, /commit|--sha/],
    [`pr testing ${at}`, /test run/],
    [`queue update ${at}`, /No setting was given/],
    [`pr targets 7 --from - --sha s ${at}`, /empty/],
    [`pr targets 7 --from - --sha s ${at}`, /empty/, { input: '\n\r\n\uFEFF\n' }],
    [`pr targets 7 --from-json - --sha s ${at}`, /empty/, { input: '[]' }],
  ],
  'targets that are not': [
    [`pr targets 7 --from - --sha s ${at}`, /JSON/, { input: '["a","b"]\n' }],
    [`pr targets 7 --from - --sha s ${at}`, /line 2.*NUL/, { input: 'a\nb\0c\n' }],
    [
      `pr targets 7 --from - --sha s ${at}`,
      /line 3.*UTF-8/,
      { input: new Uint8Array([97, 10, 98, 10, 0xff, 10]) },
    ],
    [`pr targets 7 --from-json - --sha s ${at}`, /array of strings/, { input: '{"a":1}' }],
    [`pr targets 7 --from-json - --sha s ${at}`, /array of strings/, { input: '["a",1]' }],
    [`pr targets 7 --from-json - --sha s ${at}`, /ends before the end of the array/, { input: '["a"' }],
    [['pr', 'targets', '7', '', '--sha', 's', ...where], /empty/],
  ],
  contradictions: [
    [`queue update ${at} --batch --no-batch`, /--batch.*--no-batch/],
    [`queue update ${at} --comments-enabled --no-comments-enabled`, /--comments-enabled/],
    [
      `queue update ${at} --required-status a --delete-required-statuses`,
      /--required-status.*--delete-required-statuses/,
    ],
    [`pr targets 7 a --sha s --no-sha ${at}`, /--sha.*--no-sha/],
    [`pr targets 7 a --all --sha s ${at}`, /--all/],
    [`pr targets 7 --all --none --sha s ${at}`, /--all.*--none/],
    [`pr targets 7 --from - --from-json - --sha s ${at}`, /--from.*--from-json/],
    [`pr targets 7 a --from - --sha s ${at}`, /--from/, { input: 'b\n' }],
    [`pr targets 7 a --none --sha s ${at}`, /--none/],
    [`pr get 7 --head fix ${at}`, /--head/],
    [`pr testing x --pr 7 ${at}`, /--pr/],
    ...['9', '#9', 'https://github.com/acme/web/pull/9', '4294967295'].map(
      word => [['pr', 'testing', word, ...where], /'\S*\d' is a pull request, not a test run/] as const,
    ),
    [`flaky list ${org} --quarantined --no-quarantined`, /--quarantined.*--no-quarantined/],
    ['metrics --all-repos --repo acme/web', /--all-repos.*--repo/],
    [`queue get ${at} --json -o csv`, /--json.*--output/],
    [`queue get ${at} -o table --json`, /--json.*--output/],
    ['pr get https://github.com/acme/web/pull/7 -R acme/app -b main', /name different repositories/],
    ['api getMergeQueueMetrics -F a=1', /GET/],
  ],
  'a flag twice': [
    ['queue get -R acme/web -R acme/app -b main', /--repo.*twice/],
    ['queue get --repo acme/web -b main -R acme/app', /--repo.*twice/],
    ['-R acme/web queue get -R acme/app -b main', /--repo.*twice/],
    ['queue get -R acme/web -b main -b release', /--target-branch.*twice/],
    [`pr testing --pr 7 --pr 8 ${at}`, /--pr.*twice/],
    [`pr submit 7 --priority high --priority low ${at}`, /--priority.*twice/],
    [`queue update --concurrency 1 --concurrency 2 ${at}`, /--concurrency.*twice/],
    [`queue get ${at} -o json -o csv`, /--output.*twice/],
    [`queue get ${at} --timeout 5s --timeout 6s`, /--timeout.*twice/],
  ],
  '--set': [
    [`queue update --set a=1 --set a=2 ${at}`, /--set was given twice for a/],
    [`queue update --set a=1 --set a=1 ${at}`, /--set was given twice for a/],
    [`queue update --set a.b=1 --set a=2 ${at}`, /--set.*twice/],
    [`queue update --set a=1 --set a.b=2 ${at}`, /--set.*twice/],
    [`queue update --concurrency 5 --set concurrency=6 ${at}`, /--set.*concurrency.*--concurrency/],
    [`queue update --batch --set batch=false ${at}`, /--set.*batch.*--batch/],
    [`queue update --no-batch --set batch=true ${at}`, /--set.*batch.*--no-batch/],
    [`queue update --required-status a --set requiredStatuses=[] ${at}`, /--set.*requiredStatuses/],
    [`pr submit 7 --set pr.number=8 ${at}`, /--set.*pr\.number/],
    [`pr submit 7 --set pr=8 ${at}`, /--set.*pr/],
    [`pr targets 7 --all --sha s --set impactedTargets=[] ${at}`, /--set.*impactedTargets/],
    [`pr targets 7 --all --sha s --set pr.sha=t ${at}`, /--set.*pr\.sha/],
    [`flaky list --page-size 50 --set page_query.page_size=5 ${org}`, /--set.*page_size.*--page-size/],
    [`flaky list --page-token t --set page_query.page_token=u ${org}`, /--set.*page_token.*--page-token/],
    [`flaky report --page-size 50 --set page_query={} ${org}`, /--set.*page_query.*--page-size/],
    [`flaky gate --max 1 --since 2h --set start_time=2026 ${org}`, /--set.*start_time.*--since/],
    [`flaky match x.xml --until 1h --set end_time=2026 ${org}`, /--set.*end_time.*--until/, junit],
    [`queue pause --set state=running ${at}`, /--set.*state.*the command/],
    [`queue drain --set state=running ${at}`, /--set.*state.*the command/],
    ...["''", '=1', 'a', 'a..b=1', '.a=1'].map(
      word => [`queue update --set ${word} ${at}`, /--set.*<path>=<value>/] as const,
    ),
  ],
  'the environment': [
    [`queue get ${at}`, /MERGEQ_OUTPUT.*xml/, { env: { MERGEQ_OUTPUT: 'xml' } }],
    [
      'pr get',
      /MERGEQ_PR|007/,
      { env: { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_PR: '007' } },
    ],
    ['queue get -b main', /MERGEQ_REPO.*acme/, { env: { MERGEQ_REPO: 'acme' } }],
    [`queue get ${at}`, /MERGEQ_BASE_URL/, { env: { MERGEQ_BASE_URL: 'http://h.test/v1' } }],
    [`queue get ${at} --base-url http://h.test/v1`, /--base-url.*https/],
    [`queue get ${at} --base-url https://user:secret@h.test/v1`, /--base-url.*user name/],
    [`queue get ${at} --base-url https://h.test/v1?a=b`, /--base-url.*query/],
    [`queue get ${at} --base-url h.test`, /--base-url.*absolute/],
  ],
  'nobody can answer': [
    [`queue delete ${at}`, /queue delete/],
    [`pr cancel 7 8 ${at}`, /pr cancel/],
    ['auth login', /Cannot prompt for a token/],
    [`queue delete ${at}`, /queue delete/, { inputTerminal: true, env: { CI: '1' } }],
    [`queue delete --no-input ${at}`, /queue delete/, { inputTerminal: true }],
    [`pr cancel 7 8 --no-input ${at}`, /pr cancel/, { inputTerminal: true }],
  ],
  'a token has no place there': [
    ['auth login tok_x_secret', /argument/],
    ['config get token', /token/],
    ['config set token tok_x_secret', /token/],
    [`queue get ${at} --token tok_x_secret`, /--token/],
  ],
}

/** Returns the message and the hint on standard error, as text or as JSON. */
function messageIn(err: string): { readonly message: string; readonly hint: string } {
  if (!err.startsWith('{')) {
    expect(err).toMatch(oneSentence)
    const [message = '', ...hint] = err.trimEnd().split('\n')
    return { message: message.replace('mergeq: ', ''), hint: hint.join('\n').trim() }
  }
  expect(err.split('\n')).toHaveLength(2)
  const { message, hint = '', ...rest } = JSON.parse(err).error
  expect(rest).toMatchObject({ kind: 'usage', exit: 2 })
  return { message, hint }
}

/** Sentences that have no hint today; see the tests that are marked to fail below. */
const hintless =
  /must not be empty|must be one of|is not a whole number|is not a number\.|range is empty|cannot be used together/

async function isRefused(words: string | readonly string[], says: RegExp, setting: Setting = {}) {
  const outcome = await typed(words, setting)
  expect(silent(outcome), outcome.err).toEqual(refused)
  const { message, hint } = messageIn(outcome.err)
  expect(message).toMatch(says)
  expect(message).toMatch(/[.?]$/)
  expect(outcome.err).not.toMatch(slips)
  expect(outcome.err).not.toMatch(/secret/)
  if (!hintless.test(message)) expect(hint).not.toBe('')
}

describe.each(Object.entries(tables))('%s', (_, rows) => {
  for (const [words, says, setting] of rows) {
    const name = typeof words === 'string' ? words : JSON.stringify(words)
    test(`${name}${setting === undefined ? '' : ` with ${JSON.stringify(setting)}`}`, () =>
      isRefused(words, says, setting))
  }
})

describe('what an error reports', () => {
  // docs/reference/cli.md, "Error messages": one sentence, then an indented hint that says what to do.
  test.each([
    ['must not be empty', 'queue get -R acme/web --target-branch='],
    ['must be one of', `queue get ${at} -o xml`],
    ['is not a whole number', `flaky list ${org} --page-size 0`],
    ['is not a number', `flaky list ${org} --min-failure-rate high`],
    ['cannot be used together', `queue update ${at} --batch --no-batch`],
    ['range is empty', `flaky list ${org} --since 0`],
  ])('%s has a hint', async (_, words) => {
    const { err } = await typed(words)
    expect(err).toMatch(andHint)
  })

  // The failure to create the HTTP client is reported by the run and again when the context closes.
  test.each(['--ca-file=', '--ca-file /no/such.pem'])('%s is reported once', flag =>
    isRefused(`queue get ${at} ${flag}`, /--ca-file/),
  )

  // docs/reference/cli.md, "Impacted targets": a file that is missing is a clear message and exit 2; it ends
  // as "something went wrong inside mergeq".
  test.each([
    `pr targets 7 --from /no/such.txt --sha s ${at}`,
    `pr targets 7 --from-json /no/such.txt --sha s ${at}`,
    `api getQueue --input /no/such.txt ${at}`,
  ])('%s names the file', words => isRefused(words, /\/no\/such\.txt/))

  test.each([
    ['pr sbumit 7', 'submit'],
    ['queue gett', 'get'],
    ['flaky lits', 'list'],
    ['queu get', 'queue'],
    ['metric', 'metrics'],
    [`pr submit 7 ${at} --priorty high`, '--priority'],
    [`queue get ${at} --jsn`, '--json'],
    [`queue update ${at} --concurency 5`, '--concurrency'],
  ])('%s suggests %s', async (words, suggestion) => {
    const outcome = await typed(words)
    expect(silent(outcome)).toEqual(refused)
    expect(messageIn(outcome.err).hint).toMatch(new RegExp(`Did you mean: mergeq .*${suggestion}`))
  })

  test.each([
    'pr get 007 --json',
    `--json queue get ${at} --retries many`,
    `queue get ${at} -o json --timeout 5`,
    `queue get ${at} -o ndjson --timeout 5`,
    `flaky get '' ${org} --json`,
    'queue update --json -R acme/web -b main',
    '--json pr sbumit',
    'pr sbumit --json',
    `queue get ${at} --json --bogus`,
    `queue get ${at} --bogus --json`,
    `queue get ${at} extra --json`,
  ])('%s reports the error as JSON', async words => {
    const outcome = await typed(words)
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).toMatch(/^\{"error":\{"kind":"usage","exit":2,"message":".+\n$/)
  })

  test('and where MERGEQ_OUTPUT says so', async () => {
    for (const words of ['pr sbumit', `queue get ${at} --retries many`]) {
      const { code, err } = await typed(words, { env: { MERGEQ_OUTPUT: 'json' } })
      expect(code).toBe(2)
      expect(JSON.parse(err).error.kind).toBe('usage')
    }
  })

  test('-q does not silence an error', async () => {
    const { code, err } = await typed(`queue get ${at} -q --retries many`)
    expect(code).toBe(2)
    expect(err).toMatch(/^mergeq: /)
  })
})

describe('values that are not pull requests', () => {
  const words = ['007', '7.0', '7e0', '0x7', '-7', '0', '７', ' 7 ', '7abc', '1_0', '9007199254740993', '']
  const commands = ['submit', 'cancel', 'restart', 'get', 'status', 'wait']

  test.each(commands)('pr %s refuses it', async command => {
    for (const word of words) {
      const outcome = await typed(['pr', command, word, ...where])
      expect({ word, ...silent(outcome) }).toEqual({ word, ...refused })
      expect(outcome.err).toMatch(andHint)
    }
  })

  test.each(commands)('pr %s rejects all if one of several is not a pull request', async command => {
    const outcome = await typed(
      ['pr', command, '7', '007', '8', '--yes', ...where].filter(
        word => command === 'cancel' || word !== '--yes',
      ),
    )
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).toMatch(/007/)
  })

  test.each(words.filter(word => word !== '' && word !== '-7'))(
    'to pr targets %j is a target',
    async word => {
      const { code, requests } = await typed(['pr', 'targets', word, '--sha', 's', ...where], {
        env: { MERGEQ_PR: '7' },
      })
      expect({ code, sent: requests.map(({ body }) => JSON.parse(body)) }).toEqual({
        code: 0,
        sent: [
          {
            repo: { host: 'github.com', owner: 'acme', name: 'web' },
            targetBranch: 'main',
            pr: { number: 7, sha: 's' },
            impactedTargets: [word],
          },
        ],
      })
    },
  )

  test.each(['7', '#7', 'https://github.com/acme/web/pull/7', '4294967295'])('%s is one', async word => {
    for (const command of commands.filter(name => name !== 'wait')) {
      const { code, requests } = await typed(['pr', command, word, ...where])
      expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 1 })
    }
  })
})

describe('pull requests on standard input', () => {
  test.each([
    ['nothing', '', /standard input|empty|pull request/],
    ['blank lines', '\n \r\n', /standard input|empty|pull request/],
    ['what is none', '7\n007\n', /007/],
  ])('%s is refused', (_, input, says) => isRefused(`pr get - ${at}`, says, { input }))

  const many = Array.from({ length: 10_001 }, (_, index) => `${index + 1}\n`).join('')

  test('more than 10,000 are refused', async () => {
    const outcome = await typed(`pr get - ${at}`, { input: many })
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).toMatch(/^mergeq: .*10,?000/)
  })

  test('more than 10,000: with a hint', () => isRefused(`pr get - ${at}`, /10,?000/, { input: many }))
})

describe('what is accepted', () => {
  test.each([
    ['o/n', 'github.com', 'o', 'n'],
    ['git.example.com/o/n', 'git.example.com', 'o', 'n'],
    ['o/sub/group/n', 'github.com', 'o/sub/group', 'n'],
    ['localhost:8080/o/n', 'localhost:8080', 'o', 'n'],
  ])('--repo %s', async (word, host, owner, name) => {
    const { code, requests } = await typed(`queue get -b main -R ${word}`)
    expect({ code, repo: JSON.parse(requests[0]?.body ?? '{}').repo }).toEqual({
      code: 0,
      repo: { host, owner, name },
    })
  })

  test('a test id in upper case', async () => {
    const { code, requests } = await typed(`flaky get ${id.toUpperCase()} ${org}`)
    expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 1 })
  })

  test.each([
    [
      'exactly 7 days',
      '2025-12-29',
      '2026-01-05',
      [['2025-12-29T00:00:00.000Z', '2026-01-05T00:00:00.000Z']],
    ],
    [
      '7 days and 1 ms',
      '2025-12-28T23:59:59.999Z',
      '2026-01-05',
      [
        ['2025-12-29T00:00:00.000Z', '2026-01-05T00:00:00.000Z'],
        ['2025-12-28T23:59:59.999Z', '2025-12-29T00:00:00.000Z'],
      ],
    ],
  ])('%s', async (_, start, end, windows) => {
    const { code, requests } = await typed(`flaky list ${org} --since ${start} --until ${end}`)
    const sent = requests.map(({ body }) => JSON.parse(body))
    expect({ code, windows: sent.map(({ start_time, end_time }) => [start_time, end_time]) }).toEqual({
      code: 0,
      windows,
    })
  })

  test('an end that is now', async () => {
    const { code } = await typed(`flaky list ${org} --until 2026-01-05T12:00:00Z`)
    expect(code).toBe(0)
  })

  test.each([
    [`queue get ${at} -R acme/web`, 'queue get'],
    [`queue get ${at} --repo acme/web --json --json`, 'queue get'],
    [`-R acme/web queue -b main get`, 'queue get'],
    [`-R acme/web -b main queue get`, 'queue get'],
    [`queue get --repo=acme/web --target-branch=main`, 'queue get'],
    [`queue get -Racme/web -bmain`, 'queue get'],
    [`queue get ${at} --json -o json`, 'queue get'],
    [`queue get ${at} --json -o JSON`, 'queue get'],
    [`queue update ${at} --required-status a --required-status a`, 'queue update'],
    [`queue delete ${at} -y`, 'queue delete'],
    [`pr get ${at} -- 7`, 'pr get'],
    [`pr cancel 7 ${at}`, 'pr cancel'],
    [`api /getQueue ${at}`, 'api'],
  ])('%s', async words => {
    const { code, err, requests } = await typed(words)
    expect({ code, requests: requests.length }, err).toEqual({ code: 0, requests: 1 })
  })

  test('behind -- everything is an argument', async () => {
    const { code, requests } = await typed(`pr targets 7 --sha s ${at} -- --all -R -x`)
    expect({ code, targets: JSON.parse(requests[0]?.body ?? '{}').impactedTargets }).toEqual({
      code: 0,
      targets: ['--all', '-R', '-x'],
    })
    const outcome = await typed(`pr get ${at} -- -7`)
    expect(silent(outcome)).toEqual(refused)
  })

  test('--set sends members without an option', async () => {
    for (const [set, sent] of [
      ['concurrency=abc', { concurrency: 'abc' }],
      ['unknown=1', { unknown: 1 }],
    ] as const) {
      const { code, requests } = await typed(`queue update ${at} --set ${set}`)
      expect(code).toBe(0)
      expect(JSON.parse(requests[0]?.body ?? '{}')).toMatchObject(sent)
    }
  })

  // docs/reference/cli.md, "Contradictory options": --set for a field that a typed option sets is a usage
  // error; global flags are not looked at.
  test.each([
    [`queue get ${at} --set repo.name=other`, /--set.*repo\.name.*--repo/],
    [`queue get ${at} --set targetBranch=other`, /--set.*targetBranch.*--target-branch/],
    [`flaky list ${org} --set org_url_slug=other`, /--set.*org_url_slug.*--org/],
  ])('%s is refused', (words, says) => isRefused(words, says))
})

describe('questions', () => {
  const terminal = { inputTerminal: true, terminal: true }

  test.each([
    ['queue delete', undefined],
    ['queue delete', ''],
    ['queue delete', 'no'],
    ['queue delete', 'y'],
    ['queue delete', 'Main'],
    ['queue delete', 'release'],
    ['pr cancel 7 8', undefined],
    ['pr cancel 7 8', ''],
    ['pr cancel 7 8', 'n'],
    ['pr cancel 7 8', 'main'],
  ])('%s answered with %j sends nothing', async (words, answered) => {
    const outcome = await typed(`${words} ${at}`, {
      ...terminal,
      typed: answered === undefined ? [] : [answered],
    })
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).toMatch(/Nothing was changed\./)
  })

  test.each([
    ['queue delete', 'main', 1],
    ['queue delete', ' main ', 1],
    ['pr cancel 7 8', 'y', 2],
    ['pr cancel 7 8', 'YES', 2],
    ['pr cancel 7', 'never asked', 1],
    ['queue delete --yes', 'never asked', 1],
    ['pr cancel 7 8 --yes', 'never asked', 2],
  ])('%s continues after the answer %j', async (words, answered, number) => {
    const { code, err, requests } = await typed(`${words} ${at}`, { ...terminal, typed: [answered] })
    expect({ code, requests: requests.length }).toEqual({ code: 0, requests: number })
    expect(err === '').toBe(answered === 'never asked')
  })

  test('the question names what would be lost', async () => {
    const { err } = await typed('queue delete -R git.example.com/acme/web -b release', terminal)
    expect(err).toMatch(/release in git\.example\.com\/acme\/web/)
    const many = await typed(`pr cancel 7 8 ${at}`, terminal)
    expect(many.err).toMatch(/#7, #8.*\[y\/N\]/)
  })

  test.each([
    ['queue delete', '--yes'],
    ['pr cancel 7 8', '--yes'],
    ['auth login', '--with-token'],
  ])('without a terminal %s names %s', async (words, flag) => {
    const outcome = await typed(`${words} ${words === 'auth login' ? '' : at}`)
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).toContain(flag)
  })

  test('--yes deletes with one request, and says so', async () => {
    const { code, out, requests } = await typed(`queue delete --yes ${at}`)
    expect({ code, out, requests: requests.length }).toEqual({
      code: 0,
      out: '\ttrue\tconfirmed\tDeleted the queue for main in github.com/acme/web.\n',
      requests: 1,
    })
  })
})

describe('help and version', () => {
  test.each(['', 'pr', 'queue', 'flaky', 'auth', 'config', 'sandbox'])(
    '"mergeq %s" prints its help and exits 0',
    async words => {
      const outcome = await typed(words)
      expect({ code: outcome.code, err: outcome.err, requests: outcome.requests }).toEqual({
        code: 0,
        err: '',
        requests: [],
      })
      expect(outcome.out).toMatch(new RegExp(`^Usage: mergeq${words === '' ? '' : ` ${words}`} `, 'm'))
      expect(outcome.out).toContain('Commands:')
      // docs/reference/cli.md, "Commands": alone and with -h the help is short; --help is complete.
      expect((await typed(`${words} -h`)).out).toBe(outcome.out)
      expect((await typed(`help ${words}`)).out).toBe((await typed(`${words} --help`)).out)
    },
  )

  test.each(['--version', 'pr --version', 'queue get --version'])(
    '%s prints the bare version',
    async words => {
      const { code, out, err, requests } = await typed(words)
      expect({ code, out, err, requests }).toEqual({ code: 0, out: '0.0.0-test\n', err: '', requests: [] })
    },
  )

  test.each([
    ['pr submit', ['--priority', '--no-batch', '--wait', '--set', ' /submitPullRequest']],
    ['pr cancel', ['--yes', ' /cancelPullRequest']],
    ['pr restart', [' /restartTestsOnPullRequest']],
    ['pr get', ['--head', '--exit-status', ' /getSubmittedPullRequest']],
    ['pr status', ['--head', '--exit-status', ' /getSubmittedPullRequest']],
    [
      'pr targets',
      [
        '--from ',
        '--from-json',
        '--all',
        '--none',
        '--forked-run',
        '--sha',
        '--too-large',
        ' /setImpactedTargets',
      ],
    ],
    ['pr testing', ['--pr', ' /getMergeQueueTestingDetails']],
    ['queue create', ['--mode', '--concurrency', ' /createQueue']],
    ['queue get', [' /getQueue']],
    ['queue list', ['--all-repos', ' /getMergeQueueMetrics']],
    [
      'queue update',
      ['--concurrency', '--required-status', '--delete-required-statuses', '--[no-]batch', ' /updateQueue'],
    ],
    ['queue delete', ['--yes', '--cancel-all', ' /deleteQueue']],
    ['metrics', ['--all-repos', '--raw', ' /getMergeQueueMetrics']],
    [
      'flaky list',
      [
        '--since',
        '--until',
        '--limit',
        '--page-size',
        '--page-token',
        '--max-pages',
        '--owner',
        '--quarantined',
        '--min-failure-rate',
        '--name',
        '--path',
        '--sort',
      ],
    ],
    ['flaky get', ['<test>', '--window', ' /flaky-tests/get-test-details']],
  ])('%s --help names %j and has examples', async (words, names) => {
    for (const flag of ['--help', '--help -h', '--help -q', `${at} --help`]) {
      const { code, out, err, requests } = await typed(`${words} ${flag}`)
      expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
      for (const name of names) expect(out).toContain(name)
      expect(out).toMatch(/Examples:\n {2}.*mergeq /)
    }
  })

  test('help takes precedence over other mistakes, and needs no token or settings', async () => {
    for (const words of ['pr get 007 --help', 'queue update -h', 'pr targets --help 7 a'])
      expect((await typed(words, { env: { MERGEQ_TOKEN: '', MERGEQ_OUTPUT: 'xml' } })).code).toBe(0)
  })

  test.each(['exit-codes', 'environment', 'formatting'])('help %s prints the topic', async topic => {
    const { code, out, err } = await typed(`help ${topic}`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n').length).toBeGreaterThan(5)
  })
})

describe('a value that begins with a dash', () => {
  test('one that is spelled like an option of the command is taken behind an equals sign, as the hint says', async () => {
    const refusal = await typed('flaky list -R acme/web --org --json')
    expect(refusal.err).toContain('write: --org=--json')
    const taken = await typed('flaky list -R acme/web --org=--json')
    expect({ code: taken.code, slug: JSON.parse(taken.requests[0]?.body ?? '{}').org_url_slug }).toEqual({
      code: 0,
      slug: '--json',
    })
  })

  test.each([
    [`queue update ${at} --enqueueing-label=--wait`, { enqueueingLabel: '--wait' }],
    [`queue update ${at} --enqueueing-label -`, { enqueueingLabel: '-' }],
    [`queue update ${at} --set a=--json`, { a: '--json' }],
    [`queue update ${at} --enqueueing-label=--json --json`, { enqueueingLabel: '--json' }],
  ])('%s is a value, not an option of this command', async (words, body) => {
    const { code, requests } = await typed(words)
    expect(code).toBe(0)
    expect(JSON.parse(requests[0]?.body ?? '{}')).toMatchObject(body)
  })

  test('words after -- belong to the program that is run', async () => {
    const seen: string[] = []
    const spawn = (program: string, args: readonly string[]) => {
      seen.push([program, ...args].join(' '))
      return { code: 0, out: '' }
    }
    const { code } = await typed('sandbox exec --seed 1 -- mergeq flaky list --org --json', { spawn })
    expect({ code, seen }).toEqual({ code: 0, seen: ['mergeq flaky list --org --json'] })
  })
})

test('a pull request in the place of a test run: the hint is the command line that asks by pull request', async () => {
  const { err } = await mergeq(['pr', 'testing', '#9', ...where])
  expect(err).toContain('\n  To find its test run, run: mergeq pr testing --pr 9\n')
})
