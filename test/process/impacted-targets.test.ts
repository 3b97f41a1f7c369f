import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { startTestServer, type TestServer } from '../support/service.ts'

const at = '-R acme/web -b main --sha 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'

describe('`pr targets --from`', () => {
  let home: string
  let server: TestServer
  beforeAll(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-')))
    server = await startTestServer({ answer: () => ({ body: 'OK' }) })
  })
  afterAll(async () => {
    await server.close()
    rmSync(home, { recursive: true, force: true })
  })

  /** Runs a line of shell in which `mergeq` is `pr targets 7` of the built program. */
  async function shell(script: string) {
    const before = server.requests.length
    const { exitCode, stdout, stderr } = await execa(
      'bash',
      ['-c', `mergeq() { "$LAUNCHER" pr targets 7 "$@" ${at}; }; ${script}`],
      {
        env: {
          ...bareEnvironment(home),
          LAUNCHER: launcher,
          MERGEQ_TOKEN: 'tok',
          MERGEQ_BASE_URL: server.baseUrl(),
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
      sent: server.requests.slice(before).map(({ body }) => body),
    }
  }

  testWith('time')(
    'closes the pipe of an endless producer, and its memory follows the limit',
    async () => {
      const outcome = await shell(
        `yes //a:b | time -f 'peak %M' "$LAUNCHER" pr targets 7 --from - ${at}; echo \${PIPESTATUS[0]}`,
      )
      expect(outcome).toMatchObject({
        code: 0,
        out: expect.stringMatching(/\n141$/),
        err: expect.stringMatching(
          /^mergeq: The list of targets is over 20 MiB \(1 target, 256\.\d MiB read\)\. Sending "ALL" instead\.$/m,
        ),
        sent: [expect.stringContaining('"ALL"')],
      })
      // 256 MiB are read. Node 26 needs the most, 125 MB: it collects short texts later.
      expect(Number(/peak (\d+)/.exec(outcome.err)?.[1])).toBeLessThan(140 * 1024)
    },
    60_000,
  )

  test.each([
    ['a closed standard input', 'mergeq --from - <&-', /is empty|cannot be read/],
    ['a folder as standard input', 'mergeq --from - < /', /Standard input cannot be read|is empty/],
    ['a FIFO without a writer', 'mkfifo fifo; mergeq --from fifo', /is empty/],
  ])('refuses %s', async (_, script, says) => {
    const { code, out, err, sent } = await shell(script)
    expect({ code, out, sent }).toEqual({ code: 2, out: '', sent: [] })
    expect(err).toMatch(says)
    expect(err).not.toMatch(/EBADF|\n\s+at /)
  })

  test('reads a program to its end, passes on what it says, and ends it with a signal', async () => {
    const large = 'seq 3000000; echo end >&2; exec 0<&0; [ -z "$MERGEQ_TOKEN$(cat)" ] && exit 0'
    const { code, out, err, sent } = await shell(
      `export GITHUB_ACTIONS=true; "$LAUNCHER" pr targets 7 ${at} --exec -- bash -c '${large}'; echo $?; ` +
        `"$LAUNCHER" pr targets 7 ${at} --exec -- bash -c 'echo //a; echo "::error::no" >&2; exit 1'; echo $?; ` +
        `"$LAUNCHER" pr targets 7 ${at} --exec -- bash -c 'echo //a; echo $$ > pid; sleep 60' & ` +
        'until [ -s pid ]; do sleep 0.1; done; kill -TERM $!; wait $!; echo $?; sleep 0.2; kill -0 $(cat pid) || echo gone',
    )
    expect({ code, sent }).toEqual({ code: 0, sent: [expect.stringContaining('"ALL"')] })
    expect(out).toMatch(/0\n2\n143\ngone$/)
    expect(err).toMatch(/^end$/m)
    expect(err).toContain('over 20 MiB')
    expect(err).not.toMatch(/^::error::/m)
  }, 60_000)

  test('waits for the slow writer of a FIFO or of a process substitution', async () => {
    const { sent } = await shell(
      'mkfifo slow; (sleep 0.5; echo //a) > slow & mergeq --from slow; mergeq --from <(sleep 0.3; echo //b)',
    )
    expect(sent).toEqual([expect.stringContaining('["//a"]'), expect.stringContaining('["//b"]')])
  })

  test('ends with a signal while it waits for a writer', async () => {
    // The writer has written what no pipe holds when mergeq reads.
    const { code, out } = await shell(
      `mkfifo held; exec 3<> held; "$LAUNCHER" pr targets 7 --from held ${at} & ` +
        "head -c 200000 /dev/zero | tr '\\0' x >&3; kill -TERM $!; wait $!; echo $?",
    )
    expect({ code, out }).toEqual({ code: 0, out: '143' })
  })
})
