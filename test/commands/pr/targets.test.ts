import { describe, expect, test } from 'vitest'
import { maxBodySize } from '../../../src/api/limits.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, type Setting } from '../../support/harness.ts'
import { slowTest } from '../../support/sample.ts'

const sha = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
const at = `-R acme/web -b main --sha ${sha}`

/** The request that a list stands in, as `JSON.stringify` makes it. */
const requestOf = (impactedTargets: readonly string[] | 'ALL') =>
  JSON.stringify({
    repo: { host: 'github.com', owner: 'acme', name: 'web' },
    targetBranch: 'main',
    pr: { number: 7, sha },
    impactedTargets,
  })

/** Runs `pr targets 7` against a service that takes everything, and returns what came out and each body. */
async function send(words: string, setting: Setting = {}) {
  const outcome = await mergeq(`pr targets 7 ${at} ${words}`, {
    answer: () => ({ body: 'OK' }),
    ...setting,
  })
  return { ...outcome, bodies: outcome.requests.map(({ body }) => body) }
}

describe('a list of targets at the limit of 20 MiB', () => {
  /** Targets whose body has exactly so many bytes, of characters that JSON and UTF-8 write in all ways. */
  function filled(bytes: number): readonly string[] {
    const unit = '//cart/lib:aé目🦀"\\\u00A0'.repeat(3_000)
    const list: string[] = []
    let left = bytes - Buffer.byteLength(requestOf([])) + 1
    for (let index = 0; left > 200_000; index++) {
      const target = unit + index
      list.push(target)
      left -= Buffer.byteLength(JSON.stringify(target)) + 1
    }
    list.push('x'.repeat(left - 3))
    return list
  }
  const tooLarge =
    /^mergeq: The list of targets is over 20 MiB \([\d,]+ targets, \d+\.\d MiB read\)\. (?<what>.*)\n/

  slowTest(
    'is sent, and its repeats do not count',
    async () => {
      const fits = filled(maxBodySize)
      expect(Buffer.byteLength(requestOf(fits))).toBe(maxBodySize)
      const { code, err, bodies } = await send('--from list.txt', {
        files: { 'list.txt': [...fits, fits[0], ...fits.slice(0, 20)].join('\n') },
      })
      expect({ code, err, isSent: bodies[0] === requestOf(fits) }).toEqual({ code: 0, err: '', isSent: true })
    },
    60_000,
  )

  slowTest(
    'is not sent one byte above it: "ALL" is, or nothing with --too-large=fail',
    async () => {
      const over = filled(maxBodySize + 1)
      const files = { 'list.txt': over.join('\n'), 'list.json': JSON.stringify(over) }
      const all = await send('--from list.txt --json', { files })
      expect({ code: all.code, bodies: all.bodies }).toEqual({ code: 0, bodies: [requestOf('ALL')] })
      expect(all.out).toContain('"targets":"ALL"')
      expect(tooLarge.exec(all.err)?.groups?.what).toBe('Sending "ALL" instead.')
      const { code, out, err, bodies } = await send('--from-json list.json --too-large=fail', { files })
      expect({ code, out, bodies }).toEqual({ code: 6, out: '', bodies: [] })
      expect(tooLarge.exec(err)?.groups?.what).toBe('Nothing was sent.')
      expect(err).toMatch(/\n {2}To send "ALL" instead of the list, use --all\.\n$/)
    },
    60_000,
  )
})

