import { describe, expect, test } from 'vitest'
import { formatFlags } from '../support/commands.ts'
import { type Answer, mergeq, type Seen } from '../support/harness.ts'
import { answerOf } from '../support/hostile-texts.ts'
import { slowTest } from '../support/sample.ts'

const where = '-R acme/web -b main'
const org = '-R acme/web --org acme'
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

const record = {
  id: '0b9f',
  state: 'testing',
  stateChangedAt: '2026-01-05T11:57:00.000Z',
  priorityValue: 100,
  priorityName: 'medium',
  isCurrentlySubmittedToQueue: true,
  prTitle: 'Fix cart',
  readiness: { hasImpactedTargets: false },
}
const tests = [
  {
    id,
    name: 'cart total',
    status: { value: 'flaky', reason: 'r' },
    failure_rate_last_7d: 0.25,
    pull_requests_impacted_last_7d: 3,
    quarantined: true,
    codeowners: ['@acme/web', 'acme'],
  },
  { id: '3c4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a', name: 'login' },
]
const exposition = '# TYPE up gauge\nup{repo="acme/web",branch="main"} 4\n\nx NaN\ny{le="+Inf"} -Inf\n'

/** A service that answers with these documents. */
const serve =
  (documents: Readonly<Record<string, unknown>> = {}) =>
  ({ path, body }: Seen): Answer => {
    const name = path.replace('/v1/', '').replace(/\?.*/, '')
    const own = documents[name]
    if (typeof own === 'string') return { body: own }
    if (own !== undefined) return { body: JSON.stringify(own) }
    if (name === 'getSubmittedPullRequest')
      return { body: JSON.stringify({ ...record, prNumber: JSON.parse(body).pr.number }) }
    if (name === 'flaky-tests/list-failing-tests')
      return { body: JSON.stringify({ tests, page: { total_rows: 2, next_page_token: '' } }) }
    if (name === 'flaky-tests/get-test-details') return { body: JSON.stringify({ test: tests[0] }) }
    return { body: name === 'getMergeQueueMetrics' ? exposition : 'OK' }
  }

const listDocument = {
  tests,
  page: { total_rows: 2, next_page_token: '' },
  window: { start: '2026-01-04T12:00:00.000Z', end: '2026-01-05T12:00:00.000Z', complete: true },
}
const lines = (...documents: readonly unknown[]) =>
  documents.map(document => `${JSON.stringify(document)}\n`).join('')
const crlf = (...rows: readonly string[]) => rows.map(row => `${row}\r\n`).join('')

const onTerminal = { terminal: true, columns: 100 }
const onPipe = { terminal: false }

/** Command lines and flags; with a `>` before them standard output is a terminal. */
const shown: Readonly<Record<string, readonly string[]>> = {
  [`pr get 7 ${where}`]: [
    '>',
    ...formatFlags,
    '> -o markdown',
    '> --fields state,prTitle,readiness.hasImpactedTargets',
    '--fields state,prTitle,readiness.hasImpactedTargets',
    '--fields readiness.hasImpactedTargets,state --json',
    '--fields state,readiness.hasImpactedTargets -o csv',
    '--fields state,prNumber -o markdown',
  ],
  [`pr get 8 7 ${where}`]: ['>', '--json'],
  [`flaky list ${org}`]: ['>', '', '--json', '-o ndjson', '-o csv', '--fields status.reason,name -o ndjson'],
  metrics: ['> --raw', '', '--json', '-o csv --fields name,labels.repo,value'],
  [`pr submit 7 8 ${where}`]: ['>', '', '--json', '-o csv', '--fields delivery,pr --json'],
}

test('what each format prints of records, lists, metrics and receipts is in test/golden/formats.txt', async () => {
  let golden = ''
  for (const [words, variants] of Object.entries(shown))
    for (const variant of variants) {
      const setting = variant.startsWith('>') ? onTerminal : onPipe
      const line = `${words} ${variant.replace(/^> ?/, '')}`.trim()
      const { code, out } = await mergeq(`${line} --color never`, { ...setting, answer: serve() })
      expect({ line, code }).toEqual({ line, code: 0 })
      const text = out.replaceAll('\r', '\\r').replaceAll('\t', '\\t')
      golden += `$ mergeq ${line}${setting === onTerminal ? '' : ' | cat'}\n${text}\n`
    }
  await expect(golden).toMatchFileSnapshot('../golden/formats.txt')
})

