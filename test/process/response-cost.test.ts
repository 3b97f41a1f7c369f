import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { withFaultServer } from '../support/fault-server.ts'
import { type ProcessOutcome, runBuiltProgram } from '../support/fault-server-runs.ts'
import { testWith } from '../support/programs.ts'
import {
  type Responder,
  respondByteByByte,
  respondEndlessly,
  respondWith,
  respondWithGzipBomb,
} from '../support/responders.ts'
import { deep, filled, mebibyte, respondAlways } from '../support/response-cost.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const isNode20 = process.version.startsWith('v20.')

const packed = (text: string): Responder =>
  respondWith(200, gzipSync(text), { 'content-encoding': 'gzip', 'content-type': 'application/json' })
const wide = (bytes: number) => filled('{},', bytes, '[', ']')

/** What one answer may cost, whatever it holds. */
const expectBounded = ({ memory, cpu, code }: ProcessOutcome, name: string) => {
  expect([7, 11, 15, 16, 17], `${name}: exit code`).toContain(code)
  expect(memory, `${name}: memory in MiB`).toBeLessThan(300)
  expect(cpu, `${name}: seconds of processor time`).toBeLessThan(10)
}

const place = temporaryFolder('mergeq-cost-')
const [queueFile, junit] = ['queue.yaml', 'junit.xml'].map(name => join(place, name)) as [string, string]
beforeAll(() => {
  writeFileSync(queueFile, 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 2\n')
  writeFileSync(junit, '<testsuite><testcase name="a"><failure/></testcase></testsuite>')
})

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
/** Every command that asks the service, as it is typed, and whether it changes something. */
const lines = [
  'pr submit 7',
  'pr submit 7 --wait',
  'pr cancel 7 --yes',
  'pr restart 7',
  'pr get 7',
  'pr targets 7 a --no-sha',
  `pr testing ${id}`,
  'pr explain 7',
  'queue create',
  'queue get',
  'queue update --concurrency 2',
  'queue delete --yes',
  'queue watch',
  'queue export',
  `queue diff -f ${queueFile}`,
  `queue apply -f ${queueFile} --yes`,
  'queue check --max-depth 3',
  'flaky list',
  `flaky get ${id}`,
  'flaky report',
  `flaky match ${junit}`,
  'flaky gate --max 0',
]

describe('the largest cost of a response', () => {
  const shapes = [
    ['deep', packed(deep(7 * mebibyte))],
    ['wide', packed(wide(7 * mebibyte))],
  ] as const
  testWith('time')(
    'every command ends soon and small when all answers are deep or wide',
    { timeout: 180_000 },
    async () => {
      const cases = shapes.flatMap(([shape, show]) => lines.map(line => ({ shape, show, line })))
      const work = async () => {
        for (let next = cases.shift(); next !== undefined; next = cases.shift()) {
          const { shape, show, line } = next
          await withFaultServer({ script: respondAlways(show) }, async server => {
            const came = await runBuiltProgram(server, line, { measured: true, skipFailureText: true })
            expectBounded(came, `${line}, ${shape}`)
            // A change is read back once; everything else asks once. `explain` reads the record and the
            // queue.
            expect(server.log.length, `${line}, ${shape}: requests`).toBeLessThanOrEqual(3)
          })
        }
      }
      await Promise.all([work(), work()])
    },
  )

  const tests = (bytes: number, name: string) =>
    JSON.stringify({
      tests: Array.from({ length: Math.floor(bytes / 1_000) }, (_, index) => ({
        id: `${id.slice(0, -8)}${10_000_000 + index}`,
        name: `${name} ${index} ${'x'.repeat(900)}`,
      })),
      page: {},
    })
  const digits = '12345678901234567890,'
  /** Bytes without end past the HTTP library, in pieces like this one. */
  const pours =
    (head: string, piece: string): Responder =>
    ({ socket }) => {
      socket.on('error', () => undefined)
      socket.write(head)
      const bytes = Buffer.from(piece.repeat(Math.ceil(100_000 / piece.length)))
      const more = () => {
        while (!socket.destroyed && socket.write(bytes));
      }
      socket.on('drain', more)
      more()
    }
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const hostile: readonly (readonly [name: string, line: string, show: Responder, code: number])[] = [
    ['60 MiB of lists in lists, in 61 KB', 'flaky list', packed(deep(60 * mebibyte)), 15],
    ['60 MiB of empty objects, in 61 KB', 'flaky list', packed(wide(60 * mebibyte)), 15],
    [
      '60 MiB of empty objects as tests',
      'flaky list',
      packed(filled('{},', 60 * mebibyte, '{"tests":[', ']}')),
      15,
    ],
    [
      'one text of 60 MiB',
      'flaky list',
      packed(filled('x', 60 * mebibyte, '{"tests":[{"name":"', '"}]}')),
      15,
    ],
    [
      '60 MiB of numbers of 20 digits',
      'flaky list',
      packed(filled(digits, 60 * mebibyte, '{"tests":[],"x":[', ']}')),
      15,
    ],
    ['60 MiB of good tests', 'flaky list --json', packed(tests(60 * mebibyte, 'test')), 15],
    ['30 MiB of good tests in Cyrillic', 'flaky list --json', packed(tests(30 * mebibyte, '\u0442')), 0],
    ['30 MiB of good tests', 'flaky list --json', packed(tests(30 * mebibyte, 'test')), 0],
    ['60 MiB of good tests', 'api getQueue --fields state', packed(tests(60 * mebibyte, 'test')), 15],
    [
      '8 MiB of numbers of 20 digits',
      'queue get --json',
      packed(filled(digits, 7.9 * mebibyte, '{"state":"running","enqueuedPullRequests":[],"x":[', ']}')),
      0,
    ],
    [
      'half a million tests without a name',
      'flaky list --json',
      packed(filled('{},', 1.4 * mebibyte, '{"tests":[', ']}')),
      15,
    ],
    [
      'the most tests, without a name',
      'flaky list --json',
      packed(`{"tests":[${'{},'.repeat(199_999)}{}],"page":{}}`),
      0,
    ],
    [
      'the most tests, with an id',
      'flaky list --sort name --json',
      packed(
        JSON.stringify({ tests: Array.from({ length: 200_000 }, (_, id) => ({ id: `${id}` })), page: {} }),
      ),
      0,
    ],
    [
      'a text of 7 MiB of C1 characters',
      'pr get 7',
      packed(filled('\u0090', 3.5 * mebibyte, '{"state":"pending","prTitle":"', '"}')),
      0,
    ],
    ['512 MiB in 0.5 MB', 'queue get', respondWithGzipBomb(512), 15],
    ['a body without end', 'queue get', respondEndlessly, 15],
    ['a body without end, as a list', 'flaky list', respondEndlessly, 15],
    ['a flood of pieces of one byte', 'queue get', pours(chunked, '1\r\n \r\n'), 15],
    ['a flood of pieces of one byte, as a list', 'flaky list', pours(chunked, '1\r\n \r\n'), 15],
    ['a piece whose head does not end', 'queue get', pours(`${chunked}1;a=`, 'x'), 15],
    ['early hints without end', 'queue get', pours('', 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n'), 15],
    [
      'headers without end',
      'queue get',
      pours('HTTP/1.1 200 OK\r\n', `x-filler: ${'x'.repeat(1_000)}\r\n`),
      15,
    ],
    ['a byte now and then', 'queue get --timeout 1s', respondByteByByte(' '.repeat(1_000), 100), 7],
  ]
  for (const [name, line, show, code] of hostile)
    testWith('time')(`${line}: ${name}`, { timeout: 60_000 }, async () => {
      await withFaultServer({ script: respondAlways(show) }, async server => {
        const retries = code === 7 ? ' --retries 0' : ''
        const came = await runBuiltProgram(server, `${line}${retries}`, {
          measured: true,
          skipFailureText: true,
        })
        expect({ code: came.code, requests: server.log.length }).toEqual({ code, requests: 1 })
        if (code !== 0) expectBounded(came, name)
        // The garbage collector of Node 22 and later frees memory later: the same run takes up to 340 MiB there.
        expect(came.memory, 'memory in MiB').toBeLessThan(isNode20 ? 300 : 360)
        expect(came.cpu, 'seconds of processor time').toBeLessThan(10)
      })
    })

  test.each([100, 250, 400, 600])(
    'a signal %i ms into a large answer ends the program within a second',
    async after => {
      const show = packed(tests(30 * mebibyte, 'test'))
      let kill: (signal: NodeJS.Signals) => void = () => undefined
      let sent = Number.NaN
      const sends: Responder = exchange => {
        setTimeout(() => {
          sent = performance.now()
          kill('SIGTERM')
        }, after)
        show(exchange)
      }
      await withFaultServer({ script: respondAlways(sends) }, async server => {
        const { code } = await runBuiltProgram(server, 'flaky list --json', {
          skipFailureText: true,
          intoFile: true,
          started: stop => {
            kill = stop
          },
        })
        const took = performance.now() - sent
        // It may have come to its end before; on a machine that does much else the signal itself comes late.
        if (!Number.isNaN(took)) expect(took, 'milliseconds').toBeLessThan(1_500)
        expect([0, 143]).toContain(code)
      })
    },
  )
})
