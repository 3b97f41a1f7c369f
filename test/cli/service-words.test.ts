import { describe, expect, test } from 'vitest'
import { serviceMessageOf } from '../../src/api/error-response.ts'
import { wrapLines } from '../../src/output/text-width.ts'
import { type Answer, mergeq, type Setting } from '../support/harness.ts'

const where = '-R acme/web -b main --retries 0'
const words = 'Impacted targets are disabled for this repository.'

/** Runs a command line against a service that gives this response to every request. */
const run = (line: string, answer: Answer, setting: Setting = {}) =>
  mergeq(line, { ...setting, answer: () => answer })

describe('the words of the service', () => {
  const lines = [
    `pr get 7 ${where}`,
    `pr submit 7 ${where}`,
    `pr targets 7 a --sha 4f2a ${where}`,
    `pr testing x ${where}`,
    `queue get ${where}`,
    `queue create ${where}`,
    `api getQueue ${where}`,
  ]

  test.each([400, 401, 403, 404, 409, 422, 429, 503])('are part of the error of a %i', async status => {
    for (const line of lines) {
      const body = JSON.stringify({ message: words })
      const person = await run(line, { status, body })
      expect(person.err.split(words)).toHaveLength(2)
      expect(person.err.split('\n')[0]).toContain(`(${status === 404 ? 'not found' : status})`)
      const script = await run(`${line} -o ndjson`, { status, body })
      const { error } = JSON.parse(script.err)
      expect(error).toMatchObject({ status, details: words, message: expect.stringContaining(words) })
      const verbose = await run(`${line} -v`, { status, body })
      expect(verbose.err).toContain(`< ${body}\n`)
    }
  })

  test('are the message of the receipt', async () => {
    const { out } = await run(`pr submit 7 ${where} --json`, { status: 400, body: words })
    expect(JSON.parse(out).message).toMatch(/\(400\): Impacted targets are disabled for this repository\.$/)
  })

  test.each([
    ['{"message":"no"}', 'no'],
    ['{"error":"Not Found","message":"no run 7"}', 'no run 7'],
    ['{"error":{"code":7,"message":"no"}}', 'no'],
    ['{"title":"Conflict","detail":"no"}', 'no'],
    ['{"errors":[{"message":"one"},"two"]}', 'one\ntwo'],
    ['{\n  "code": 7,\n  "at": [1]\n}', '{"code":7,"at":[1]}'],
    ['"no"', 'no'],
    ['  no\r\n\r\nat all ', 'no\nat all'],
    ['1\n2\n3\n4\n5\n6', '1\n2\n3\n4\n5…'],
    ['{}', undefined],
    ['[]', undefined],
    ['null', undefined],
    [' ', undefined],
    ['<!doctype html><p>no', undefined],
  ])('of %j are %j', (text, expected) => {
    let document: unknown
    try {
      document = JSON.parse(text)
    } catch {
      document = undefined
    }
    expect(serviceMessageOf({ text, document: document as never })).toBe(expected)
  })

  test('are cut to 500 characters', () => {
    expect(serviceMessageOf({ text: '🦀'.repeat(501), document: undefined })).toBe(`${'🦀'.repeat(500)}…`)
  })

  test('that repeat the sentence are not shown twice', async () => {
    const { err } = await run(`queue get ${where}`, { status: 404, body: 'Not Found' })
    expect(err.match(/not found/gi)).toHaveLength(1)
  })

  test('are without control characters, and a web page is not shown', async () => {
    const { err } = await run(`queue get ${where} --json`, {
      status: 400,
      body: '\u001B[31mno\u202E\u001B[0m',
    })
    expect(JSON.parse(err).error.details).toBe('no')
    const page = await run(`queue get ${where} -v`, { status: 403, body: '<html><b>Sign in</b>' })
    expect(page.err).toContain('< (web page, 20 bytes)\n')
    expect(page.err).not.toContain('Sign in')
  })
})

describe('the name of the operation', () => {
  test('is shown with -v only; the JSON error has it in `operation`', async () => {
    const answer = { status: 400, body: 'no' }
    expect((await run(`queue get ${where}`, answer)).err).not.toContain('getQueue')
    expect((await run(`queue get ${where} -v`, answer)).err).toMatch(/^mergeq: getQueue: 127/m)
    const { error } = JSON.parse((await run(`queue get ${where} --json`, answer)).err)
    expect(error).toMatchObject({ operation: 'getQueue', message: expect.stringMatching(/^127/) })
  })
})

describe('the hint fits the command and the response', () => {
  const place = '--repo acme/web --target-branch main'
  test.each([
    [`pr get 7 ${where}`, 404, `run: mergeq pr submit 7 ${place}`],
    [`pr submit 7 ${where}`, 404, 'Check the pull request number, --repo and --target-branch.'],
    [`pr submit 7 ${where}`, 409, `run: mergeq pr get 7 ${place}`],
    [`pr cancel 7 --yes ${where}`, 404, `run: mergeq pr get 7 ${place}`],
    [`pr restart 7 ${where}`, 404, `run: mergeq pr get 7 ${place}`],
    [`pr targets 7 a --sha 4f2a ${where}`, 404, `run: mergeq pr get 7 ${place}`],
    [`pr testing x ${where}`, 404, 'Check the test run ID, --repo and --target-branch.'],
    [`queue get ${where}`, 404, `run: mergeq queue create ${place}`],
    [`queue create ${where}`, 404, 'Check --repo and the permissions of the token.'],
    [`queue create ${where}`, 409, `run: mergeq queue update ${place}`],
    [`queue delete --yes ${where}`, 404, 'Check --repo and --target-branch.'],
    [`api getQueue ${where}`, 404, 'Check --repo and --target-branch.'],
  ])('%s, %i', async (line, status, hint) => {
    const { err } = await run(line, { status, body: 'no' })
    expect(err.split('\n')[1]).toMatch(/^ {2}\S/)
    expect(err).toContain(`${hint}\n`)
    if (!line.startsWith('pr get')) expect(err).not.toContain('mergeq pr submit')
    if (!line.startsWith('queue get')) expect(err).not.toContain('mergeq queue create')
  })

  test('`pr testing` speaks of the test run', async () => {
    const { err } = await run(`pr testing x ${where}`, { status: 404, body: 'no' })
    expect(err).toMatch(
      /404 \(not found\) for the test run in the queue for main in github\.com\/acme\/web: no\.\n/,
    )
  })
})