describe('more of the formats', () => {
  test('MERGEQ_OUTPUT=table does not draw on a pipe', async () => {
    const { out } = await mergeq(`pr get 7 ${where} --fields state`, {
      answer: serve(),
      env: { MERGEQ_OUTPUT: 'table' },
    })
    expect(out).toBe('TESTING\n')
  })

  test.each([
    ['--json', lines({ ...listDocument, tests: [], page: {} })],
    ['-o ndjson', ''],
    ['', ''],
    ['-o csv', crlf('name,status,rate_7d,prs_7d,quarantined,owners,file,link,ticket,id,variant')],
  ])('an empty list with %j is empty, never a sentence', async (flags, expected) => {
    const { code, out } = await mergeq(`flaky list ${org} ${flags}`, {
      answer: serve({ 'flaky-tests/list-failing-tests': { tests: [], page: {} } }),
    })
    expect({ code, out }).toEqual({ code: 0, out: expected })
  })

  test('api prints the response unchanged, states too', async () => {
    const body = '{ "state":"merged",\n  "x": 9007199254740993 }'
    const { code, out } = await mergeq(`api getQueue ${where}`, { answer: () => ({ body }) })
    expect({ code, out }).toEqual({ code: 0, out: body })
  })

  // docs/reference/cli.md, "Selecting fields": --fields picks by name; a test's fields stand in a record of
  // that name.
  test('flaky get takes the field names that flaky list takes', async () => {
    const { out } = await mergeq(`flaky get ${id} ${org} --fields name,status.value`, { answer: serve() })
    expect(out).toBe('cart total\tflaky\n')
  })
})

