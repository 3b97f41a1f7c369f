import { describe, expect, test } from 'vitest'
import { anyField, queueSettingsRecord } from '../../src/api/operations/fields.ts'
import { fieldsOf } from '../../src/cli/fields.ts'
import { queueSettings } from '../../src/domain/queue-settings.ts'
import { isObject, type Json } from '../../src/json.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, openStory, type Seen, type Setting } from '../support/harness.ts'

const where = '-R acme/web -b main'
const org = '-R acme/web --org acme --retries 0'
const onTerminal: Setting = { terminal: true, columns: 200 }
const formats = ['', '--json', '-o ndjson', '-o csv', '-o markdown', '-o table']

const pullRequest = {
  state: 'testing',
  stateChangedAt: '2026-01-05T11:57:00.000Z',
  prTitle: 'Fix cart',
  newField: { deep: 1 },
}
const queue = {
  state: 'running',
  mode: 'single',
  enqueuedPullRequests: [
    { prNumber: 7, prTitle: 'Fix cart', state: 'testing', stateChangedAt: '2026-01-05T11:57:00.000Z' },
    { prNumber: 8, prTitle: 'Add search', state: 'pending' },
  ],
}

/** A service with a pull request that has a field that mergeq does not know, a queue, and a list of tests. */
const serve =
  (tests: readonly object[] = [{ id: 'a', name: 'login', failure_rate_last_7d: 0.25 }]) =>
  ({ path, body }: Seen): Answer => {
    if (path.endsWith('/getSubmittedPullRequest'))
      return { body: JSON.stringify({ ...pullRequest, prNumber: JSON.parse(body).pr.number }) }
    if (path.endsWith('/getQueue')) return { body: JSON.stringify(queue) }
    if (path.endsWith('/list-failing-tests'))
      return { body: JSON.stringify({ tests, page: { next_page_token: '' } }) }
    return { body: path.endsWith('/getMergeQueueMetrics') ? 'up{repo="acme/web"} 4\n' : 'OK' }
  }
const answer = serve()

describe('a name that no record can have is a usage error', () => {
  const known = `Fields: check, result, found, fix
  Columns: CHECK, RESULT, FOUND, FIX`

  test('that lists the fields and the columns, and suggests a name', async () => {
    const outcome = await mergeq('doctor --fields chekc', { answer })
    expect(outcome).toMatchObject({ code: 2, out: '', requests: [] })
    expect(outcome.err).toBe(`mergeq: --fields: unknown field 'chekc'.\n  Did you mean check?\n  ${known}\n`)
  })

  test('that names every unknown name', async () => {
    const { code, err } = await mergeq('doctor --fields nope,check,fond', { answer })
    expect(code).toBe(2)
    expect(err).toBe(`mergeq: --fields: unknown fields 'nope', 'fond'.\n  Did you mean found?\n  ${known}\n`)
  })

  test.each([
    ['the last part of a name', 'pr get 7', 'hasImpactedTarget', 'readiness.hasImpactedTargets'],
    ['a heading', 'pr get 7', 'titel', 'TITLE'],
    ['a field for its name with gh', 'pr get 7', 'number', 'prNumber'],
    ['a field of a pull request for its name with gh', 'queue get', 'number', 'prNumber'],
    ['the field of each name', 'pr get 7', 'headRefOid,mergedAt,updatedAt', 'prSha, stateChangedAt'],
    ['a field that only the response has', 'pr get 7', 'newFeild', 'newField'],
  ])('that suggests %s', async (_, line, name, suggestion) => {
    const { code, err } = await mergeq(`${line} ${where} --fields ${name}`, { answer })
    expect(code).toBe(2)
    expect(err).toContain(`  Did you mean ${suggestion}?\n`)
  })

  test.each([
    `pr submit 7 ${where}`,
    `queue update --concurrency 2 ${where}`,
    `pr wait 7 ${where}`,
    `queue watch ${where}`,
    'metrics',
    'config list',
  ])('before anything is sent, where all fields are known: %s', async line => {
    const { code, out, requests } = await mergeq(`${line} --fields nope`, { answer })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
  })

  test.each(['pr get 7 8', `flaky list ${org}`, 'api getQueue'])('and nothing is printed: %s', async line => {
    const known = line.startsWith('flaky') ? 'name' : 'state'
    for (const format of formats)
      for (const setting of format === '' ? [{}, onTerminal] : [{}]) {
        const words = `${line} ${where} --fields ${known},nope ${format}`
        const { code, out, err } = await mergeq(words, { ...setting, answer })
        expect({ format, code, out }).toEqual({ format, code: 2, out: '' })
        expect(err).toContain("--fields: unknown field 'nope'.")
        expect(err.includes('Columns: ')).toBe(!line.startsWith('api'))
      }
  })

  test('an error of the service comes before it', async () => {
    const { code, err } = await mergeq(`pr get 7 ${where} --fields nope`, {
      answer: () => ({ status: 404, body: 'not found' }),
    })
    expect(code).toBe(5)
    expect(err).not.toContain('--fields')
  })

  test('but not after a change through api, which was sent', async () => {
    const { code, out } = await mergeq('api newOperation -F name=value --fields nope', {
      answer: () => ({ body: '{"ok":true}' }),
    })
    expect({ code, out }).toEqual({ code: 0, out: '\n' })
  })

  test.each(["''", ',', 'state,', 'state,,mode'])('an empty name: %s', async names => {
    const { code, out, err } = await mergeq(`queue get ${where} --fields ${names}`, { answer })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe('mergeq: --fields contains an empty name.\n  Separate the names by single commas.\n')
  })
})

