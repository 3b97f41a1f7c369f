import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxBodySize } from '../src/domain/limits.ts'
import { createStringArray } from '../src/domain/values/string-array.ts'
import { parseJsonStrings, parseLines, readTargets } from '../src/domain/values/target-list.ts'
import { type FaultServer, openFaults, works } from './fault-server.ts'
import { mergeq, openStory, type Setting } from './harness.ts'
import { bareEnvironment, launcher, testWith } from './programs.ts'

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

describe('20 MiB, to the byte', () => {
  /** Targets whose body has exactly so many bytes: all alike but for their end, the last as long as it must be. */
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

  test.each(kinds)(
    'I1, I2: %s',
    async (_, unit) => {
      const fits = filled(maxBodySize, unit)
      expect(Buffer.byteLength(requestOf(fits))).toBe(maxBodySize)
      const sent = await send('--from list.txt', { files: { 'list.txt': fits.join('\n') } })
      expect(sent).toMatchObject({ code: 0, err: '' })
      expect(sent.bodies.length === 1 && sent.bodies[0] === requestOf(fits), 'the list itself').toBe(true)

      const over = filled(maxBodySize + 1, unit)
      const files = { 'list.txt': over.join('\n'), 'list.json': JSON.stringify(over) }
      for (const from of ['--from list.txt', '--from-json list.json']) {
        expect(await send(from, { files })).toMatchObject({
          code: 0,
          bodies: [requestOf('ALL')],
          err: expect.stringMatching(
            /^mergeq: the list is over 20 MiB \([\d,]+ targets, \d+\.\d MiB read\): sending "ALL" instead\.\n$/,
          ),
        })
        expect(await send(`${from} --too-large=fail`, { files })).toMatchObject({
          code: 6,
          out: '',
          bodies: [],
          err: expect.stringMatching(
            /^mergeq: setImpactedTargets: the list is over 20 MiB \([\d,]+ targets, \d+\.\d MiB read\); nothing was sent\.\n {2}Send every target instead with --all\.\n$/,
          ),
        })
      }
    },
    60_000,
  )

  test('I2: a repeat at the limit is dropped and does not count', async () => {
    const fits = filled(maxBodySize, '//cart/lib:a')
    const sent = await send('--from list.txt', {
      files: { 'list.txt': [...fits, fits[0], ...fits].join('\n') },
    })
    expect(sent.bodies[0] === requestOf(fits)).toBe(true)
  })

  test('I5: a list over the limit counts what was read, however long it goes on', async () => {
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

describe('the list itself', () => {
  /** Feeds bytes in pieces of these sizes, over and over. */
  async function* pieces(bytes: Uint8Array, sizes: readonly number[]) {
    for (let from = 0, turn = 0; from < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1
      yield bytes.slice(from, from + size)
      from += size
    }
  }

  async function encode(
    bytes: Uint8Array,
    sizes: readonly number[],
    reading: typeof parseLines,
  ): Promise<string> {
    const list = createStringArray(maxBodySize)
    await readTargets(pieces(bytes, sizes), reading, list, '--from', () => undefined)
    const { chunks, bytes: counted } = list.encoded()
    const whole = Buffer.concat(chunks)
    expect(whole.length).toBe(counted)
    return whole.toString()
  }

  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  const asJson = (list: readonly string[]) => JSON.stringify([...new Set(list)])

  test('a property: for any list it is what JSON.stringify makes of it', async () => {
    const texts = fc.array(fc.string({ minLength: 1, unit: 'binary' }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(texts, sizes, fc.constantFrom(undefined, 2), async (list, cut, indent) => {
        const bytes = new TextEncoder().encode(JSON.stringify(list, null, indent))
        expect(await encode(bytes, cut, parseJsonStrings)).toBe(asJson(list))
      }),
    )
  })

  test('a property: every way to write a character in JSON is the same target', async () => {
    const wordy = (text: string) =>
      `"${[...text]
        .flatMap(one => one.split(''))
        .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')}"`
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ minLength: 1, unit: 'binary' }), { minLength: 1 }),
        sizes,
        async (list, cut) => {
          const bytes = new TextEncoder().encode(
            `[${list.map(wordy).join(',')},${list.map(one => JSON.stringify(one)).join()}]`,
          )
          expect(await encode(bytes, cut, parseJsonStrings)).toBe(asJson(list))
        },
      ),
    )
  })

  test('a property: one target a line, whatever stands around it', async () => {
    const target = fc
      .string({ minLength: 1, unit: 'grapheme' })
      .map(text => text.replace(/[\0\n]/g, ''))
      .filter(text => /^[^\t\r \uFEFF[](?:.*[^\t\r ])?$/su.test(text))
    const row = fc.tuple(fc.constantFrom('', ' ', '\t'), target, fc.constantFrom('', ' ', '\r', ' \t\r'))
    const blank = fc.constantFrom('', '\r', '  ', '\t')
    const written = fc.array(fc.oneof(row, blank), { minLength: 1 }).filter(rows => rows.some(Array.isArray))
    await fc.assert(
      fc.asyncProperty(written, sizes, fc.boolean(), fc.boolean(), async (rows, cut, bom, last) => {
        const text = rows.map(one => (Array.isArray(one) ? one.join('') : one)).join('\n')
        const bytes = new TextEncoder().encode(`${bom ? '\uFEFF' : ''}${text}${last ? '\n' : ''}`)
        const targets = rows.flatMap(one => (Array.isArray(one) ? [one[1]] : []))
        expect(await encode(bytes, cut, parseLines)).toBe(asJson(targets))
      }),
    )
  })

  test('a property: bytes that are not UTF-8 are refused with their line, wherever they are cut', async () => {
    const bad = fc.constantFrom(
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe7, 0x9b],
      [0x80],
    )
    await fc.assert(
      fc.asyncProperty(bad, fc.nat({ max: 30 }), sizes, async (wrong, before, cut) => {
        const good = Buffer.from('目é🦀\n'.repeat(before))
        const bytes = Buffer.concat([good, Buffer.from('x'), Buffer.from(wrong), Buffer.from('\nmore\n')])
        await expect(encode(bytes, cut, parseLines)).rejects.toThrow(`line ${before + 1} is not UTF-8`)
      }),
    )
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
  ] as const)('I3: %s', async (_, input, targets) => {
    expect(await send('--from -', { input })).toMatchObject({ code: 0, bodies: [requestOf(targets)] })
  })

  test('arguments: order kept, repeats dropped, ALL among them is a target', async () => {
    expect((await send('//b //a //b ALL')).bodies).toEqual([requestOf(['//b', '//a', 'ALL'])])
    expect((await send('--all')).bodies).toEqual([requestOf('ALL')])
    expect((await send('--none')).bodies).toEqual([requestOf([])])
  })

  test('the summary says what was sent', async () => {
    const input = `${Array.from({ length: 8_412 }, (_, index) => `//${'x'.repeat(150)}:${index}\n`).join('')}//${'x'.repeat(150)}:7\n`
    const { out } = await send('--from -', { input, terminal: true })
    expect(out).toBe('#7 impacts 8,412 targets (1.3 MiB, 1 duplicate dropped) for 4f2a9c1.\n')
    expect((await send('--none', { terminal: true })).out).toBe(
      '#7 impacts 0 targets (2 bytes) for 4f2a9c1.\n',
    )
    expect((await send('--all', { terminal: true })).out).toBe('#7 impacts every target for 4f2a9c1.\n')
  })

  const refusals: readonly (readonly [
    id: string,
    words: string,
    input: string | Uint8Array,
    says: RegExp,
  ])[] = [
    ['I3', '--from -', '', /--from: the list of targets is empty\.\n {2}A pipe that broke.*--none/],
    ['I3', '--from -', '\uFEFF\r\n \n', /is empty/],
    ['I4', '--from -', 'a\nb\0c\n', /--from: line 2 holds a NUL byte/],
    ['I4', '--from -', 'a\0b\0', /line 1 holds a NUL byte\.\n.*newlines/],
    ['I8', '--from -', '["a","b"]', /line 1 looks like JSON\.\n {2}--from-json/],
    ['I8', '--from -', '[\n  "a"\n]\n', /line 1 looks like JSON/],
    ['I8', '--from -', 'a\n[ "b"]', /line 2 looks like JSON/],
    ['I8', '--from-json -', '', /is empty/],
    ['I8', '--from-json -', '[]', /is empty.*\n.*--none/],
    ['I8', '--from-json -', '["a",\n3]', /--from-json: line 2 is no JSON array of strings/],
    ['I8', '--from-json -', '["a"', /ends before the array does/],
    ['I8', '--from-json -', '["a", "b', /ends before the array does/],
    ['I8', '--from-json -', '["a"] x', /no JSON array/],
    ['I8', '--from-json -', '["a",]', /no JSON array/],
    ['I8', '--from-json -', '[["a"]]', /no JSON array/],
    ['I8', '--from-json -', '{"a":1}', /no JSON array/],
    ['I8', '--from-json -', '"a"', /no JSON array/],
    ['I8', '--from-json -', '["a\nb"]', /no JSON array/],
    ['I8', '--from-json -', '["\\x"]', /no JSON array/],
    ['I8', '--from-json -', '["a",""]', /holds an empty target/],
    ['I8', '--from-json -', new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]), /line 1 is not UTF-8/],
    ['UTF-16', '--from -', Buffer.from('\uFEFF//a\n', 'utf16le'), /targets are UTF-16\.\n.*-Encoding utf8/],
    ['UTF-16', '--from-json -', Buffer.from('\uFEFF["a"]', 'utf16le'), /targets are UTF-16/],
    ['UTF-16', '--from -', Buffer.from('//a\n', 'utf16le'), /NUL byte\.\n.*not UTF-16/],
  ]
  test.each(refusals)('%s: %s with %j is refused and nothing is sent', async (_, words, input, says) => {
    expect(await send(words, { input })).toMatchObject({
      code: 2,
      out: '',
      bodies: [],
      err: expect.stringMatching(says),
    })
  })

  test('I8: a JSON array is sent as its strings', async () => {
    const input = ' ["a", "b\\n\\u00e9\\ud83e\\udd80\\/", "\\ud800", "a"]\n'
    expect((await send('--from-json -', { input })).bodies).toEqual([requestOf(['a', 'b\né🦀/', '\ud800'])])
  })

  test('I6: a terminal is told what is read; Ctrl-D at once is an empty list', async () => {
    expect(await send('--from -', { inputTerminal: true, input: '' })).toEqual({
      code: 2,
      out: '',
      bodies: [],
      err: 'Reading what you type; Ctrl-D on a line of its own ends it.\nmergeq: --from: the list of targets is empty.\n  A pipe that broke looks like this. If no target is impacted, say so with --none.\n',
    })
  })

  test('what else is wrong is said before a list is read', async () => {
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
  ])('the run id stands in for the token: %s', async (_, from) => {
    const outcome = await inJob(from)
    expect(outcome).toMatchObject({ code: 0, requests: [{ body: requestOf(['//a']) }] })
    expect(credentials(outcome)).toEqual(['4242', undefined])
  })

  test('a token that is to be had goes first', async () => {
    expect(credentials(await inJob('mallory/web', { MERGEQ_TOKEN: 'test-token' }))).toEqual([
      undefined,
      'test-token',
    ])
  })

  test.each([
    ['the repository itself', 'Acme/Web', {}],
    ['pull_request_target', 'mallory/web', { GITHUB_EVENT_NAME: 'pull_request_target' }],
  ])('no token is no token: %s', async (_, from, more) => {
    expect(await inJob(from, more)).toMatchObject({ code: 4, requests: [] })
  })

  test.each([
    [
      401,
      /^mergeq: setImpactedTargets: 127\.0\.0\.1:\d+ rejected the run id 4242 of this forked run \(401\)\.$/m,
    ],
    [403, /did not let it through \(403\)\.\n {2}Check what the run id 4242 of this forked run may do/],
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

describe('the program itself', () => {
  let home: string
  let server: FaultServer
  beforeAll(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-')))
    server = await openFaults({ script: { setImpactedTargets: [works] } })
  })
  afterAll(async () => {
    await server.close()
    rmSync(home, { recursive: true, force: true })
  })

  /** Runs a line of shell in which `mergeq` is `pr targets 7` of the built program. */
  async function shell(script: string) {
    const before = server.log.length
    const { exitCode, stdout, stderr } = await execa(
      'bash',
      ['-c', `mergeq() { "$LAUNCHER" pr targets 7 "$@" ${at}; }; ${script}`],
      {
        env: {
          ...bareEnvironment(home),
          LAUNCHER: launcher,
          MERGEQ_TOKEN: 'tok',
          MERGEQ_BASE_URL: server.baseUrl,
        },
        extendEnv: false,
        reject: false,
        cwd: home,
        timeout: 60_000,
      },
    )
    return {
      code: exitCode,
      out: stdout,
      err: stderr,
      sent: server.log.slice(before).map(({ body }) => body.toString()),
    }
  }

  test('an endless producer sees a closed pipe, and memory follows the limit', async () => {
    const outcome = await shell(
      `yes //a:b | time -f 'peak %M' "$LAUNCHER" pr targets 7 --from - ${at}; echo \${PIPESTATUS[0]}`,
    )
    expect(outcome).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\n141$/),
      err: expect.stringMatching(
        /^mergeq: the list is over 20 MiB \(1 target, 256\.\d MiB read\): sending "ALL" instead\.$/m,
      ),
    })
    expect(Number(/peak (\d+)/.exec(outcome.err)?.[1])).toBeLessThan(120 * 1024)
  }, 60_000)

  test('an endless producer with --too-large=fail: the message says what was read', async () => {
    const outcome = await shell(`yes //a:b | mergeq --from - --too-large=fail; echo \${PIPESTATUS[1]}`)
    expect(outcome).toMatchObject({
      out: '6',
      err: expect.stringMatching(
        /the list is over 20 MiB \(1 target, 256\.\d MiB read\); nothing was sent\.$/m,
      ),
      sent: [],
    })
  }, 60_000)

  test.each([
    ['different targets', 'seq -f //very/long/label:%.0f 1 100000000'],
    ['one target without an end', "tr '\\0' x < /dev/zero"],
  ])(
    'an endless producer of %s',
    async (_, producer) => {
      const outcome = await shell(`${producer} | mergeq --from -; echo \${PIPESTATUS[0]}`)
      expect(outcome).toMatchObject({
        code: 0,
        out: expect.stringMatching(/\n(141|1)$/),
        sent: [expect.stringContaining('"ALL"')],
      })
    },
    60_000,
  )

  test('an endless array', async () => {
    const outcome = await shell(
      `(printf '["a"'; yes ',"//a:b"') | mergeq --from-json -; echo \${PIPESTATUS[0]}`,
    )
    expect(outcome).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\n141$/),
      sent: [expect.stringContaining('"ALL"')],
    })
  }, 60_000)

  test('I4: a target of 1 MB, and 1,000,000 short ones', async () => {
    const long = 'x'.repeat(1_000_000)
    writeFileSync(join(home, 'long'), `${long}\n`)
    expect((await shell('mergeq --from long')).sent).toEqual([expect.stringContaining(`["${long}"]`)])
    const short = Array.from({ length: 1_000_000 }, (_, index) => index.toString(36))
    writeFileSync(join(home, 'short'), short.join('\n'))
    const { sent } = await shell('mergeq --from short')
    expect(sent[0]?.endsWith(`"impactedTargets":${JSON.stringify(short)}}`)).toBe(true)
  }, 60_000)

  test('500,000 labels as a build tool lists them arrive in order, each once', async () => {
    const labels = Array.from(
      { length: 500_000 },
      (_, index) => `//services/s${index % 97}:t${index % 400_000}`,
    )
    writeFileSync(join(home, 'labels'), `${labels.join('\n')}\n`)
    const { code, sent } = await shell('cat labels | mergeq --from -')
    expect(code).toBe(0)
    expect(sent[0]?.endsWith(`"impactedTargets":${JSON.stringify([...new Set(labels)])}}`)).toBe(true)
  }, 60_000)

  testWith('git')('git diff --name-only', async () => {
    const folder = join(home, 'checkout')
    mkdirSync(join(folder, 'src'), { recursive: true })
    const git = (...words: readonly string[]) =>
      execFileSync(
        'git',
        ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'core.quotePath=false', ...words],
        {
          cwd: folder,
          env: bareEnvironment(home),
        },
      )
    git('init', '--quiet')
    git('commit', '--quiet', '--allow-empty', '--message', 'first')
    for (const name of ['src/[slug].ts', 'src/größe.ts', 'with space.txt'])
      writeFileSync(join(folder, name), '')
    git('add', '.')
    git('commit', '--quiet', '--message', 'second')
    const { sent } = await shell(
      'cd checkout; git -c core.quotePath=false diff --name-only HEAD~1 | mergeq --from -',
    )
    expect(sent).toEqual([
      expect.stringContaining(JSON.stringify(['src/[slug].ts', 'src/größe.ts', 'with space.txt'])),
    ])
  })

  test.each([
    ['stdin closed', 'mergeq --from - <&-', /is empty|cannot be read/],
    ['stdin a folder', 'mergeq --from - < /', /standard input cannot be read|is empty/],
    ['a folder', 'mergeq --from /', /\/ cannot be read/],
    ['a file that is missing', 'mergeq --from nothing.txt', /nothing\.txt cannot be read/],
    [
      'a FIFO without a writer',
      'mkfifo fifo; mergeq --from fifo --timeout 300ms',
      /fifo cannot be read: nobody wrote to it in 300 ms/,
    ],
  ])('I7: %s', async (_, script, says) => {
    const { code, out, err, sent } = await shell(script)
    expect({ code, out, sent }).toEqual({ code: 2, out: '', sent: [] })
    expect(err).toMatch(says)
    expect(err).not.toMatch(/EBADF|\n\s+at /)
  })

  test('I7: a FIFO whose writer comes late, and a process substitution', async () => {
    const late = await shell('mkfifo late; (sleep 0.3; echo //a > late) & mergeq --from late')
    expect(late.sent).toEqual([expect.stringContaining('["//a"]')])
    const substituted = await shell('mergeq --from <(sleep 0.3; echo //b)')
    expect(substituted.sent).toEqual([expect.stringContaining('["//b"]')])
  })

  test('I7: a signal ends the waiting for a writer', async () => {
    const { code, out } = await shell(
      'mkfifo held; "$LAUNCHER" pr targets 7 --from held -R acme/web -b main --sha x & sleep 0.5; kill -TERM $!; wait $!; echo $?',
    )
    expect({ code, out }).toEqual({ code: 0, out: '143' })
  })
})
