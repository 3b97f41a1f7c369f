import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, type Outcome, type Seen, type Setting } from '../support/harness.ts'

// What a value must be is in test/values/values.test.ts, how words are read in test/cli/parse.test.ts, and what was meant
// in test/cli/corrections.test.ts; tokens are in test/commands/auth/tokens.test.ts. Here: that the command line refuses it, with what words, before anything is sent.

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const sha = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
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
const bodies = ({ requests }: Outcome) => requests.map(({ body }) => JSON.parse(body))

/** A sentence, then an indented hint that says what to do (docs/reference/cli.md, "Error messages"). */
const sentenceAndHint = /^mergeq: ([^\n]+[.?])\n(?: {2}[^\n]+\n)+$/
const slips = /undefined|\[object|\n {4}at |NaN|error: |CommanderError|qj7-token|secret/

/** Runs a wrong command line; the sentence must say what is wrong. */
async function isRefused(words: string | readonly string[], says: RegExp, setting: Setting = {}) {
  const outcome = await typed(words, setting)
  expect(silent(outcome), outcome.err).toEqual(refused)
  expect(outcome.err).not.toMatch(slips)
  if (outcome.err.startsWith('{')) {
    const { error } = JSON.parse(outcome.err)
    expect(error).toMatchObject({ kind: 'usage', exit: 2, message: expect.stringMatching(says) })
    expect(error.hint).not.toBe('')
  } else {
    expect(outcome.err).toMatch(sentenceAndHint)
    expect(outcome.err.split('\n')[0]).toMatch(says)
  }
}

type Row = readonly [words: string | readonly string[], says: RegExp, setting?: Setting]

const tables: Readonly<Record<string, readonly Row[]>> = {
  'a word that is not there': [
    ['metrics now', /argument|now/],
    [`flaky get ${org}`, /argument 'test'/],
    ['api', /operation/],
  ],
  'an option without its value': [
    ['flaky list -R acme/web --org --json', /--org needs a value, but --json is an option/],
    // An option of another command is an option, too.
    [`pr submit 7 -R --wait -b main`, /--repo needs a value, but --wait/],
    ['pr cancel 7 --yes=false', /--yes takes no value/],
    ['api getQueue -F --include', /--field needs a value, but --include/],
  ],
  'a value that is wrong': [
    [`pr land 7 ${at} --attempts 11`, /--attempts: '11' is not a whole number from 1 to 10/],
    [`queue update ${at} --set large=9007199254740993`, /--set: the number 9007199254740993/],
    ['api ../getQueue', /getQueue/],
    [`flaky report ${org} --limit 0`, /--limit/],
    [`flaky list ${org} --page-token x --since 8d`, /--page-token/],
    [['flaky', 'link', '', 'KAN-1', '-R', 'acme/web'], /<test> is an empty word/],
    [`flaky get cart --window 0 ${org}`, /--window must be longer than 0/],
  ],
  'a range of time': [
    [`flaky list ${org} --since 2026-01-01 --until 2026-01-01`, /before its end|empty/],
    [`flaky list ${org} --until 2026-01-05T12:00:00.001Z`, /future/],
    [`flaky list ${org} --since lately`, /--since.*lately/],
  ],
  'what is missing': [
    ['queue get -R acme/web', /branch/],
    ['flaky list -R acme/web', /organization/],
    [`flaky get ${id} --org acme`, /repository/],
    [`pr cancel ${at} --yes`, /pull request/],
    [`pr targets //a --sha ${sha} ${at}`, /pull request/],
    [`pr targets 7 ${at} --sha ${sha}`, /targets/],
    [`pr targets 7 a ${at}`, /commit|--sha/],
    [`queue update ${at}`, /No setting was given/],
  ],
  'targets that are not': [[`pr targets 7 --from /no/such.txt --sha ${sha} ${at}`, /\/no\/such\.txt/]],
  'pull requests that are not': [
    ...['submit', 'cancel', 'restart', 'get', 'status', 'wait'].map(
      name => [`pr ${name} 7 007 8 ${name === 'cancel' ? '--yes ' : ''}${at}`, /'007'/] as const,
    ),
    [`pr get - ${at}`, /standard input|empty|pull request/, { input: '\n \r\n' }],
    [`pr get - ${at}`, /007/, { input: '7\n007\n' }],
    [`pr get - ${at}`, /10,?000/, { input: '7\n'.repeat(10_001).replace(/7/g, (_, at) => `${at + 1}`) }],
    [`pr get ${at} -- -7`, /-7/],
    ['pr get https://github.com/acme/web/pull/7 -R acme/app -b main', /name different repositories/],
  ],
  contradictions: [
    [`pr get 7 --head x ${at}`, /^mergeq: --head and <pr> cannot be used together\.$/],
    [`pr testing ${id} --pr 7 ${at}`, /^mergeq: <run> and --pr cannot be used together\.$/],
    [
      `queue update ${at} --required-status ci --delete-required-statuses`,
      /^mergeq: --required-status and --delete-required-statuses cannot be used together\.$/,
    ],
    [`queue update ${at} --batch --no-batch`, /--batch.*--no-batch/],
    [`pr targets 7 a --sha ${sha} --no-sha ${at}`, /--sha.*--no-sha/],
    [`pr targets 7 a --all --sha ${sha} ${at}`, /--all/],
    [`pr targets 7 --all --none --sha ${sha} ${at}`, /--all.*--none/],
    [`pr targets 7 --from - --from-json - --sha ${sha} ${at}`, /--from.*--from-json/],
    [`pr targets 7 a --from - --sha ${sha} ${at}`, /--from/, { input: 'b\n' }],
    ['metrics --all-repos --repo acme/web', /--all-repos.*--repo/],
    [`queue get ${at} --json -o csv`, /--json.*--output/],
    ['api getMergeQueueMetrics -F a=1', /GET/],
    ['-R acme/web queue get -R acme/app -b main', /--repo.*twice/],
    [`queue update --concurrency 1 --concurrency 2 ${at}`, /--concurrency.*twice/],
  ],
  // docs/reference/cli.md, "Contradictory options": --set for a field that a typed option sets.
  '--set': [
    [`queue update --set a.b=1 --set a=2 ${at}`, /--set.*twice/],
    [`queue update --concurrency 5 --set concurrency=6 ${at}`, /--set.*concurrency.*--concurrency/],
    [`queue update --no-batch --set batch=true ${at}`, /--set.*batch.*--no-batch/],
    [`flaky list --page-size 50 --set page_query.page_size=5 ${org}`, /--set.*page_size.*--page-size/],
    [`flaky gate --max 1 --since 2h --set start_time=2026 ${org}`, /--set.*start_time.*--since/],
    [`queue pause --set state=running ${at}`, /--set.*state.*the command/],
    [`flaky list ${org} --set org_url_slug=other`, /--set.*org_url_slug.*--org/],
    [`queue update --set a ${at}`, /--set.*<path>=<value>/],
  ],
}

describe.each(Object.entries(tables))('%s is refused', (_, rows) => {
  test.each(rows.map(row => [JSON.stringify(row[0]), row] as const))('%s', (_, row) => isRefused(...row))
})

test('the user name and password of an address are not repeated', async () => {
  const address = 'https://wanda:sesame@github.com/acme/web/pull/7'
  const lines = [
    `pr get ${address} -b main`,
    `pr get 8 ${address} -b main --json`,
    `pr get 7 -R ${address} -b main`,
    `config set repo ${address}`,
    address,
    `pr view ${address}`,
    `queue get ${address}`,
  ]
  for (const line of lines) {
    const outcome = await typed(line)
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).not.toMatch(/wanda|sesame/)
  }
  const { err } = await typed(`pr get ${at}`, { env: { MERGEQ_PR: address } })
  expect(err).toContain("MERGEQ_PR: 'https://[REDACTED]@github.com/acme/web/pull/7' is not a pull request.\n")
})

