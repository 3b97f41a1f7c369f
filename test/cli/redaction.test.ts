import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/output/redactor.ts'
import { forTerminal, sanitizeLine } from '../../src/output/sanitize.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../support/harness.ts'
import {
  answerOf,
  controlCharacters,
  expectHarmless,
  hostileText,
  operation,
  piecesIn,
  record,
  token,
} from '../support/redaction.ts'

const queue = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }

const setting = (more: Setting = {}): Setting => ({
  ...more,
  env: { ...queue, MERGEQ_TOKEN: token, ...more.env },
})
const json = (document: unknown): Answer => ({ body: JSON.stringify(document) })

/** Runs a command line and looks at both streams. */
async function leaks(line: string, more: Setting): Promise<readonly string[]> {
  const { out, err } = await mergeq(line, setting(more))
  return [...piecesIn(out), ...piecesIn(err)]
}

describe('a token is hidden before anything is cut', () => {
  const offsets = Array.from({ length: 10 }, (_, index) => 2_048 - 3 * index)

  test.each(['', '--json', '-o ndjson'])('in an error body that is cut (%s)', async flags => {
    for (const offset of offsets)
      for (const body of [
        `${'x'.repeat(offset)}${token} ${'y'.repeat(99)}`,
        JSON.stringify({ error: { message: `${'x'.repeat(offset)}${token} ${'y'.repeat(99)}` } }),
      ])
        for (const line of ['pr submit 7', 'pr get 7', 'queue delete --yes'])
          expect(
            await leaks(`${line} --retries 0 ${flags}`, { answer: () => ({ status: 422, body }) }),
          ).toEqual([])
  })

  test('in a table cell that is cut', async () => {
    for (let offset = 0; offset < 60; offset += 3) {
      const prTitle = `${'x'.repeat(offset)}${token} and ${'more '.repeat(20)}`
      const entry = { prNumber: 7, prTitle, state: 'TESTING' }
      const answer = ({ path }: Seen) =>
        json(path.endsWith('getQueue') ? { state: 'RUNNING', enqueuedPullRequests: [entry, entry] } : entry)
      for (const line of ['queue get', 'pr get 7', 'queue watch --once', 'pr explain 7'])
        expect(await leaks(line, { answer, terminal: true, columns: 60 })).toEqual([])
    }
  })

  test('in the states that `pr explain` cuts', async () => {
    for (let offset = 50; offset < 85; offset += 3) {
      const text = `${'x'.repeat(offset)}${token}${'y'.repeat(400)}`
      const answer = ({ path }: Seen) =>
        json(
          path.endsWith('getQueue')
            ? { state: text, enqueuedPullRequests: [{ prNumber: 7, state: text }] }
            : { state: text, stateChangedAt: text, prNumber: 7 },
        )
      for (const flags of ['', '--json'])
        expect(await leaks(`pr explain 7 ${flags}`, { answer, terminal: true, columns: 500 })).toEqual([])
    }
  })

  test('in a report whose names and messages are cut', async () => {
    for (let offset = 150; offset < 200; offset += 5) {
      const name = `${'x'.repeat(offset)}${token}${'y'.repeat(100)}`
      const tests = [
        { id: '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a', name, codeowners: [name], status: { value: 'broken' } },
      ]
      const answer = () => json({ tests, page: { next_page_token: '' } })
      for (const format of ['markdown', 'github', 'json'])
        expect(await leaks(`flaky report --format ${format}`, { answer })).toEqual([])
    }
  })

  test('in the name of a test in a JUnit file', async () => {
    for (let offset = 20; offset < 60; offset += 2) {
      const name = `${'x'.repeat(offset)}${token.replaceAll('&', '&amp;')} and more`
      const junit = `<testsuite name="s"><testcase name="${name}"><failure message="m">f</failure></testcase></testsuite>`
      const answer = () => json({ tests: [], page: { next_page_token: '' } })
      const more = {
        answer,
        terminal: true,
        columns: 60,
        files: { '/repo/junit.xml': junit, 'junit.xml': junit },
      }
      const { out, err } = await mergeq('flaky match junit.xml', setting(more))
      expect(out).toContain('xxxx')
      expect([...piecesIn(out), ...piecesIn(err)]).toEqual([])
    }
  })

  test('in a request body that -v cuts', async () => {
    for (let offset = 1_880; offset < 2_048; offset += 12) {
      const line = ['queue', 'update', '-v', '--set', `note=${'x'.repeat(offset)}${token}`]
      const { err } = await mergeq(line, setting({ answer: () => json({ state: 'RUNNING' }) }))
      expect(piecesIn(err)).toEqual([])
    }
  })
})

