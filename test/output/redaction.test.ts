import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/output/redactor.ts'
import { forTerminal, sanitizeLine } from '../../src/output/sanitize.ts'
import { formatFlags } from '../support/commands.ts'
import { type Answer, mergeq, queueEnv, type Seen, type Setting } from '../support/harness.ts'
import { controlCharacters, expectHarmless, piecesIn, testId, token } from '../support/hostile-texts.ts'

const setting = (more: Setting = {}): Setting => ({
  ...more,
  env: { ...queueEnv, MERGEQ_TOKEN: token, ...more.env },
})
const json = (document: unknown): Answer => ({ body: JSON.stringify(document) })

/** The pieces of the token on both streams of a command line. */
async function leaks(
  line: string | readonly string[],
  more: Setting,
  secret = token,
): Promise<readonly string[]> {
  const { out, err } = await mergeq(line, setting(more))
  return [...piecesIn(out, secret), ...piecesIn(err, secret)]
}

describe('a token is hidden before anything is cut', () => {
  /** Texts in which the token stands at each of these places: every seventh shows enough of it where it is cut. */
  const around = (from: number, to: number, after: string) => {
    const texts = []
    for (let offset = from; offset < to; offset += 7) texts.push(`${'x'.repeat(offset)}${token}${after}`)
    return texts
  }

  test.each(['', '--json'])('in an error body (%s)', async flags => {
    for (const text of [...around(470, 505, ' yyy'), ...around(2_018, 2_050, ' yyy')])
      for (const body of [text, JSON.stringify({ error: { message: text } })]) {
        const answer = () => ({ status: 422, body })
        expect(await leaks(`pr submit 7 --retries 0 ${flags}`, { answer })).toEqual([])
      }
  })

  test('in a table cell', async () => {
    for (const prTitle of around(0, 60, ` and ${'more '.repeat(20)}`)) {
      const entry = { prNumber: 7, prTitle, state: 'TESTING' }
      const answer = ({ path }: Seen) =>
        json(path.endsWith('getQueue') ? { state: 'RUNNING', enqueuedPullRequests: [entry, entry] } : entry)
      for (const line of ['queue get', 'queue watch --once', 'pr get 7'])
        expect(await leaks(line, { answer, terminal: true, columns: 60 })).toEqual([])
    }
  })

  test('in the states of `pr explain`', async () => {
    for (const state of around(50, 85, 'y'.repeat(400))) {
      const answer = ({ path }: Seen) =>
        json(
          path.endsWith('getQueue')
            ? { state, enqueuedPullRequests: [{ prNumber: 7, state }] }
            : { state, stateChangedAt: state, prNumber: 7 },
        )
      for (const flags of ['', '--json'])
        expect(await leaks(`pr explain 7 ${flags}`, { answer, terminal: true, columns: 500 })).toEqual([])
    }
  })

  test('in the names of a report', async () => {
    for (const name of around(150, 200, 'y'.repeat(100))) {
      const tests = [{ id: testId, name, codeowners: [name], status: { value: 'broken' } }]
      const answer = () => json({ tests, page: { next_page_token: '' } })
      for (const format of ['markdown', 'json'])
        expect(await leaks(`flaky report --format ${format}`, { answer })).toEqual([])
    }
  })

  test('in the name of a test in a JUnit file', async () => {
    const answer = () => json({ tests: [], page: { next_page_token: '' } })
    for (const name of around(20, 60, ' and more')) {
      const testcase = `<testcase name="${name.replaceAll('&', '&amp;')}"><failure message="m">f</failure></testcase>`
      const files = { 'junit.xml': `<testsuite name="s">${testcase}</testsuite>` }
      expect(await leaks('flaky match junit.xml', { answer, terminal: true, columns: 60, files })).toEqual([])
    }
  })

  test('in a request body that -v shows', async () => {
    const answer = () => json({ state: 'RUNNING' })
    for (const text of around(1_880, 1_980, ''))
      expect(await leaks(['queue', 'update', '-v', '--set', `note=${text}`], { answer })).toEqual([])
  })
})

test('a token is hidden in every format, as the service spells it, in names and in values', async () => {
  const spelled = [token, encodeURIComponent(token), token.replaceAll('&', '\\u0026')].join(' ')
  const one = `{"state":"TESTING","prNumber":7,"prTitle":"see ${spelled} there","x${spelled}":1}`
  const list = `{"tests":[{"id":"a","name":"see ${spelled} there"}],"page":{"next_page_token":""}}`
  const answer = ({ path }: Seen) => ({ body: path.includes('list-failing') ? list : one })
  for (const line of ['pr get 7', 'flaky list -q', 'api getQueue'])
    for (const flags of formatFlags)
      for (const terminal of [false, true]) {
        const { out, err, code } = await mergeq(
          `${line} ${flags}`,
          setting({ answer, terminal, columns: 50 }),
        )
        expect({ line, code, pieces: [...piecesIn(out), ...piecesIn(err)] }).toEqual({
          line,
          code: 0,
          pieces: [],
        })
      }
  const refusing = () => ({ status: 400, body: `{"message":"no: ${spelled}"}` })
  for (const flags of ['', '--json', '-v'])
    expect(await leaks(`pr submit 7 ${flags}`, { answer: refusing })).toEqual([])
})