describe('a list whose records are not known before they come', () => {
  const many = (length: number, more: (index: number) => object = () => ({})) =>
    Array.from({ length }, (_, index) => ({ id: `t${index}`, ...more(index) }))

  test('prints a field that a later record has', async () => {
    const tests = many(3, index => (index === 2 ? { news: 'x' } : {}))
    for (const format of formats) {
      const line = `flaky list ${org} --fields id,news ${format}`
      const { code, out } = await mergeq(line, { answer: serve(tests) })
      expect({ format, code }).toEqual({ format, code: 0 })
      expect(out).toMatch(/t0.*t1.*t2.*x/s)
    }
  })

  test('that is long is an error after its first records', async () => {
    const { code, out, err } = await mergeq(`flaky list ${org} --fields id,nope`, {
      answer: serve(many(1_500)),
    })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain("--fields: unknown field 'nope'.")
  })
})

test('a name of an object and of a column is the column in a table, the object in JSON', async () => {
  const status = { value: 'broken', reason: 'Fails on main' }
  const print = async (flags: string) =>
    (await mergeq(`flaky list ${org} --fields status ${flags}`, { answer: serve([{ id: 'a', status }]) })).out
  expect(await print('-o csv')).toBe('status\r\nbroken\r\n')
  expect(await print('-o ndjson')).toBe(`${JSON.stringify({ status })}\n`)
})

describe('a field that a record lacks', () => {
  test.each([
    ['is empty on a pipe', '', {}, 'TESTING\t\t\n'],
    [
      'is a dash on a terminal',
      '--color never',
      onTerminal,
      'state      prAuthor  timeline.reason\n◐ testing  -         -\n',
    ],
    ['is left out of JSON', '--json', {}, '{"state":"TESTING"}\n'],
    ['is empty in CSV', '-o csv', {}, 'state,prAuthor,timeline.reason\r\nTESTING,,\r\n'],
  ])('%s', async (_, flags, setting, expected) => {
    const { code, out } = await mergeq(`pr get 7 ${where} --fields state,prAuthor,timeline.reason ${flags}`, {
      ...setting,
      env: { LANG: 'C.UTF-8' },
      answer,
    })
    expect({ code, out }).toEqual({ code: 0, out: expected })
  })

  test('may be one that only the response has', async () => {
    const { code, out } = await mergeq(`pr get 7 ${where} --fields newField.deep,newField`, { answer })
    expect({ code, out }).toEqual({ code: 0, out: '1\t{"deep":1}\n' })
  })
})

test('a list is whole where a field of its items is selected too', async () => {
  const { out } = await mergeq(
    'pr get 7 -R acme/web -b main --json --fields timeline,timeline.reason,readiness.a,readiness',
    {
      answer: () => ({
        body: '{"state":"merged","timeline":[{"reason":"x","at":1}],"readiness":{"a":1,"b":2}}',
      }),
    },
  )
  expect(JSON.parse(out)).toEqual({
    timeline: [{ reason: 'x', at: 1 }],
    readiness: { a: 1, b: 2 },
  })
})

