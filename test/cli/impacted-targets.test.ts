import { describe, expect, test } from 'vitest'
import { maxBodySize } from '../../src/domain/limits.ts'
import { mergeq, openStory, type Setting } from '../support/harness.ts'

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
  const { code, out, err, requests } = await mergeq(`pr targets 7 ${words} ${at}`, {
    answer: () => ({ body: 'OK' }),
    ...setting,
  })
  return { code, out, err, bodies: requests.map(({ body }) => body) }
}

describe('the limit of 20 MiB, to the byte', () => {
  /**
   * Targets whose body has exactly so many bytes: all alike but for their end, the last as long as it must
   * be.
   */
  function filled(bytes: number, unit: string): readonly string[] {
    const each = Buffer.byteLength(JSON.stringify(unit)) - 2
    const list: string[] = []
    let left = bytes - Buffer.byteLength(requestOf([])) + 1
    for (let index = 0; left > 200_000; index++) {
      const target = unit.repeat(Math.floor(90_000 / each)) + index
      list.push(target)
      left -= Buffer.byteLength(JSON.stringify(target)) + 1
    }
    list.push('x'.repeat(left - 3))
    return list
  }

  const kinds = [
    ['ASCII', '//cart/lib:a'],
    ['two bytes', 'é'],
    ['three bytes', '目'],
    ['four bytes', '🦀'],
    ['quotes', '"'],
    ['backslashes', '\\'],
    ['control characters', '\u0001'],
  ] as const

  const replaced = {
    code: 0,
    bodies: [requestOf('ALL')],
    err: expect.stringMatching(
      /^mergeq: The list of targets is over 20 MiB \([\d,]+ targets, \d+\.\d MiB read\)\. Sending "ALL" instead\.\n$/,
    ),
  }
  const refused = {
    code: 6,
    out: '',
    bodies: [],
    err: expect.stringMatching(
      /^mergeq: The list of targets is over 20 MiB \([\d,]+ targets, \d+\.\d MiB read\)\. Nothing was sent\.\n {2}To send "ALL" instead of the list, use --all\.\n$/,
    ),
  }

  test.each(kinds)(
    'a list of %s is sent at the limit and not one byte above it',
    async (_, unit) => {
      const fits = filled(maxBodySize, unit)
      expect(Buffer.byteLength(requestOf(fits))).toBe(maxBodySize)
      const sent = await send('--from list.txt', { files: { 'list.txt': fits.join('\n') } })
      expect(sent).toMatchObject({ code: 0, err: '' })
      expect(sent.bodies.length === 1 && sent.bodies[0] === requestOf(fits), 'the list itself').toBe(true)

      // Half of the combinations for each kind: every kind meets both formats and both values of --too-large.
      const over = filled(maxBodySize + 1, unit)
      expect(await send('--from list.txt', { files: { 'list.txt': over.join('\n') } })).toMatchObject(
        replaced,
      )
      const asJson = { files: { 'list.json': JSON.stringify(over) } }
      expect(await send('--from-json list.json --too-large=fail', asJson)).toMatchObject(refused)
    },
    60_000,
  )

  test('the format of the list and --too-large do not depend on each other', async () => {
    const over = filled(maxBodySize + 1, '//cart/lib:a')
    const files = { 'list.txt': over.join('\n'), 'list.json': JSON.stringify(over) }
    expect(await send('--from-json list.json', { files })).toMatchObject(replaced)
    expect(await send('--from list.txt --too-large=fail', { files })).toMatchObject(refused)
  })

  test('a repeat at the limit is dropped and does not count', async () => {
    const fits = filled(maxBodySize, '//cart/lib:a')
    const sent = await send('--from list.txt', {
      files: { 'list.txt': [...fits, fits[0], ...fits].join('\n') },
    })
    expect(sent.bodies[0] === requestOf(fits)).toBe(true)
  })

  test('the error for a list over the limit counts what was read, whatever its length', async () => {
    const files = {
      'list.txt': Array.from({ length: 2_000_000 }, (_, index) => `//very/long:${index}\n`).join(''),
    }
    expect(await send('--from list.txt --json', { files })).toMatchObject({
      code: 0,
      bodies: [requestOf('ALL')],
      out: expect.stringContaining('"targets":"ALL"'),
    })
  })
})