describe('a token is hidden however the service escapes it', () => {
  const hex = (character: string) => character.charCodeAt(0).toString(16)
  const spellings: readonly (readonly [string, string])[] = [
    ['with every character as \\u00..', [...token].map(one => `\\u00${hex(one)}`).join('')],
    [
      'with every character as \\u00.. in capitals',
      [...token].map(one => `\\u00${hex(one).toUpperCase()}`).join(''),
    ],
    [
      'as JSON in JSON, with every character as \\u00..',
      [...token].map(one => `\\\\u00${hex(one)}`).join(''),
    ],
    ['with `&` as \\u0026', token.replaceAll('&', '\\u0026')],
    ['with `/` as \\/', token.replaceAll('/', '\\/')],
    ['with `&` and `=` as \\u..', token.replaceAll('&', '\\u0026').replaceAll('=', '\\u003d')],
    ['with `&` and `+` as \\u.. in capitals', token.replaceAll('&', '\\u0026').replaceAll('+', '\\u002B')],
    ['as JSON in JSON', token.replaceAll('&', '\\\\u0026')],
    ['as JSON in JSON, with `/` as \\/', token.replaceAll('/', '\\\\\\/')],
    ['percent-encoded', encodeURIComponent(token)],
    ['in base64', Buffer.from(`ab${token}`).toString('base64')],
    ['in base64 for URLs', Buffer.from(`ab${token}`).toString('base64url')],
  ]
  const lines = [
    'pr get 7 --json',
    'pr get 7 -o ndjson',
    'pr get 7',
    'pr get 7 -o csv',
    'flaky list -q -o ndjson',
    'flaky list -q',
    'api getQueue',
    'api listThings --fields prTitle',
  ]

  test.each(spellings)('%s', async (_, spelled) => {
    const record = `{"state":"TESTING","prNumber":7,"prTitle":"see ${spelled} there","x${spelled}":1}`
    const list = `{"tests":[{"id":"a","name":"see ${spelled} there"}],"page":{"next_page_token":""}}`
    const answer = ({ path }: Seen) => ({ body: path.includes('list-failing') ? list : record })
    for (const line of lines)
      for (const terminal of [false, true]) {
        const { out, err, code } = await mergeq(line, setting({ answer, terminal, columns: 50 }))
        expect({ line, code, pieces: [...piecesIn(out), ...piecesIn(err)] }).toEqual({
          line,
          code: 0,
          pieces: [],
        })
      }
    for (const flags of ['', '--json'])
      expect(
        await leaks(`pr submit 7 ${flags}`, {
          answer: () => ({ status: 400, body: `{"message":"no: ${spelled}"}` }),
        }),
      ).toEqual([])
  })

  test('JSON stays valid, whatever precedes the token', async () => {
    for (const before of ['\\\\', '\\\\\\\\', '\\n', '\\"', '\\\\\\"']) {
      const { out, code } = await mergeq(
        'pr get 7 --json',
        setting({ answer: () => ({ body: `{"state":"TESTING","prTitle":"${before}${token}\\\\"}` }) }),
      )
      expect({ before, code }).toEqual({ before, code: 0 })
      expect(JSON.parse(out).prTitle).toMatch(/\[REDACTED\]\\$/)
    }
  })

  test('in a CI job, where what a runner would act on is parted', async () => {
    const secret = 'tok::error::4f2a##[x]9c1e'
    for (const flags of ['', '--json', '-o csv', '-o markdown'])
      for (const answer of [
        () => json({ state: 'TESTING', prTitle: secret }),
        () => ({ status: 400, body: secret }),
      ]) {
        const { out, err } = await mergeq(`pr get 7 ${flags}`, {
          answer,
          env: { ...queue, MERGEQ_TOKEN: secret, GITHUB_ACTIONS: 'true' },
        })
        expect(`${out}${err}`.replaceAll(/: (?=:)|# (?=#)/g, one => one.charAt(0))).not.toMatch(
          /tok::|4f2a|9c1e/,
        )
      }
  })

  test('in the address that a redirect names', async () => {
    const secret = 'tokW1reSecret42Zx9'
    const answer = () => ({ status: 307, headers: { location: `https://${secret}.example.test/x` } })
    for (const line of ['pr get 7', 'pr submit 7 --json', 'pr get 7 -v']) {
      const { out, err, code } = await mergeq(line, { answer, env: { ...queue, MERGEQ_TOKEN: secret } })
      expect(code).toBe(15)
      expect(piecesIn(`${out}${err}`, secret)).toEqual([])
    }
  })
})

describe('bytes that are passed on in pieces', () => {
  const redactor = createRedactor()
  redactor.hide(token)
  const through = (pieces: readonly string[]): string => {
    const { push, flush } = redactor.createStream()
    return Buffer.concat([...pieces.map(piece => push(Buffer.from(piece, 'latin1'))), flush()]).toString(
      'latin1',
    )
  }

  test('a token across any chunk boundary is redacted, and nothing else changes', () => {
    const text = `a ${token} b\n{"x":"${token}"}\n${Buffer.from(`u:${token}`).toString('base64')} \xFF\x80 end`
    const whole = redactor.redact(text)
    expect(piecesIn(whole)).toEqual([])
    for (let at = 0; at <= text.length; at++) expect(through([text.slice(0, at), text.slice(at)])).toBe(whole)
    expect(through([...text])).toBe(whole)
  })

  test('any text without a token stays unchanged in any number of pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary-ascii', maxLength: 20 })), pieces => {
        expect(through(pieces)).toBe(pieces.join(''))
      }),
    )
  })

  test('a token after more text than the buffer holds is redacted', () => {
    const text = `${'x'.repeat(100_000)}${token}${'y'.repeat(100_000)}`
    for (const at of [100_000, 100_003, 100_010, 100_020, 132_780, 132_790])
      expect(piecesIn(through([text.slice(0, at), text.slice(at)]))).toEqual([])
  })

  test('bytes that are not UTF-8 stay unchanged next to a token', async () => {
    const { out } = await mergeq(
      'api listThings',
      setting({ answer: () => ({ body: `${token} \u00E9 end` }) }),
    )
    expect(out).toBe('[REDACTED] \u00E9 end')
  })
})