test('a token is hidden in a CI job, where what a runner would act on is parted', async () => {
  const secret = 'tok::error::4f2a##[x]9c1e'
  for (const flags of formatFlags)
    for (const answer of [
      () => json({ state: 'TESTING', prTitle: secret }),
      () => ({ status: 400, body: secret }),
    ]) {
      const { out, err } = await mergeq(`pr get 7 ${flags}`, {
        answer,
        env: { ...queueEnv, MERGEQ_TOKEN: secret, GITHUB_ACTIONS: 'true' },
      })
      expect(`${out}${err}`.replaceAll(/: (?=:)|# (?=#)/g, one => one.charAt(0))).not.toMatch(
        /tok::|4f2a|9c1e/,
      )
    }
})

test('a token is hidden in the address that a redirect names', async () => {
  const secret = 'tokW1reSecret42Zx9'
  const answer = () => ({ status: 307, headers: { location: `https://${secret}.example.test/x` } })
  for (const line of ['pr get 7', 'pr submit 7 --json', 'pr get 7 -v'])
    expect(await leaks(line, { answer, env: { MERGEQ_TOKEN: secret } }, secret)).toEqual([])
})

describe('what was typed or found on this machine', () => {
  test('is plain text in the curl command of --dry-run, which sends the same request', async () => {
    const target = 'a\u202Ec'
    const note = '\u202E\u0085\u2066\u009B'
    const sha = '4f2a9c1e77d0b6aa4f2a9c1e77d0b6aa4f2a9c1e'
    const line = ['pr', 'targets', '7', target, '--sha', sha, '--set', `note="${note}"`, '--dry-run', '-v']
    const { out } = await mergeq(line, setting({ terminal: true }))
    expect(out).not.toMatch(controlCharacters)
    const [, body = ''] = /--data-binary '(.*)'$/m.exec(out) ?? expect.fail(out)
    expect(JSON.parse(body)).toMatchObject({ impactedTargets: [target], note })
  })

  test('is plain text without the token in a prompt', async () => {
    const answer = () => json({ enqueuedPullRequests: [] })
    const typing = { terminal: true, inputTerminal: true, typed: ['no'] }
    const env = { MERGEQ_TARGET_BRANCH: `x${token}` }
    const { err } = await mergeq('queue delete', setting({ ...typing, answer, env }))
    expect(err).toMatch(/delete/i)
    expectHarmless(err, 'the question')
  })
})

const redactor = createRedactor()
redactor.hide(token)

const hex = (character: string) => character.charCodeAt(0).toString(16)
test.each([
  ['with every character as \\u00..', [...token].map(one => `\\u00${hex(one)}`).join('')],
  ['the same in capitals', [...token].map(one => `\\u00${hex(one).toUpperCase()}`).join('')],
  ['with `&` and `=` as \\u..', token.replaceAll('&', '\\u0026').replaceAll('=', '\\u003d')],
  ['with `&` and `+` as \\u.. in capitals', token.replaceAll('&', '\\u0026').replaceAll('+', '\\u002B')],
  ['percent-encoded with every character', [...token].map(one => `%${hex(one).toUpperCase()}`).join('')],
])('a token is redacted that is written %s', (_, spelled) => {
  const text = redactor.redact(`{"see ${spelled} there":1}`)
  expect(piecesIn(text)).toEqual([])
  expect(text).toMatch(/^\{"see .*\[REDACTED\].* there":1\}$/)
})

test('bytes beside a token stay as they were, also if they are no UTF-8', () => {
  const around = (secret: string) => Buffer.concat([Buffer.from(`é ${secret} `), Buffer.of(0xff)])
  expect(redactor.redactBytes(around(token))).toEqual(around('[REDACTED]'))
})

test('a text that is too long for a token is not searched for, and every token is', () => {
  const many = createRedactor()
  const tokens = ['x', '/', '\u20AC', '\u201C'].map(character => character.repeat(4_096))
  for (const secret of [...tokens, 'y'.repeat(4_097)]) many.hide(secret)
  expect(many.redact(`${tokens.join(' ')} ${'y'.repeat(4_097)}`)).toBe(
    `${tokens.map(() => '[REDACTED]').join(' ')} ${'y'.repeat(4_097)}`,
  )
})

test.each(['\\\\', '\\\\\\\\', '\\n', '\\"', '\\\\\\"'])('JSON stays valid after %s', before => {
  const { title } = JSON.parse(redactor.redact(`{"title":"${before}${token}\\\\"}`))
  expect(title).toMatch(/\[REDACTED\]\\$/)
})

test.each([
  '\\',
  '%25',
  '&amp;',
  token.slice(0, -1),
  `t${'\u200B'.repeat(40)}`,
  't\u001B]',
  't\u009D',
  '\\u200b',
  // Control strings and sequences that do not end, or almost.
  '\u0090',
  `${'\u0090'.repeat(1_000)}\u001Bx`,
  '\u009B0',
])('a megabyte of %j is searched in time that is proportional to it', piece => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
  const began = performance.now()
  redactor.redact(text)
  sanitizeLine(text)
  forTerminal(text)
  expect(performance.now() - began).toBeLessThan(10_000)
})