describe('what is read', () => {
  test.each([
    [
      'CRLF, blank lines, a BOM, repeats',
      '\uFEFF//a\r\n\r\n//b\r\n//a\r\n\n //c \r\n',
      ['//a', '//b', '//c'],
    ],
    ['no last newline', '//a\n//b', ['//a', '//b']],
    ['a carriage return inside', 'a\rb\n', ['a\rb']],
    [
      'routes that begin with a bracket',
      '[slug].tsx\n[[...all]]/page.tsx\n',
      ['[slug].tsx', '[[...all]]/page.tsx'],
    ],
    ['a target called ALL', 'ALL\n', ['ALL']],
    ['keys of objects', '__proto__\nconstructor\ntoString\n', ['__proto__', 'constructor', 'toString']],
  ] as const)('%s', async (_, input, targets) => {
    expect(await send('--from -', { input })).toMatchObject({ code: 0, bodies: [requestOf(targets)] })
  })

  test('arguments: order kept, repeats dropped, ALL among them is a target', async () => {
    expect((await send('//b //a //b ALL')).bodies).toEqual([requestOf(['//b', '//a', 'ALL'])])
    expect((await send('--all')).bodies).toEqual([requestOf('ALL')])
    expect((await send('--none')).bodies).toEqual([requestOf([])])
  })

  test('the summary says what was sent', async () => {
    const input = `${Array.from({ length: 8_412 }, (_, index) => `//${'x'.repeat(150)}:${index}\n`).join('')}//${'x'.repeat(150)}:7\n`
    const { out } = await send('--from -', { input, terminal: true, columns: 100 })
    expect(out).toBe(
      'Set the impacted targets of #7 at 4f2a9c1: 8,412 targets (1.3 MiB, 1 duplicate dropped).\n',
    )
    expect((await send('--none', { terminal: true })).out).toBe(
      'Set the impacted targets of #7 at 4f2a9c1: no targets.\n',
    )
    expect((await send('--all', { terminal: true })).out).toBe(
      'Set the impacted targets of #7 at 4f2a9c1: all targets.\n',
    )
  })

  const refusals: readonly (readonly [words: string, input: string | Uint8Array, message: RegExp])[] = [
    [
      '--from -',
      '',
      /--from: the list of targets is empty\.\n {2}The command that wrote the list may have failed.*--none/,
    ],
    ['--from -', '\uFEFF\r\n \n', /is empty/],
    ['--from -', 'a\nb\0c\n', /--from: line 2 contains a NUL byte/],
    ['--from -', 'a\0b\0', /line 1 contains a NUL byte\.\n.*newlines/],
    ['--from -', '["a","b"]', /line 1 looks like JSON\.\n {2}.*use --from-json/],
    ['--from -', '[\n  "a"\n]\n', /line 1 looks like JSON/],
    ['--from -', 'a\n[ "b"]', /line 2 looks like JSON/],
    ['--from-json -', '', /is empty/],
    ['--from-json -', '[]', /is empty.*\n.*--none/],
    ['--from-json -', '["a",\n3]', /--from-json: line 2 is not a JSON array of strings/],
    ['--from-json -', '["a"', /ends before the end of the array/],
    ['--from-json -', '["a", "b', /ends before the end of the array/],
    ['--from-json -', '["a"] x', /is not a JSON array of strings/],
    ['--from-json -', '["a",]', /is not a JSON array of strings/],
    ['--from-json -', '[["a"]]', /is not a JSON array of strings/],
    ['--from-json -', '{"a":1}', /is not a JSON array of strings/],
    ['--from-json -', '"a"', /is not a JSON array of strings/],
    ['--from-json -', '["a\nb"]', /is not a JSON array of strings/],
    ['--from-json -', '["\\x"]', /is not a JSON array of strings/],
    ['--from-json -', '["a",""]', /contains an empty target/],
    ['--from-json -', new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]), /line 1 is not valid UTF-8/],
    [
      '--from -',
      Buffer.from('\uFEFF//a\n', 'utf16le'),
      /targets are encoded as UTF-16, not UTF-8\.\n.*-Encoding utf8/,
    ],
    ['--from-json -', Buffer.from('\uFEFF["a"]', 'utf16le'), /targets are encoded as UTF-16/],
    ['--from -', Buffer.from('//a\n', 'utf16le'), /NUL byte\.\n.*as UTF-8/],
  ]
  test.each(refusals)('%s with %j is refused and nothing is sent', async (words, input, message) => {
    expect(await send(words, { input })).toMatchObject({
      code: 2,
      out: '',
      bodies: [],
      err: expect.stringMatching(message),
    })
  })

  test('a JSON array is sent as its strings', async () => {
    const input = ' ["a", "b\\n\\u00e9\\ud83e\\udd80\\/", "\\ud800", "a"]\n'
    expect((await send('--from-json -', { input })).bodies).toEqual([requestOf(['a', 'b\né🦀/', '\ud800'])])
  })

  test('on a terminal a note says what is read; Ctrl-D at once is an empty list', async () => {
    expect(await send('--from -', { inputTerminal: true, input: '' })).toEqual({
      code: 2,
      out: '',
      bodies: [],
      err: 'Reading from the terminal. To finish, press Ctrl-D on an empty line.\nmergeq: --from: the list of targets is empty.\n  The command that wrote the list may have failed. If no target is impacted, use --none.\n',
    })
  })

  test('what else is wrong is reported before a list is read', async () => {
    const input = { inputTerminal: true, input: '//a\n' }
    expect(await send('--from - --too-large=maybe', input)).toMatchObject({
      code: 2,
      err: expect.not.stringContaining('Reading'),
    })
  })
})

