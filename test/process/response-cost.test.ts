import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { testWith } from '../support/programs.ts'
import { type ServerReply, startTestServer } from '../support/service.ts'
import { openTestFolder } from '../support/test-folder.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())
const isNode20 = process.version.startsWith('v20.')
const mebibyte = 1024 * 1024

const packed = (bytes: Uint8Array, status = 200): ServerReply => ({
  status,
  headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
  body: bytes,
})

/** So many characters of a text that is repeated, between a head and a tail; only the first MiB is compressed. */
const filled = (unit: string, length: number, head = '', tail = '', status = 200): ServerReply => {
  const units = Math.ceil(length / unit.length) - 1
  const unitsOfMember = Math.floor(mebibyte / unit.length)
  const member = gzipSync(unit.repeat(unitsOfMember))
  const members = Array.from({ length: Math.floor(units / unitsOfMember) }, () => member)
  const rest = `${unit.repeat(units % unitsOfMember)}${unit.replace(/,$/, '')}${tail}`
  return packed(Buffer.concat([gzipSync(head), ...members, gzipSync(rest)]), status)
}

/** Bytes without end past the HTTP library, in pieces like this one. */
const pours =
  (head: string, piece: string): ServerReply =>
  (_, socket) => {
    socket.write(head)
    const bytes = Buffer.from(piece.repeat(Math.ceil(100_000 / piece.length)))
    const more = () => {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.on('drain', more)
    more()
  }
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

/** A text that is made of so many units. */
const filledWith = (unit: (index: number) => string, count: number, head = '', tail = ''): ServerReply =>
  packed(
    gzipSync(`${head}${Array.from({ length: count }, (_, index) => unit(index)).join('')}${tail}`, {
      level: 1,
    }),
  )

const queueDepth = (index: number) =>
  `mq_depth_current{repo="acme/web",branch="${'b'.repeat(100)}${index}"} 1\n`
const longName = 'x'.repeat(300)
const manyTests = filledWith(
  index => `{"id":"${index}","name":"${longName}"},`,
  49_000,
  '{"tests":[',
  '{}],"page":{"next_page_token":""}}',
)
const report = home.path('junit.xml')
writeFileSync(report, '<testsuite name="s"><testcase name="a"><failure/></testcase></testsuite>')

const goodTest = (name: string) => `{"id":"2b4e8d1c-93f0-4c57-8a3b-1f2e10000000","name":"${name}"},`

testWith('time').each<readonly [line: string, what: string, code: number, reply: () => ServerReply]>([
  ['flaky list', '15 MiB of empty tests', 15, () => filled('{},', 15 * mebibyte, '{"tests":[', ']}')],
  [
    'flaky list --json',
    '15 MiB of good tests in Cyrillic',
    0,
    () => filled(goodTest('т'.repeat(470)), 7.9 * mebibyte, '{"tests":[', '],"page":{}}'),
  ],
  [
    'pr get 7',
    'a text of 7 MiB of C1 characters',
    0,
    () => filled('\u0090', 3.5 * mebibyte, '{"state":"pending","prTitle":"', '"}'),
  ],
  [`flaky match ${report}`, 'three lists of 49,000 tests', 21, () => manyTests],
  ['queue list', '100,000 queues', 0, () => filledWith(queueDepth, 99_999)],
  [
    'api getQueue --include --retries 0',
    'an error with 63 MiB of words',
    6,
    () => filled('word ', 63 * mebibyte, '{"message":"', '"}', 400),
  ],
  ['api getQueue', '62 MiB of escapes in a text', 0, () => filled('\\u0041', 62 * mebibyte, '"', '"')],
  ['metrics --json', '15 MiB of samples', 15, () => filled('a{b="c"} 1\n', 15 * mebibyte)],
  ['queue get', '512 MiB in 0.5 MB', 15, () => filled(' ', 512 * mebibyte)],
  ['queue get', 'a flood of pieces of one byte', 15, () => pours(chunked, '1\r\n \r\n')],
  ['queue get', 'a piece whose head does not end', 15, () => pours(`${chunked}1;a=`, 'x')],
  ['queue get', 'early hints without end', 15, () => pours('', 'HTTP/1.1 103 Hints\r\nlink: <a>\r\n\r\n')],
])('`%s` takes little memory for %s', { timeout: 60_000 }, async (line, _, code, reply) => {
  const answer = reply()
  const service = kept(await startTestServer({ answer: () => answer }))
  const measure = home.path('measure')
  const result = await home.run(line.split(' '), {
    env: { MERGEQ_BASE_URL: service.baseUrl() },
    shell: `command time -f '%M %U' -o ${measure} "$@"`,
    timeLimit: 50_000,
  })
  const requests = line.startsWith('flaky match') ? 3 : 1
  expect({ code: result.code, requests: service.requests.length }).toEqual({ code, requests })
  const [memory = 0, cpu = 0] = readFileSync(measure, 'utf8').split('\n').at(-2)?.split(' ').map(Number) ?? []
  // The garbage collector of Node 22 and later frees memory later.
  expect(memory / 1024, 'memory in MiB').toBeLessThan(isNode20 ? 300 : 333)
  expect(cpu, 'seconds of processor time').toBeLessThan(10)
})

test('of 500 pages of tests, 100 MB, only the ids stay in memory', { timeout: 60_000 }, async () => {
  const name = 'n'.repeat(2_000)
  const answer = (_: unknown, index: number) => {
    const tests = Array.from({ length: 100 }, () => `{"id":"${randomUUID()}","name":"${name}"}`)
    return { body: `{"tests":[${tests}],"page":{"next_page_token":"${index < 499 ? `p${index}` : ''}"}}` }
  }
  const service = kept(await startTestServer({ answer }))
  const { code, err } = await home.run(['flaky', 'list', '-o', 'ndjson'], {
    env: { MERGEQ_BASE_URL: service.baseUrl(), NODE_OPTIONS: '--max-old-space-size=50' },
    shell: '"$@" >/dev/null',
    timeLimit: 50_000,
  })
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('50,000 tests') })
  expect(service.requests).toHaveLength(500)
})