describe('the headings of the table are names', () => {
  const list = (flags: string, setting: Setting = {}) =>
    mergeq(['flaky', 'list', ...org.split(' '), '--color', 'never', '--fields', ...flags.split('|')], {
      ...setting,
      answer,
    })

  test.each(['RATE 7D', 'rate_7d', 'Failure_Rate_Last_7D'])('%s', async name => {
    expect(await list(name)).toMatchObject({ code: 0, out: '0.25\n' })
    expect((await list(`${name}|-o|csv`)).out).toBe(`${name}\r\n0.25\r\n`)
    expect((await list(`${name}|-o|ndjson`)).out).toBe('{"failure_rate_last_7d":0.25}\n')
    expect(JSON.parse((await list(`${name}|--json`)).out).tests).toEqual([{ failure_rate_last_7d: 0.25 }])
  })

  test('a field comes before a heading of the same name', async () => {
    expect((await mergeq(`queue get ${where} --fields state`, { answer })).out).toBe('RUNNING\n')
    expect((await mergeq(`queue get ${where} --fields STATE`, { answer })).out).toBe('TESTING\nPENDING\n')
  })

  test('the rows of `queue get` are pull requests if a name belongs only to them', async () => {
    const line = `queue get ${where} --fields`
    const out = async (flags: string) => (await mergeq(`${line} ${flags}`, { answer })).out
    expect(await out('position,pr,title')).toBe('1\t7\tFix cart\n2\t8\tAdd search\n')
    expect(await out('prNumber,state')).toBe('7\tTESTING\n8\tPENDING\n')
    expect(await out('prNumber,state -o ndjson')).toBe(
      '{"prNumber":7,"state":"TESTING"}\n{"prNumber":8,"state":"PENDING"}\n',
    )
    expect(JSON.parse(await out('pr,title --json'))).toEqual([
      { prNumber: 7, prTitle: 'Fix cart' },
      { prNumber: 8, prTitle: 'Add search' },
    ])
    expect(await out('state -o ndjson')).toBe('{"state":"RUNNING"}\n')
    expect(await mergeq(`${line} state,pr,mode`, { answer })).toMatchObject({
      code: 2,
      requests: [],
      err: expect.stringContaining("'pr' is a field of a pull request, and 'mode' is a field of the queue."),
    })
  })

  test('without names, NDJSON has a pull request on each line, as it came', async () => {
    const entry = '{"prNumber":7,"id":12345678901234567890}'
    const body = `{"state":"running","enqueuedPullRequests":[${entry}]}`
    const { out } = await mergeq(`queue get ${where} -o ndjson`, { answer: () => ({ body }) })
    expect(out).toBe(`${entry}\n`)
    const empty = { answer: () => ({ body: '{"state":"running","enqueuedPullRequests":[]}' }) }
    expect(await mergeq(`queue get ${where} -o ndjson`, empty)).toMatchObject({ code: 0, out: '' })
  })

  test('a heading without a field is not a name in JSON', async () => {
    const { code, out, err } = await mergeq(`queue get ${where} --fields position --json`, { answer })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(JSON.parse(err).error.hint).toMatch(
      /^Fields: .*\nColumns: PR, STATE, PRIORITY, SINCE, AUTHOR, TITLE, FOR$/,
    )
  })

  test('a cell that is made for the table is what the table shows', async () => {
    expect((await mergeq('metrics --fields labels,LABELS,value', { answer })).out).toBe(
      '{"repo":"acme/web"}\trepo=acme/web\t4\n',
    )
  })

  test('a row of a table of names and values is a name', async () => {
    const details = () => ({ body: '{"test":{"id":"a","codeowners":["@acme/web"],"status":{"reason":"r"}}}' })
    const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
    const { code, out } = await mergeq(`flaky get ${id} ${org} --fields owners,reason`, { answer: details })
    expect({ code, out }).toEqual({ code: 0, out: '@acme/web\tr\n' })
  })
})

describe('on a terminal a field has the format of its column', () => {
  test.each([
    [
      'by its name',
      'prNumber,state,stateChangedAt',
      'prNumber  state      stateChangedAt\n#7        ◐ testing  3m ago\n',
    ],
    ['by its heading', 'PR,STATE,SINCE', 'PR  STATE      SINCE\n#7  ◐ testing  3m ago\n'],
  ])('%s', async (_, names, expected) => {
    const { code, out } = await mergeq(`pr get 7 ${where} --color never --fields ${names}`, {
      ...onTerminal,
      env: { LANG: 'C.UTF-8' },
      answer,
    })
    expect({ code, out }).toEqual({ code: 0, out: expected })
  })

  test('but not on a pipe', async () => {
    const { out } = await mergeq(`pr get 7 ${where} --fields PR,STATE,SINCE`, { answer })
    expect(out).toBe('7\tTESTING\t2026-01-05T11:57:00.000Z\n')
  })
})

/** The dotted names of all fields in a value. */
const namesIn = (value: Json | undefined, prefix = ''): readonly string[] =>
  Array.isArray(value)
    ? value.flatMap(item => namesIn(item, prefix))
    : isObject(value)
      ? Object.entries(value).flatMap(([key, child]) => [
          `${prefix}${key}`,
          ...namesIn(child, `${prefix}${key}.`),
        ])
      : []