describe('an error', () => {
  test.each<readonly [words: string, env: Readonly<Record<string, string>>]>([
    ['pr get 007 --json', {}],
    [`--json queue get ${at} --retries many`, {}],
    [`queue get ${at} -o ndjson --timeout 5`, {}],
    [`queue get ${at} --bogus --json`, {}],
    ['pr sbumit', { MERGEQ_OUTPUT: 'json' }],
  ])('is JSON where JSON was asked for: %s %j', async (words, env) => {
    const outcome = await typed(words, { env })
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).toMatch(/^\{"error":\{"kind":"usage","exit":2,"message":".+\n$/)
  })
})

describe('accepted are', () => {
  test.each([
    `queue get ${at} -R acme/web --json`,
    `queue get ${at} --json -o JSON`,
    `flaky list ${org} --until 2026-01-05T12:00:00Z`,
    `api /getQueue ${at}`,
  ])('%s', async words => {
    const { code, err, requests } = await typed(words)
    expect({ code, requests: requests.length }, err).toEqual({ code: 0, requests: 1 })
  })

  test.each([
    ['words that are no pull requests, as targets', "007 7.0 '７'", ['007', '7.0', '７']],
    ['words behind --, as arguments', '-- 7 --all -R -x', ['--all', '-R', '-x']],
  ])('%s', async (_, words, impactedTargets) => {
    const outcome = await typed(`pr targets --sha ${sha} ${at} ${words}`, { env: { MERGEQ_PR: '7' } })
    expect({ code: outcome.code, sent: bodies(outcome) }).toMatchObject({
      code: 0,
      sent: [{ pr: { number: 7, sha }, impactedTargets }],
    })
  })

  test('values that are spelled like an option, behind an equals sign, as the hint says', async () => {
    const { err } = await typed('flaky list -R acme/web --org --json')
    expect(err).toContain('write: --org=--json')
    expect(bodies(await typed('flaky list -R acme/web --org=--json'))).toMatchObject([
      { org_url_slug: '--json' },
    ])
  })
})

describe('questions', () => {
  const terminal = { inputTerminal: true, terminal: true }

  test.each<readonly [words: string, typed: readonly string[], number: number]>([
    ['queue delete', [], 0],
    ['queue delete', ['Main'], 0],
    ['queue delete', [' main '], 1],
    ['queue delete --yes', ['never asked'], 1],
    ['pr cancel 7 8', [], 0],
    ['pr cancel 7 8', ['n'], 0],
    ['pr cancel 7 8', ['YES'], 2],
    ['pr cancel 7', ['never asked'], 1],
    ['pr cancel 7 8 --yes', ['never asked'], 2],
  ])('%s answered with %j sends %i changes', async (words, answers, number) => {
    const { code, out, err, requests } = await typed(`${words} ${at}`, { ...terminal, typed: answers })
    const changes = requests.filter(({ path }) => !/get(SubmittedPullRequest|Queue)$/.test(path))
    expect({ code, changes: changes.length }).toEqual({ code: number === 0 ? 2 : 0, changes: number })
    expect(err === '').toBe(answers[0] === 'never asked')
    if (number === 0)
      expect({ out, err }).toEqual({ out: '', err: expect.stringContaining('Nothing was changed.') })
  })

  test('name what would be lost', async () => {
    const { err } = await typed('queue delete -R git.example.com/acme/web -b release', terminal)
    expect(err).toMatch(/release of git\.example\.com\/acme\/web/)
    const many = await typed(`pr cancel 7 8 ${at}`, terminal)
    expect(many.err).toMatch(/#7 {2}running\n {2}#8 {2}running\n.*\[y\/N\]/)
  })

  // Why nobody can answer is in test/commands/queue/pause.test.ts.
  test.each([
    [`queue delete ${at}`, '--yes'],
    [`pr cancel 7 8 ${at}`, '--yes'],
    ['auth login', '--with-token'],
  ])('%s is an error where nobody can answer, which names %s', async (line, option) => {
    const outcome = await typed(line)
    expect(silent(outcome)).toEqual(refused)
    expect(outcome.err).toMatch(sentenceAndHint)
    expect(outcome.err).toContain(option)
  })
})