describe('the targets that `pr targets` sends', () => {
  test.each([
    ['ALL', {}],
    ['ALL ALL', {}],
    ['--from list.txt', { files: { 'list.txt': 'ALL\n' } }],
    ['--from - --if-empty all', { input: '\n ALL \n'.replaceAll(' ', '') }],
    ['--exec -- list', { spawn: () => ({ code: 0, out: 'ALL\n' }) }],
  ])('ALL alone is a usage error that names --all: %s', async (words, setting) => {
    expectUsageError(await send(words, setting), 'use --all')
  })

  test('--from-json takes the string "ALL", and an array with that name', async () => {
    const read = (input: string) => send('--from-json -', { input })
    expect((await read(' "ALL"\n')).bodies).toEqual([requestOf('ALL')])
    expect((await read('["ALL"]')).bodies).toEqual([requestOf(['ALL'])])
    expect((await read('"all"')).code).toBe(2)
    const long = Array.from({ length: 50 }, (_, index) => `target-${index}`)
    expect((await read(JSON.stringify(long))).bodies).toEqual([requestOf(long)])
  })

  test('are arguments in their order, each once, and ALL among them is a target', async () => {
    expect((await send('//b //a //b ALL')).bodies).toEqual([requestOf(['//b', '//a', 'ALL'])])
    expect((await send('--all')).bodies).toEqual([requestOf('ALL')])
    expect((await send('--none')).bodies).toEqual([requestOf([])])
  })

  test('are lines or the strings of a JSON array', async () => {
    const lines = { input: '\uFEFF//a\r\n\r\n//b\r\n//a\r\n\n //c \r\n//d' }
    expect((await send('--from -', lines)).bodies).toEqual([requestOf(['//a', '//b', '//c', '//d'])])
    const array = { input: ' ["a", "b\\n\\u00e9\\ud83e\\udd80\\/", "\\ud800", "a"]\n' }
    expect((await send('--from-json -', array)).bodies).toEqual([requestOf(['a', 'b\né🦀/', '\ud800'])])
  })

  test('are summarized on a terminal', async () => {
    const label = (index: number) => `//${'x'.repeat(150)}:${index}\n`
    const input = [...Array(8_412).keys(), 7].map(label).join('')
    const summary = async (words: string) =>
      (await send(words, { input, terminal: true, columns: 160 })).out.replace(
        'Set the impacted targets of #7 in the queue for main of acme/web at 4f2a9c1: ',
        '',
      )
    expect(await summary('--from -')).toBe('8,412 targets (1.3 MiB, 1 duplicate dropped).\n')
    expect(await summary('--none')).toBe('no targets.\n')
    expect(await summary('--all')).toBe('all targets.\n')
  })

  // What else is refused: test/api/target-list.test.ts.
  test.each<[string, string | Uint8Array, RegExp]>([
    ['--from -', 'a\0b\0', /line 1 contains a NUL byte\.\n.*newlines.*as UTF-8/],
    ["'[' '\"a\",' '\"b\"' ']'", '', /: Target 1 looks like JSON\..*\n.*use --from-json/],
    ['//a "//b\tchanged"', '', /: Target 2 contains a tab\./],
  ])('are refused and nothing is sent: %s with %j', async (words, input, message) => {
    expectUsageError(await send(words, { input }), message)
  })

  test('are read from a terminal with a note, and after what else is wrong was reported', async () => {
    expect(await send('--from -', { inputTerminal: true, input: '' })).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^Reading from the terminal\. To finish, press Ctrl-D on an empty line\.\nmergeq: --from: the list of targets is empty\.\n/,
      ),
    })
    expect(await send('--from - --too-large=maybe', { inputTerminal: true, input: '//a\n' })).toMatchObject({
      code: 2,
      err: expect.not.stringContaining('Reading'),
    })
  })
})

test.each([
  ['--from -', ''],
  ['--from-json -', '[]'],
  ['--exec -- list', ''],
])('an empty list of %s is refused, unless --if-empty says what it means', async (words, input) => {
  const run = (ifEmpty: string) =>
    send(`${ifEmpty} ${words}`, { input, spawn: () => ({ code: 0, out: input }) })
  expectUsageError(await run(''), /: the list of targets is empty\.\n {2}.*--exec.*--if-empty none/)
  expect((await run('--if-empty none')).bodies).toEqual([requestOf([])])
  expect((await run('--if-empty all')).bodies).toEqual([requestOf('ALL')])
})

test.each(['--all', '--none'])('%s leaves nothing that --if-empty could mean', async flag => {
  expectUsageError(await send(`${flag} --if-empty none`), `${flag} and --if-empty cannot be used together.`)
})

