import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/output/redactor.ts'
import { type Answer, mergeq } from '../support/harness.ts'
import { encodingsFound, token } from '../support/tokens.ts'

describe('--verbose', () => {
  const answer = () => ({
    body: '{"state":"RUNNING","enqueuedPullRequests":[]}',
    headers: { 'content-type': 'application/json' },
  })
  const env = { MERGEQ_TOKEN: token }

  test('the request line, the status and the timing are reported', async () => {
    const { code, err } = await mergeq('queue get -R acme/web -b main -v', { env, answer })
    expect(code).toBe(0)
    expect(err).toMatch(/POST http:\/\/127\.0\.0\.1:\d+\/v1\/getQueue/)
    expect(err).toMatch(/200 .*\d+ ms/)
    expect(encodingsFound(err, token)).toEqual([])
  })

  test('the token header is [REDACTED], and the body is shown with secrets masked', async () => {
    const { code, err, requests } = await mergeq(
      `queue update --set note=${token} -R acme/web -b main --verbose`,
      { env, answer },
    )
    expect(code).toBe(0)
    expect(requests.map(({ body }) => JSON.parse(body).note)).toEqual([token])
    expect(err).toMatch(/x-api-token: \[REDACTED\]/i)
    expect(err).toContain('"note":"[REDACTED]"')
    expect(encodingsFound(err, token)).toEqual([])
  })

  test('--dry-run prints the token header as [REDACTED], and masks a token in the body', async () => {
    const { code, out, err, requests } = await mergeq(
      `queue update --set note=${token} -R acme/web -b main --dry-run`,
      { env, answer },
    )
    expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
    expect(JSON.parse(out)).toMatchObject({
      headers: { 'x-api-token': '[REDACTED]' },
      body: { note: '[REDACTED]' },
    })
  })

  test('on a terminal the curl line reads the token from $MERGEQ_TOKEN', async () => {
    const { out } = await mergeq('queue get -R acme/web -b main --dry-run', { env, terminal: true })
    expect(out).toMatch(/^curl .*-H "x-api-token: \$MERGEQ_TOKEN"/m)
    expect(encodingsFound(out, token)).toEqual([])
  })
})

describe('a token is never taken as an argument, and not echoed', () => {
  test.each([`auth login ${token}`, `auth login ${token} --no-verify`])('%s', async line => {
    const { code, out, err, requests } = await mergeq(line, { answer: () => ({}) })
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
    expect(err).toContain('--with-token')
    expect(encodingsFound(err, token)).toEqual([])
  })

  test.each([`auth login --with-token ${token}`, `auth login ${token} ${token}x`, `auth token ${token}`])(
    '%s',
    async line => {
      const { code, err } = await mergeq(line, { env: { HOME: '/nowhere' } })
      expect(code).toBe(2)
      expect(encodingsFound(err, token)).toEqual([])
    },
  )

  test.each([
    `--token=${token} queue get`,
    `auth login --token=${token}`,
    `auth login --with-token=${token}`,
  ])('an option with a token is not echoed with its value: %s', async line => {
    const { code, err } = await mergeq(line)
    expect(code).toBe(2)
    expect(encodingsFound(err, token)).toEqual([])
  })
})