describe('the search for tokens and control sequences takes time in proportion to the text', () => {
  const redactor = createRedactor()
  redactor.hide(token)
  const megabyte = (piece: string) => piece.repeat(Math.ceil(1_000_000 / piece.length))
  const heavy = [
    '\\',
    '%25',
    '&amp;',
    '&amp;amp;',
    token.slice(0, -1),
    't',
    `t${'\u200B'.repeat(40)}`,
    't\u001B]',
    't\u009D',
    '\\u200b',
    '[',
  ]

  test.each(heavy)('%j, again and again', piece => {
    const text = megabyte(piece)
    const began = performance.now()
    redactor.redact(text)
    sanitizeLine(text)
    forTerminal(text)
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})

/** A command line for each command that asks the service. */
const lines: Readonly<Record<string, string>> = {
  'pr submit': 'pr submit 7 8 --wait --timeout 2s --interval 1s',
  'pr cancel': 'pr cancel 7 8 --yes',
  'pr restart': 'pr restart 7',
  'pr get': 'pr get 7 8',
  'pr list': 'pr list',
  'pr targets': 'pr targets 7 one two --sha 4f2a9c1e77d0b6aa4f2a9c1e77d0b6aa4f2a9c1e',
  'pr testing': 'pr testing 4f2a9c1e-0000-4000-8000-000000000000',
  'pr wait': 'pr wait 7 8 --timeout 3s --interval 1s',
  'pr explain': 'pr explain 7',
  'queue create': 'queue create',
  'queue get': 'queue get',
  'queue list': 'queue list',
  'queue update': 'queue update --concurrency 2',
  'queue delete': 'queue delete --cancel-all --yes',
  'queue pause': 'queue pause',
  'queue resume': 'queue resume',
  'queue drain': 'queue drain',
  'queue watch': 'queue watch --for 3s --interval 1s',
  'queue export': 'queue export',
  'queue diff': 'queue diff -f queue.yaml',
  'queue apply': 'queue apply -f queue.yaml --yes',
  'queue check': 'queue check --max-depth 3 --stalled 2h',
  metrics: 'metrics',
  'flaky list': 'flaky list',
  'flaky get': 'flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
  'flaky quarantined': 'flaky quarantined',
  'flaky unhealthy': 'flaky unhealthy',
  'flaky link': 'flaky link 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a KAN-123',
  'flaky report': 'flaky report',
  'flaky match': 'flaky match junit.xml',
  'flaky gate': 'flaky gate --max 0',
  guard: 'guard',
  api: 'api getQueue --include',
  'auth login': 'auth login --with-token',
  'auth status': 'auth status',
  doctor: 'doctor',
}
/** They ask the sandbox and no service. */
const elsewhere = /^sandbox /
const asking = allCommands.filter(
  ({ operations, command }) => (operations === 'any' || operations.length > 0) && !elsewhere.test(command),
)

const files = {
  '/repo/queue.yaml': 'repo: acme/web\nbranch: main\nqueue:\n  concurrency: 3\n',
  '/repo/junit.xml': `<testsuite name="s"><testcase name="a" classname="b"><failure message="m">f</failure></testcase></testsuite>`,
}

describe('text of an untrusted service does not act on a terminal', () => {
  test('every command that asks the service is looked at below', () => {
    expect(asking.map(({ command }) => command).filter(command => lines[command] === undefined)).toEqual([])
  })

  const look = async (
    line: string,
    answer: (seen: Seen, index: number) => Answer | Promise<Answer>,
    more: Setting,
  ) => {
    const { out, err } = await mergeq(
      line,
      setting({ answer, files, input: token, inputTerminal: false, ...more }),
    )
    expectHarmless(out, `${line}: standard output`)
    expectHarmless(err, `${line}: standard error`)
    return { out, err }
  }

  test.each(asking.map(({ command }) => command))('`%s`: in every field of every answer', async command => {
    const line = lines[command] ?? command
    for (const text of [hostileText, token, `x ${token}`])
      for (const columns of [50, 200]) await look(line, answerOf(text), { terminal: true, columns })
    // States and numbers as they should be, so that the work goes on.
    const calm = (seen: Seen) => {
      const { body = '', headers = {} } = answerOf(hostileText)(seen)
      if (!body.startsWith('{')) return { body, headers }
      const document = JSON.parse(body)
      const state = operation(seen).endsWith('Queue') ? 'RUNNING' : 'TESTING'
      return {
        body: JSON.stringify({
          ...document,
          ...(document.state && { state, prNumber: 7 }),
          ...(document.status && { status: 'FAILED' }),
        }),
        headers,
      }
    }
    await look(line, calm, { terminal: true, columns: 80 })
    await look(`${line} -v`, calm, { terminal: true, columns: 80 })
  })

  test.each(asking.map(({ command }) => command))('`%s`: in refusals', async command => {
    const line = `${lines[command] ?? command} --retries 0`
    for (const status of [400, 401, 403, 404, 409, 422, 429, 500, 307]) {
      const headers = {
        'x-request-id': token,
        location: `https://${encodeURIComponent(token)}.test/`,
        'retry-after': token,
      }
      await look(line, () => ({ status, headers, body: hostileText }), { terminal: true })
      await look(
        line,
        () => ({ status, headers, body: JSON.stringify({ error: { message: hostileText } }) }),
        {
          terminal: true,
        },
      )
    }
  })

  const slowly = (answer: (seen: Seen) => Answer) => async (seen: Seen, index: number) => {
    if (index > 1) await new Promise(resolve => setTimeout(resolve, 350))
    return answer(seen)
  }
  // A spinner is shown in real time.
  test.concurrent.each([
    'pr wait 7 --timeout 4s --interval 1s',
    'pr wait 7 8 --timeout 3s --interval 1s',
    'pr submit 7 --wait --timeout 3s --interval 1s',
  ])('`%s`: in what its spinner shows', async line => {
    const document = (seen: Seen) =>
      operation(seen) === 'getQueue'
        ? json({
            state: 'RUNNING',
            enqueuedPullRequests: [{ ...record(hostileText), state: 'TESTING', prNumber: hostileText }],
          })
        : answerOf(hostileText)(seen)
    const { err } = await look(line, slowly(document), {
      terminal: true,
      redraws: true,
      env: { TERM: 'xterm', CI: '' },
    })
    expect(err).toMatch(/\u001B\[\?2026h.*[⠀-⣿\-\\|/]/)
  })
})

describe('what was typed or found on this machine', () => {
  const evil = 'a\x1B]0;pwned\x07b\u202Ec\x9Bm'

  test('the curl command of --dry-run contains no control characters, and sends the same request', async () => {
    const { out } = await mergeq(
      [
        'pr',
        'targets',
        '7',
        evil,
        '--sha',
        '4f2a9c1e77d0b6aa4f2a9c1e77d0b6aa4f2a9c1e',
        '--set',
        `note="${'\u202E\u0085\u2066'}"`,
        '--dry-run',
      ],
      setting({ terminal: true }),
    )
    expect(out).not.toMatch(controlCharacters)
    const [, body = ''] = /--data-binary '(.*)'$/m.exec(out) ?? expect.fail(out)
    expect(JSON.parse(body)).toMatchObject({ impactedTargets: [evil], note: '\u202E\u0085\u2066' })
  })

  test('a prompt is plain text', async () => {
    const { err } = await mergeq('queue delete', {
      ...setting({ terminal: true, inputTerminal: true, typed: ['no'], answer: () => json({}) }),
      env: { ...queue, MERGEQ_TOKEN: token, MERGEQ_TARGET_BRANCH: `x${token}` },
    })
    expect(err).toMatch(/delete/i)
    expectHarmless(err, 'the question')
  })
})