describe('shapes', () => {
  const reads: readonly (readonly [words: string, operation: string])[] = [
    [`pr get 7 ${where}`, 'getSubmittedPullRequest'],
    [`pr testing x ${where}`, 'getMergeQueueTestingDetails'],
    [`queue get ${where}`, 'getQueue'],
    [`flaky get ${id} ${org}`, 'flaky-tests/get-test-details'],
  ]

  const odd =
    '{"__proto__":{"polluted":1},"constructor":1,"toString":2,"then":3,"toJSON":4,"valueOf":null,"hasOwnProperty":[],"state":"MERGED","test":{},"enqueuedPullRequests":[],"zulu":{"__proto__":[1]}}'

  test.each(reads)('%s keeps keys of any name, and nothing is polluted', async (words, operation) => {
    const { code, out } = await mergeq(`${words} --json`, { answer: serve({ [operation]: odd }) })
    expect({ code, out }).toEqual({ code: 0, out: `${odd}\n` })
    expect({}).not.toHaveProperty('polluted')
    const table = await mergeq(words, { answer: serve({ [operation]: odd }), ...onTerminal })
    expect(table.code).toBe(0)
  })

  test('the records of a list keep them too, as lines and as fields', async () => {
    const answer = serve({ 'flaky-tests/list-failing-tests': `{"tests":[${odd}],"page":{}}` })
    const { out } = await mergeq(`flaky list ${org} -o ndjson`, { answer })
    expect(out).toBe(`${odd}\n`)
    const line = `flaky list ${org} -o ndjson --fields __proto__.polluted,toString`
    expect((await mergeq(line, { answer })).out).toBe('{"__proto__":{"polluted":1},"toString":2}\n')
    expect({}).not.toHaveProperty('polluted')
  })

  test('a number is not rounded, except by --fields', async () => {
    for (const number of ['-123456789012345678901234567890', '1e400', '0.1000000000000000055']) {
      const body = `{"state":"TESTING","list":[${number}],"deep":{"x":${number}}}`
      const answer = () => ({ body })
      expect((await mergeq(`pr get 7 ${where} --json`, { answer })).out).toBe(`${body}\n`)
      const { out } = await mergeq(`pr get 7 ${where} --fields deep.x`, { answer })
      expect(out).toBe(`${Number.isFinite(Number(number)) ? Number(number) : '-'}\n`)
    }
  })

  const documents: Readonly<Record<string, string>> = {
    getSubmittedPullRequest: '{"state":"PENDING"}',
    getMergeQueueTestingDetails: '{}',
    getQueue: '{"enqueuedPullRequests":[{}]}',
    'flaky-tests/get-test-details': '{"test":{}}',
    'flaky-tests/list-failing-tests': '{"tests":[{}],"page":{}}',
  }
  /** A document with every known field, each null, and with a null in every list. */
  function nullsOf(operation: string): string {
    const { body = '' } = answerOf('x')({ path: `/v1/${operation}`, method: 'POST', headers: {}, body: '' })
    return JSON.stringify(
      JSON.parse(body, (key, value) => {
        if (typeof value === 'object')
          return Array.isArray(value) && key !== 'tests' ? [...value, null] : value
        // Without its state it is no pull request.
        return key === 'state' && operation === 'getSubmittedPullRequest' ? 'PENDING' : null
      }),
    )
  }

  test.each([...reads, [`flaky list ${org}`, 'flaky-tests/list-failing-tests'] as const])(
    '%s shows nothing of fields that are missing or null, and keeps every null in JSON',
    async (words, operation) => {
      for (const body of [documents[operation] ?? '', nullsOf(operation)]) {
        const answer = () => ({ body })
        for (const flags of formatFlags.filter(flag => !/json/.test(flag))) {
          const { code, out, err } = await mergeq(`${words} ${flags}`, { answer })
          expect({ code, flags }).toEqual({ code: 0, flags })
          expect(out + err).not.toMatch(/undefined|null|NaN|1970|Invalid|\[object/)
        }
        const { out } = await mergeq(`${words} --json`, { answer })
        expect(JSON.parse(out)).toMatchObject(JSON.parse(body))
      }
    },
  )

  // Tables show a dash, or leave out a column without values; a sheet leaves out the line.
  test.each([
    [`pr get 7 8 ${where}`, 'getSubmittedPullRequest', { state: 'PENDING' }, /#7 +● pending +-\n/],
    [
      `flaky get ${id} ${org}`,
      'flaky-tests/get-test-details',
      { test: { id } },
      /^a test without a name\n {2}id {2}\w{8}-/,
    ],
    [
      `flaky list ${org}`,
      'flaky-tests/list-failing-tests',
      { tests: [{ id }], page: {} },
      /^PRS.*\n +- +\w{8} +-\n/,
    ],
  ])('%s shows a dash for a field that is missing', async (words, operation, document, expected) => {
    const { out } = await mergeq(`${words} --color never`, {
      answer: serve({ [operation]: document }),
      ...onTerminal,
    })
    expect(out).toMatch(expected)
  })

  test('unknown fields are kept on every level, and states in any case have the spelling of the contract', async () => {
    const document = JSON.stringify({
      state: 'switching_modes',
      newSetting: { deep: [1, { x: null }] },
      enqueuedPullRequests: [
        { state: 'not_ready', prNumber: 1, news: true },
        { state: 'Pending_Failure', prNumber: 2 },
        { state: 'warming_up', prNumber: 3, other: { state: 'merged' } },
      ],
    })
    const { out } = await mergeq(`queue get ${where} --json`, { answer: serve({ getQueue: document }) })
    const spelled = document.replaceAll(/switching_modes|not_ready|Pending_Failure/g, one =>
      one.toUpperCase(),
    )
    expect(out).toBe(`${spelled}\n`)
    // docs/reference/cli.md, "Lists of failing tests": the window is beside the fields of the service.
    const list = { tests: [], page: { news: 1 }, news: 2 }
    const answer = serve({ 'flaky-tests/list-failing-tests': list })
    expect(JSON.parse((await mergeq(`flaky list ${org} --json`, { answer })).out)).toMatchObject(list)
  })

  test.each(['soon', '2026-99-99T00:00:00Z', 'Infinity'])('the date %j is shown as it came', async date => {
    const pull = serve({ getSubmittedPullRequest: { state: 'testing', stateChangedAt: date } })
    const { out } = await mergeq(`pr get 7 ${where} --fields stateChangedAt,state`, { answer: pull })
    expect(out).toBe(`${date}\tTESTING\n`)
    expect((await mergeq(`pr get 7 ${where}`, { answer: pull, ...onTerminal })).out).toContain(
      ` since ${date}`,
    )
    const test = {
      id,
      status: { timestamp: date },
      most_common_failures: [{ last_occurrence: date, summary: 's' }],
    }
    const answer = serve({ 'flaky-tests/get-test-details': { test } })
    const sheet = await mergeq(`flaky get ${id} ${org} --color never`, { answer, ...onTerminal })
    expect(sheet.out).toContain(date)
    expect(sheet.out).not.toMatch(/Invalid|NaN|1970/)
  })

  test('the words of a test run stay as they came', async () => {
    const document = {
      status: 'succeeded',
      checkSuites: [{ checkRuns: [{ name: 'build', status: 'COMPLETED', conclusion: 'success' }] }],
    }
    const { out } = await mergeq(`pr testing x ${where} --json`, {
      answer: serve({ getMergeQueueTestingDetails: document }),
    })
    expect(out).toBe(lines(document))
  })
})

describe('a list of more tests than a call has room for', () => {
  const pages = ['a', 'b', 'c', ''].map(next => ({
    tests: Array.from({ length: 35_000 }, (_, index) => ({ id: `${next}${index}`, quarantined: true })),
    page: { next_page_token: next },
  }))

  slowTest.each(['flaky list --sort name --fields id', 'flaky gate --max 1000000'])(
    'is read to its end by %s',
    { timeout: 60_000 },
    async line => {
      const { code, err } = await mergeq(`${line} ${org}`, {
        answer: (_, index) => ({ body: JSON.stringify(pages[Math.min(index, 3)]) }),
      })
      expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('140,000 tests failed') })
    },
  )
})