describe('the redactor knows a token raw, percent-encoded and in base64, in the text of the service too', () => {
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(index + 33))
  const quotes = ['"', '\\']
  const tokensOf = (characters: readonly string[]) =>
    fc.string({ unit: fc.constantFrom(...characters), minLength: 12, maxLength: 48 })
  const plain = tokensOf(visible.filter(character => !quotes.includes(character)))
  const quoted = fc
    .tuple(plain, fc.constantFrom(...quotes), plain)
    .map(([head, quote, tail]) => `${head}${quote}${tail}`)
  const around = fc.string({ unit: fc.constantFrom(...'abcXYZ019 .:-/é🙂\u200B\u202E\u001B'), maxLength: 24 })

  type Disguise = (before: string, secret: string, after: string) => string
  const asRaw: Disguise = (before, secret, after) => before + secret + after
  const disguises: readonly Disguise[] = [
    asRaw,
    (before, secret, after) => before + encodeURIComponent(secret) + after,
    (before, secret, after) => Buffer.from(before + secret + after).toString('base64'),
    (before, secret, after) => Buffer.from(before + secret + after).toString('base64url'),
    // Invisible characters are removed for a terminal, which would show the token.
    (before, secret, after) => before + [...secret].join('\u200B') + after,
  ]

  /**
   * A way for a text of the service to come to a stream: a command line, and an answer that holds the text.
   */
  interface Way {
    readonly line: string
    readonly terminal?: boolean
    answer(text: string): Answer
  }
  const where = '-R acme/web -b main'
  const record = (text: string): Answer => ({
    body: JSON.stringify({ state: 'TESTING', prNumber: 7, prTitle: text, extra: { [text]: [text] } }),
  })
  const json: readonly Way[] = [
    { line: `pr get 7 ${where} --json`, answer: record },
    { line: `pr get 7 ${where} --json -v`, terminal: true, answer: record },
    { line: `pr get 7 ${where} -o ndjson`, answer: record },
    {
      line: `pr submit 7 ${where} --json`,
      answer: text => ({ status: 422, body: JSON.stringify({ error: { message: text } }) }),
    },
  ]
  const markdown: Way = { line: `pr get 7 ${where} -o markdown`, answer: record }
  const ways: readonly Way[] = [
    ...json,
    { line: `pr get 7 ${where} -o csv`, answer: record },
    { line: `pr get 7 ${where}`, answer: record },
    { line: `pr get 7 ${where} --color always`, terminal: true, answer: record },
    { line: `api getQueue ${where}`, answer: text => ({ body: `\uFEFF<${text}>` }) },
    { line: 'metrics', answer: text => ({ body: `# HELP ${text}\n` }) },
    { line: 'metrics', terminal: true, answer: text => ({ body: `# HELP ${text}\n` }) },
    { line: `pr submit 7 ${where}`, answer: text => ({ status: 400, body: text }) },
    {
      line: `pr get 7 ${where} -v`,
      answer: text => ({ status: 307, headers: { location: `https://${encodeURIComponent(text)}.test/` } }),
    },
    {
      line: `pr get 7 ${where} --json`,
      answer: text => ({ status: 403, body: text, headers: { 'x-request-id': encodeURIComponent(text) } }),
    },
  ]

  const hides = async (secret: string, text: string, { line, terminal = false, answer }: Way) => {
    const { out, err } = await mergeq(line, {
      env: { MERGEQ_TOKEN: secret },
      terminal,
      columns: 4_000,
      answer: () => answer(text),
    })
    for (const stream of [out, err]) expect(encodingsFound(stream, secret)).toEqual([])
  }
  const holds = (
    secrets: fc.Arbitrary<string>,
    how: readonly Disguise[],
    through: readonly Way[],
    numRuns: number,
  ) =>
    fc.assert(
      fc.asyncProperty(
        secrets,
        around,
        around,
        fc.constantFrom(...how),
        fc.constantFrom(...through),
        (secret, before, after, disguise, way) => hides(secret, disguise(before, secret, after), way),
      ),
      { numRuns },
    )

  test('anywhere in a text, at any offset, it reaches neither stream', () =>
    holds(plain, disguises, ways, 400))

  const spellings: readonly (readonly [string, (secret: string) => string])[] = [
    ['in lower case', secret => encodeURIComponent(secret).replace(/%../g, code => code.toLowerCase())],
    ['as addresses do it, which leave most of it as it is', secret => encodeURI(secret)],
  ]
  test.each(spellings)('percent-encoded %s, it reaches neither stream', (_, spell) =>
    holds(plain, [(before, secret, after) => before + spell(secret) + after], ways, 50),
  )

  test('with a quote or a backslash in it, it does not come back out of JSON', () =>
    holds(quoted, [asRaw], json, 50))

  // `%cb` also reads as an invisible character, and `%5c` as a backslash before the next character.
  test.each([
    '!%cb%!!!!!!!!!!!!',
    '%5c%%%%%%%%%%%%',
    '%%%%%\\\\%%%%%',
    '\\\\!!!!!!!!!!!!',
    'a\\u00ad\\bcdefghi',
  ])('with a part that reads as an escape, it is redacted: %s', secret => {
    const redactor = createRedactor()
    redactor.hide(secret)
    for (const spell of [
      String,
      encodeURI,
      encodeURIComponent,
      (text: string) => encodeURIComponent(text).toLowerCase(),
    ])
      for (const text of [spell(secret), JSON.stringify({ title: spell(secret) })])
        expect(encodingsFound(redactor.redact(text), secret)).toEqual([])
  })

  test('with many escapes in it, it is redacted', () =>
    fc.assert(
      fc.property(
        tokensOf([...'%&cb5!u0"\\']),
        fc.string({ unit: fc.constantFrom(...'ab9 %&"\u200B'), maxLength: 8 }),
        fc.constantFrom(...disguises),
        (secret, around, disguise) => {
          const redactor = createRedactor()
          redactor.hide(secret)
          const text = disguise(around, secret, around)
          for (const shown of [text, JSON.stringify(text)])
            expect(encodingsFound(redactor.redact(shown), secret)).toEqual([])
        },
      ),
      { numRuns: 500 },
    ))

  test('with characters that Markdown escapes, it does not come back out of Markdown', () =>
    hides(token, `see ${token}`, markdown))
})