describe('a pull request from a fork', () => {
  const event = (from: string | null) => ({
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
  const inJob = (from: string | null, more: Readonly<Record<string, string>> = {}) =>
    mergeq('pr targets //a', {
      answer: () => ({ body: 'OK' }),
      env: { ...env, ...more },
      files: { '/event.json': JSON.stringify(event(from)) },
    })
  const credentials = ({ requests: [sent] }: Awaited<ReturnType<typeof inJob>>) => [
    sent?.headers['x-forked-workflow-run-id'],
    sent?.headers['x-api-token'],
  ]

  test.each([
    ['a fork', 'mallory/web'],
    ['a fork that was deleted', null],
  ])('the run ID replaces the token: %s', async (_, from) => {
    const outcome = await inJob(from)
    expect(outcome).toMatchObject({ code: 0, requests: [{ body: requestOf(['//a']) }] })
    expect(credentials(outcome)).toEqual(['4242', undefined])
  })

  test('a token takes precedence over the run ID', async () => {
    expect(credentials(await inJob('mallory/web', { MERGEQ_TOKEN: 'test-token' }))).toEqual([
      undefined,
      'test-token',
    ])
  })

  test.each([
    ['the repository itself', 'Acme/Web', {}],
    ['pull_request_target', 'mallory/web', { GITHUB_EVENT_NAME: 'pull_request_target' }],
  ])('a missing token is an error: %s', async (_, from, more) => {
    expect(await inJob(from, more)).toMatchObject({ code: 4, requests: [] })
  })

  test.each([
    [401, /^mergeq: 127\.0\.0\.1:\d+ rejected the GitHub run ID 4242 \(401\)\.$/m],
    [
      403,
      /denied access to the GitHub run ID 4242 \(403\)\.\n {2}Check the permissions of the GitHub run ID 4242/,
    ],
  ])('a %i names the run id, which was sent, and no token', async (status, expected) => {
    const { code, err } = await mergeq(`pr targets 7 //a ${at} --forked-run 4242`, {
      answer: () => ({ status }),
    })
    expect(code).toBe(4)
    expect(err).toMatch(expected)
    expect(err).not.toMatch(/token from|nowhere/)
    if (status === 401) expect(err).toContain('MERGEQ_TOKEN')
  })

  test('on the sandbox', async () => {
    const story = await openStory()
    try {
      const files = { '/event.json': JSON.stringify(event('mallory/web')) }
      expect(await story.mergeq('pr targets //a', { env, files })).toMatchObject({ code: 0 })
    } finally {
      await story.close()
    }
  })
})

describe('targets that Git Bash rewrote', () => {
  const run = (target: string, env: Readonly<Record<string, string>>, platform = 'win32') =>
    mergeq(['pr', 'targets', '7', target, '--no-sha', '-R', 'acme/web', '-b', 'main'], {
      platform,
      env,
      answer: () => ({ body: '{}' }),
    })
  const note = (target: string) =>
    `Git Bash may have rewritten the target ${target}. To send targets unchanged, set MSYS_NO_PATHCONV=1 or use --from.\n`

  test.each(['/a:one', 'C:/Program Files/Git/a:one'])('%s is noted', async target => {
    expect((await run(target, { MSYSTEM: 'MINGW64' })).err).toContain(note(target))
  })

  test('other targets, shells and platforms get no note', async () => {
    for (const ran of [
      await run('//a:one', { MSYSTEM: 'MINGW64' }),
      await run('/a:one', {}),
      await run('/a:one', { MSYSTEM: 'MINGW64' }, 'linux'),
    ])
      expect(ran.err).not.toContain('Git Bash')
  })
})