/** Every command that prints records, in an order in which it has something to show. */
const lines: readonly string[] = [
  'queue create -b release --mode single --concurrency 2',
  'pr targets 7 //cart:lib //web:app --sha 4f2a9c1',
  'pr submit 7 8 --priority high',
  'pr get 7 8',
  'queue update --concurrency 2 --pending-failure-depth 1',
  'queue get',
  'pr explain 8',
  'pr testing --pr 7',
  'queue check --not-paused --max-depth 3 --stalled 2h',
  'queue diff -f q.yaml',
  'queue apply -f q.yaml --dry-run',
  'queue apply -f q.yaml --yes',
  'queue watch --for 30s --interval 5s',
  'pr restart 7',
  'pr cancel 8',
  'pr wait 7 --interval 1s',
  'pr list',
  'queue list',
  'flaky quarantined',
  'flaky unhealthy',
  'pr get 7',
  'pr explain 7',
  'queue pause',
  'metrics',
  'pr submit 11',
  'flaky list --since 7d --limit 20',
  'flaky get',
  'flaky gate --max 1000000',
  'flaky match junit.xml',
  'api getQueue',
  'config list --show-origin',
  'config get repo',
  'auth status',
  'doctor',
  'doctor --dry-run',
  'queue delete -b release --yes',
]

/** Columns on a terminal that are no values. */
const pictures = ['PICTURE']

/** The headings of the table on a screen. */
const titlesOn = (screen: string): readonly string[] =>
  (screen.split('\n').find(line => /^ *[A-Z][A-Z0-9/ ]* {2,}[A-Z]/.test(line)) ?? '')
    .split(/ {2,}/)
    .filter(title => title !== '' && !pictures.includes(title))

// The hosted service has every field of the other dialect.
test('every field of a record is a name, and every heading a column', { timeout: 120_000 }, async () => {
  const stories = await Promise.all([0, 1, 2].map(() => openStory({ dialect: 'hosted' })))
  const unnamed: Record<string, readonly string[]> = {}
  try {
    for (const line of lines) {
      const [json = '', csv = '', screen = ''] = await Promise.all(
        stories.map(async (story, index) => {
          story.clock.now += 300
          const id =
            line === 'flaky get' ? (await story.mergeq('flaky list --fields id --limit 1')).out.trim() : ''
          const format = ['-o ndjson', '-o csv', '-o table --color never'][index]
          const raw = line.startsWith('api') ? '' : format
          const { out } = await story.mergeq(`${line} ${id} ${raw}`, {
            ...onTerminal,
            terminal: false,
            files: {
              'q.yaml': 'settings: {concurrency: 3}',
              'junit.xml': '<testsuite><testcase name="a"><failure/></testcase></testsuite>',
            },
          })
          return out
        }),
      )
      const command = line.split(' -')[0]?.replace(/ (\d.*|junit.xml|getQueue|repo|'.*)$/, '')
      const name = line.startsWith('api') ? 'api' : command
      const known = allCommands.find(({ command }) => command === name)
      const record = fieldsOf(known?.definition ?? {}, new Map([['operation', ['getQueue']]]))
      const fields = record?.names ?? []
      const columns = (record?.columns ?? []).map(([title]) => title.toLowerCase())
      const isKnown = (name: string) =>
        fields.some(field =>
          field.endsWith(anyField) ? name.startsWith(field.replace(anyField, '.')) : field === name,
        )
      const names = new Set(json.split('\n').flatMap(text => (text === '' ? [] : namesIn(JSON.parse(text)))))
      const headings = (csv.split('\r\n')[0] ?? '').replaceAll('_', ' ').split(',')
      const hasColumns = csv !== '' && !line.startsWith('api') && headings.join() !== 'field,value'
      const missing = [
        ...(names.size === 0 ? ['no record'] : []),
        ...[...names].filter(name => !isKnown(name)),
        ...(hasColumns ? headings.filter(heading => !columns.includes(heading)) : []),
        ...(hasColumns ? titlesOn(screen).filter(title => !columns.includes(title.toLowerCase())) : []),
      ]
      if (missing.length > 0) unnamed[line] = missing
    }
  } finally {
    await Promise.all(stories.map(story => story.close()))
  }
  expect(unnamed).toEqual({})
})
test('the service reports every setting of a queue that can be changed', () => {
  const { deleteRequiredStatuses, ...reported } = queueSettings
  expect(Object.keys(queueSettingsRecord.fields)).toEqual(expect.arrayContaining(Object.keys(reported)))
})