describe('colour', () => {
  const colored = /\u001B\[/
  test.each<
    readonly [flags: string, env: Readonly<Record<string, string>>, terminal: boolean, expected: boolean]
  >([
    ['', {}, true, true],
    ['', {}, false, false],
    ['', { NO_COLOR: '1' }, true, false],
    ['', { NO_COLOR: '' }, true, true],
    ['', { FORCE_COLOR: '1' }, false, true],
    ['', { FORCE_COLOR: '0' }, true, false],
    ['', { CLICOLOR_FORCE: '1' }, false, true],
    // As in gh: a value other than 0 forces, 0 does not force and does not forbid.
    ['', { CLICOLOR_FORCE: '0' }, true, true],
    ['', { CLICOLOR: '0' }, true, false],
    ['', { TERM: 'dumb' }, true, false],
    ['--color always', {}, false, true],
    ['--color always', { NO_COLOR: '1' }, true, true],
    ['--color always', { TERM: 'dumb' }, true, true],
    ['--color never', {}, true, false],
    ['--color never', { FORCE_COLOR: '1' }, true, false],
    ['--color auto', { NO_COLOR: '1' }, true, false],
    // Output for scripts is never colored.
    ['--json --color always', { FORCE_COLOR: '1' }, true, false],
    ['-o markdown --color always', {}, true, false],
  ])('%s with %j, on a terminal: %s, is there: %s', async (flags, env, terminal, expected) => {
    const { code, out } = await mergeq(`pr get 7 ${where} ${flags}`, { answer: serve(), env, terminal })
    expect({ code, colored: colored.test(out) }).toEqual({ code: 0, colored: expected })
  })

  // docs/reference/cli.md, "Color": no color on a pipe unless --color always or the environment forces it.
  test('stands around a state on a terminal, and in a row where it is forced', async () => {
    const { out } = await mergeq(`pr get 7 ${where} --color always`, { answer: serve() })
    expect(out).toContain('\t\u001B[33mTESTING\u001B[39m\t')
    for (const numbers of ['7', '7 8']) {
      const screen = await mergeq(`pr get ${numbers} ${where}`, { answer: serve(), ...onTerminal })
      expect(screen.out).toContain('\u001B[33m◐ testing\u001B[39m')
    }
  })
})
