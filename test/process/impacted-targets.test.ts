import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FaultServer, startFaultServer } from '../support/fault-server.ts'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { normalBehavior } from '../support/responders.ts'

const at = '-R acme/web -b main --sha 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'

describe('the program itself', () => {
  let home: string
  let server: FaultServer
  beforeAll(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-')))
    server = await startFaultServer({ script: { setImpactedTargets: [normalBehavior] } })
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
        /^mergeq: The list of targets is over 20 MiB \(1 target, 256\.\d MiB read\)\. Sending "ALL" instead\.$/m,
      ),
    })
    // 256 MiB are read. Node 26 needs the most, 125 MB: it collects short texts later.
    expect(Number(/peak (\d+)/.exec(outcome.err)?.[1])).toBeLessThan(140 * 1024)
  }, 60_000)

  test('an endless producer with --too-large=fail: the message says what was read', async () => {
    const outcome = await shell(`yes //a:b | mergeq --from - --too-large=fail; echo \${PIPESTATUS[1]}`)
    expect(outcome).toMatchObject({
      out: '6',
      err: expect.stringMatching(
        /The list of targets is over 20 MiB \(1 target, 256\.\d MiB read\)\. Nothing was sent\.$/m,
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

  test('a target of 1 MB, and 1,000,000 short ones', async () => {
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
    ['stdin a folder', 'mergeq --from - < /', /Standard input cannot be read|is empty/],
    ['a folder', 'mergeq --from /', /\/ cannot be read/],
    ['a file that is missing', 'mergeq --from nothing.txt', /nothing\.txt cannot be read/],
    ['a FIFO without a writer', 'mkfifo fifo; mergeq --from fifo', /is empty/],
  ])('%s', async (_, script, says) => {
    const { code, out, err, sent } = await shell(script)
    expect({ code, out, sent }).toEqual({ code: 2, out: '', sent: [] })
    expect(err).toMatch(says)
    expect(err).not.toMatch(/EBADF|\n\s+at /)
  })

  test('a FIFO with a slow writer, and a process substitution', async () => {
    const slow = await shell('mkfifo slow; (sleep 2; echo //a) > slow & mergeq --from slow')
    expect(slow.sent).toEqual([expect.stringContaining('["//a"]')])
    const substituted = await shell('mergeq --from <(sleep 0.3; echo //b)')
    expect(substituted.sent).toEqual([expect.stringContaining('["//b"]')])
  })

  test('a signal ends the waiting for a writer', async () => {
    const { code, out } = await shell(
      'mkfifo held; sleep 5 > held & "$LAUNCHER" pr targets 7 --from held -R acme/web -b main --sha x & sleep 0.5; kill -TERM $!; wait $!; echo $?',
    )
    expect({ code, out }).toEqual({ code: 0, out: '143' })
  })
})