describe('api --include', () => {
  const headers = { 'x-request-id': 'r-1' }
  test.each(['', '--json', '-o ndjson'])('prints an error response on standard output: %s', async format => {
    for (const line of ['getQueue', 'submitPullRequest -F pr.number=7']) {
      const { code, out, err } = await run(`api ${line} --include ${where} ${format}`, {
        status: 400,
        body: '{"message":"no"}',
        headers,
      })
      expect(code).toBe(6)
      expect(out).toMatch(
        /^HTTP 400\r\n(?:[^\r\n]+\r\n)*x-request-id: r-1\r\n(?:[^\r\n]+\r\n)*\r\n\{"message":"no"\}$/,
      )
      expect(err).toMatch(
        format === '' ? /^mergeq: .*\(400\): no\.\n {2}/ : /^\{"error":\{.*"details":"no"\}\}\n$/,
      )
    }
  })

  test('prints no headers without --include, or with --fields', async () => {
    for (const option of ['', '--include --fields state'])
      expect((await run(`api getQueue ${where} ${option}`, { status: 404, body: 'no' })).out).toBe('')
  })
})

describe('the width of standard error', () => {
  const answer = { status: 403, body: 'word '.repeat(60) }

  test.each([40, 60, 80])('is that of the terminal: %i columns', async columns => {
    const { err } = await run(`queue get ${where}`, answer, {
      terminal: true,
      columns,
      env: { NO_COLOR: '1' },
    })
    const lines = err.split('\n')
    expect(lines.every(line => line.length <= columns || !line.trim().includes(' '))).toBe(true)
    expect(err.replace(/\s+/g, ' ')).toBe(
      (await run(`queue get ${where}`, answer)).err
        .replace(/127\S+/, err.match(/127\S+/)?.[0] ?? '')
        .replace(/\s+/g, ' '),
    )
  })

  test.each([
    [404, '{"error":{"message":"There is no such queue."}}', 'There is no such queue.', true],
    [400, 'the branch is\nunknown', 'the branch is unknown.', true],
    // Fewer words say too little on their own, and a proxy also writes the words of a 503.
    [400, 'bad request', 'bad request.', false],
    [503, 'no healthy upstream today', 'no healthy upstream today.', false],
  ])('%i %j: the reason of the service stands first on a terminal', async (status, body, reason, isFirst) => {
    const line = `queue get ${where} --retries 0`
    const [seen, piped] = await Promise.all(
      [{ terminal: true, columns: 300, env: { NO_COLOR: '1' } }, {}].map(setting =>
        run(line, { status, body }, setting),
      ),
    )
    const host = /127\S+/
    const [text = '', ...hints] = piped?.err.replace(host, 'host').split('\n') ?? []
    expect(text).toMatch(new RegExp(`^mergeq: host .*: ${reason}$`))
    expect(seen?.err.replace(host, 'host').split('\n')).toEqual(
      isFirst
        ? [`mergeq: ${reason}`, text.replace('mergeq:', ' ').replace(`: ${reason}`, '.'), ...hints]
        : [text, ...hints],
    )
  })

  test('of a pipe, and of a JSON error, is not limited', async () => {
    expect((await run(`queue get ${where}`, answer)).err.split('\n')).toHaveLength(3)
    const { err } = await run(`queue get ${where} --json`, answer, { terminal: true, columns: 40 })
    expect(err.split('\n')).toHaveLength(2)
  })

  test.each([
    ['one two three', 7, 'one two\nthree'],
    ['  one two three', 7, '  one\n  two\n  three'],
    ['abcdefghij kl', 4, 'abcdefghij\nkl'],
    ['  To see it, run: mergeq pr get 7', 24, '  To see it, run:\n  mergeq pr get 7'],
    ['run: mergeq pr get 7 -R acme/web', 12, 'run: mergeq\npr get 7 -R\nacme/web'],
    ['a\n\nb', 3, 'a\n\nb'],
    [`  go on  ${'word '.repeat(6)}end`, 33, `  go on  word word word word word\n         word end`],
    [`✓ #7 ${'word '.repeat(6)}end`, 33, `✓ #7 word word word word word\n  word end`],
    [
      '\u001B[32m✓\u001B[39m #7 is a pull request that merged',
      30,
      '\u001B[32m✓\u001B[39m #7 is a pull request that\n  merged',
    ],
    // A word that does not fit beside the first text has the whole width.
    [`  page  https://example.com/a/long/path`, 32, `  page\n  https://example.com/a/long/path`],
    [`  page  some words`, 14, `  page  some\n  words`],
  ])('%j in %i columns', (text, columns, expected) => {
    expect(wrapLines(text, columns)).toBe(expected)
  })
})
