import { describe, expect, test } from 'vitest'
import { queueSettings } from '../../src/api/operations/queue-settings.ts'
import { queueSettingsRecord } from '../../src/api/operations/queues.ts'
import { formatFlags } from '../support/commands.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../support/harness.ts'

const where = '-R acme/web -b main'
const org = '-R acme/web --org acme --retries 0'
const onTerminal: Setting = { terminal: true, columns: 200 }

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
  const known = 'Fields: check, result, found, fix'

  test.each([
    ['chekc', "unknown field 'chekc'.\n  Did you mean check?"],
    ['nope,check,fond', "unknown fields 'nope', 'fond'.\n  Did you mean found?"],
  ])('that lists the fields and suggests the nearest: %s', async (names, says) => {
    const outcome = await mergeq(`doctor --fields ${names}`, { answer })
    expect(outcome).toMatchObject({ code: 2, out: '', requests: [] })
    expect(outcome.err).toBe(`mergeq: --fields: ${says}\n  ${known}\n`)
  })

  test.each([
    ['the last part of a name', 'pr get 7', 'hasImpactedTarget', 'readiness.hasImpactedTargets'],
    ['a field for its name with gh', 'pr get 7', 'number', 'prNumber'],
    ['a field of a pull request for its name with gh', 'queue get', 'number', 'prNumber'],
    ['a field in another case', 'pr get 7', 'PrNumber', 'prNumber'],
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
    for (const format of formatFlags)
      for (const setting of format === '' ? [{}, onTerminal] : [{}]) {
        const words = `${line} ${where} --fields ${known},nope ${format}`
        const { code, out, err } = await mergeq(words, { ...setting, answer })
        expect({ format, code, out }).toEqual({ format, code: 2, out: '' })
        expect(err).toContain("--fields: unknown field 'nope'.")
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

  test('names at most 200 fields of a response', async () => {
    const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`new${index}`, index]))
    const { code, err } = await mergeq(`api getQueue ${where} --fields nope`, {
      answer: () => ({ body: JSON.stringify(wide) }),
    })
    expect(code).toBe(2)
    expect(err.match(/\bnew\d+/g)).toHaveLength(200)
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
    for (const format of formatFlags) {
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

describe('the fields of a queue', () => {
  test('no heading of the table is a name', async () => {
    const { code, out, err } = await mergeq(`queue get ${where} --fields POSITION`, { answer })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain("--fields: unknown field 'POSITION'.")
  })

  test('the rows of `queue get` are pull requests if a name belongs only to them', async () => {
    const line = `queue get ${where} --fields`
    const out = async (flags: string) => (await mergeq(`${line} ${flags}`, { answer })).out
    expect(await out('prNumber,state')).toBe('7\tTESTING\n8\tPENDING\n')
    expect(await out('prNumber,state -o ndjson')).toBe(
      '{"prNumber":7,"state":"TESTING"}\n{"prNumber":8,"state":"PENDING"}\n',
    )
    expect(JSON.parse(await out('prNumber,prTitle --json'))).toEqual([
      { prNumber: 7, prTitle: 'Fix cart' },
      { prNumber: 8, prTitle: 'Add search' },
    ])
    expect(await out('state -o ndjson')).toBe('{"state":"RUNNING"}\n')
    expect(await mergeq(`${line} state,prNumber,mode`, { answer })).toMatchObject({
      code: 2,
      requests: [],
      err: expect.stringContaining(
        "'prNumber' is a field of a pull request, and 'mode' is a field of the queue.",
      ),
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
})

test('the service reports every setting of a queue that can be changed', () => {
  const { deleteRequiredStatuses, ...reported } = queueSettings
  expect(Object.keys(queueSettingsRecord.fields)).toEqual(expect.arrayContaining(Object.keys(reported)))
})