describe('a program that lists targets', () => {
  async function exec(
    words: string,
    result: { code: number; out?: string; startError?: string },
    more: Setting = {},
  ) {
    const started: unknown[] = []
    const { code, out, err, requests } = await mergeq(`pr targets ${words}`, {
      answer: () => ({ body: 'OK' }),
      spawn: (program, args, { env }) => {
        started.push([program, ...args])
        expect(JSON.stringify(env)).not.toContain('qj7-token')
        return { out: '', ...result }
      },
      ...more,
    })
    return { code, out, err, started, bodies: requests.map(({ body }) => body) }
  }

  test('gets its own options, and its lines are sent after it ended with 0', async () => {
    const listed = await exec(`7 ${at} --exec -- nx show --sha x`, { code: 0, out: 'b\na\nb\n' })
    expect(listed).toMatchObject({
      code: 0,
      started: [['nx', 'show', '--sha', 'x']],
      bodies: [requestOf(['b', 'a'])],
    })
    const env = { MERGEQ_PR: '7', MERGEQ_TOKEN: 'qj7-token', MERGEQ_TOKEN_FILE: '/qj7-token' }
    const dry = await exec(`${at} --dry-run --exec -- 9`, { code: 0, out: 'a' }, { env })
    expect(dry).toMatchObject({
      code: 0,
      started: [['9']],
      bodies: [],
      out: expect.stringContaining('{"number":7'),
    })
  })

  test.each([
    [{ code: 1, out: '//a\n' }, '--exec: list ended with exit code 1. Nothing was sent.'],
    [{ code: 137, out: '//a\n' }, '--exec: list ended with exit code 137 (signal 9). Nothing was sent.'],
    [{ code: 1, out: '["a"' }, '--exec: list ended with exit code 1. Nothing was sent.'],
    [{ code: 0, out: '["a"]' }, '--exec: line 1 looks like JSON.'],
    [{ code: 0, out: '//a\n\u001B[31m//b' }, '--exec: line 2 contains the control character U+001B.'],
    [{ code: 127, startError: 'ENOENT' }, 'Command not found: list.'],
  ])('sends nothing after %j', async (result, message) => {
    const { bodies, ...ran } = await exec(`7 ${at} --exec -- list`, result)
    expectUsageError(ran, `mergeq: ${message}\n`)
    expect(bodies).toEqual([])
  })

  test.each([
    [`7 //a ${at} --exec -- list`, 2],
    [`7 ${at} --exec`, 2],
    [`${at} --exec -- list`, 2],
    ['7 -R acme/web -b main --exec -- list', 2],
    [`7 ${at} --exec -- list`, 4],
  ])('is not started where something else is wrong: %s', async (words, expected) => {
    const { code, started } = await exec(words, { code: 0, out: '//a' }, { env: { MERGEQ_TOKEN: '' } })
    expect(code).toBe(expected)
    expect(started.filter(line => String(line).startsWith('list'))).toEqual([])
  })
})

describe('a pull request from a fork', () => {
  const eventOf = (from: string | null) =>
    JSON.stringify({
      pull_request: {
        number: 7,
        head: { sha, repo: from === null ? null : { full_name: from } },
        base: { ref: 'main', repo: { full_name: 'acme/web' } },
      },
    })
  const env = {
    MERGEQ_TOKEN: '',
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: '/event.json',
    GITHUB_REPOSITORY: 'acme/web',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_RUN_ID: '4242',
  }

  test.each([
    ['replaces the token with the run ID', 'mallory/web', {}, ['4242', undefined]],
    ['replaces the token with the run ID, also of a deleted fork', null, {}, ['4242', undefined]],
    ['prefers a token', 'mallory/web', { MERGEQ_TOKEN: 'qj7-token' }, [undefined, 'qj7-token']],
    ['is none if it is of the repository itself', 'Acme/Web', {}, undefined],
    [
      'is none for pull_request_target',
      'mallory/web',
      { GITHUB_EVENT_NAME: 'pull_request_target' },
      undefined,
    ],
  ])('%s', async (_, from, more, credentials) => {
    const { code, requests } = await mergeq('pr targets //a', {
      answer: () => ({ body: 'OK' }),
      env: { ...env, ...more },
      files: { '/event.json': eventOf(from) },
    })
    const sent = requests.map(({ body, headers }) => ({
      body,
      credentials: [headers['x-forked-workflow-run-id'], headers['x-api-token']],
    }))
    expect({ code, sent }).toEqual(
      credentials === undefined
        ? { code: 4, sent: [] }
        : { code: 0, sent: [{ body: requestOf(['//a']), credentials }] },
    )
  })

  test.each([
    [401, /^mergeq: 127\.0\.0\.1:\d+ rejected the GitHub run ID 4242 \(401\)\.\n[\s\S]*MERGEQ_TOKEN/],
    [
      403,
      /denied access to the GitHub run ID 4242 \(403\)\.\n {2}Check the permissions of the GitHub run ID 4242/,
    ],
  ])('is told by a %i about the run ID, which was sent, and no token', async (status, expected) => {
    const { code, err } = await send('//a --forked-run 4242', { answer: () => ({ status }) })
    expect(code).toBe(4)
    expect(err).toMatch(expected)
    expect(err).not.toMatch(/token from|nowhere/)
  })
})
