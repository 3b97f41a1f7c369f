import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import { scanJson } from '../../src/base/json.ts'
import { queue as place } from '../support/command-checks.ts'
import { mergeq, type Setting } from '../support/harness.ts'

const files = {
  'queue.yaml': 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 2\n',
  'junit.xml': '<testsuite><testcase name="a"><failure/></testcase></testsuite>',
}
const run = (line: string, body: string, setting: Setting = {}) =>
  mergeq(line, { files, env: place, answer: () => ({ body }), ...setting })

const deep = '['.repeat(1_000)

describe('a response over its limit is neither requested nor read again', () => {
  test.each([
    'pr get 7',
    'pr wait 7 --interval 1s',
    'pr explain 7',
    'queue get',
    'queue watch',
    'queue diff -f queue.yaml',
    'queue check --max-depth 3',
    'flaky list',
    'flaky match junit.xml',
    'flaky gate --max 0',
    'api getQueue',
  ])('%s', async line => {
    const { code, err, requests } = await run(line, deep)
    const most = line === 'pr explain 7' ? 2 : 1
    expect({ code, requests: requests.length }).toEqual({ code: 15, requests: most })
    expect(err).toMatch(/is nested more than 200 levels deep/)
  })

  test.each([
    ['pr submit 7', 2],
    ['queue delete --yes', 2],
    ['pr targets 7 a --no-sha', 1],
  ])('%s: the change is not sent again, and read back at most once', async (line, count) => {
    const { code, out, requests } = await run(`${line} --json`, deep)
    expect({ code, requests: requests.length }).toEqual({ code: 11, requests: count })
    expect(JSON.parse(out)).toMatchObject({ delivery: 'unknown' })
  })

  test('a change whose response is over the limit is confirmed by a read', async () => {
    const { code, out, requests } = await run('queue update --concurrency 2 --json', '', {
      answer: ({ path }) => ({
        body: path.endsWith('/getQueue') ? '{"concurrency":2,"enqueuedPullRequests":[]}' : deep,
      }),
    })
    expect({ code, requests: requests.length }).toEqual({ code: 0, requests: 2 })
    expect(JSON.parse(out)).toMatchObject({ delivery: 'confirmed-by-read' })
  })
})

describe('the cost of a response', () => {
  test('200 levels are read and 201 are not', () => {
    expect(scanJson('['.repeat(200) + ']'.repeat(200)).isDeep).toBe(false)
    expect(scanJson(` \n${'['.repeat(201)}`).isDeep).toBe(true)
  })

  test('values are counted, and records in lists of the document', () => {
    expect(scanJson('[1,2,3,4]')).toMatchObject({ values: 4, records: 0 })
    expect(scanJson('{"a":[{},{"b":[{}]}],"c":{"d":{}}}')).toMatchObject({ records: 2 })
  })

  test('brackets, commas and quotes in a text do not count', () => {
    const text = JSON.stringify([`${'['.repeat(300)},,,,"\\"`, 'x'])
    expect(scanJson(text)).toMatchObject({ isDeep: false, values: 2 })
  })

  test('other values than lists and objects are cheap', () => {
    for (const text of ['', ' ', '<html>[[[', `"${'['.repeat(300)}"`, '# HELP {{{'])
      expect(scanJson(text)).toMatchObject({ isDeep: false, values: 0 })
    expect(scanJson(`["${'\\'.repeat(1_001)}`).values, 'a text that does not end').toBe(1)
  })

  const records = (count: number) => `{"tests":[${'{},'.repeat(count - 1)}{}],"page":{}}`
  const values = `{"tests":[],"x":[${'1,'.repeat(1.5 * 1024 * 1024)}1],"page":{}}`
  const size = (bytes: number) => `{"state":"running","prTitle":"${'x'.repeat(bytes)}"}`
  test.each([
    ['flaky list', records(50_001), /contains more than 50,000 records/],
    ['flaky list', values, /contains more than 1,048,576 values/],
    ['queue get', size(8 * 1024 * 1024), /is larger than 8 MiB/],
  ])('%s is refused over its limit', async (line, body, why) => {
    const { code, err, requests } = await run(line, body)
    expect({ code, requests: requests.length }).toEqual({ code: 15, requests: 1 })
    expect(err).toMatch(why)
  })

  test('a list of the most records is read', async () => {
    const { code, out } = await run('flaky list --json', records(50_000))
    expect({ code, records: JSON.parse(out).tests.length }).toEqual({ code: 0, records: 50_000 })
  })

  test('the connection is closed as soon as a response is too large', async () => {
    let sent = 0
    const closed = new Promise<void>(resolve => {
      const answer: Setting['answer'] = () => (response, socket) => {
        const piece = Buffer.alloc(1024 * 1024, ' ')
        const more = () => {
          while (!socket.destroyed && response.write(piece)) sent += piece.length
        }
        socket.once('close', resolve)
        response.on('drain', more)
        more()
      }
      void run('queue get', '', { answer }).then(({ code, err }) => {
        expect({ code, err }).toEqual({ code: 15, err: expect.stringMatching(/is larger than 8 MiB/) })
      })
    })
    await closed
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })
})

test('a signal ends a large response between two steps of its reading', async () => {
  const tests = Array.from({ length: 30_000 }, (_, index) => ({ id: `${index}`, name: 'x'.repeat(900) }))
  const body = gzipSync(JSON.stringify({ tests, page: {} }))
  const stop = new AbortController()
  const printed: string[] = []
  const { code } = await mergeq('flaky list --json', {
    env: place,
    signal: stop.signal,
    screen: printed,
    answer: () => (response, socket) => {
      socket.setNoDelay(true)
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body, async () => {
        await pause(1)
        if (printed.length === 0)
          stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
      })
    },
  })
  expect(code).toBe(130)
})

test('a signal ends a long table between two of its rows', async () => {
  const tests = Array.from({ length: 2_000 }, (_, index) => ({ id: `${index}`, name: `test ${index}` }))
  const stop = new AbortController()
  const screen: string[] = []
  screen.push = () => {
    stop.abort(new MergeqError('interrupted', 'stopped by SIGTERM.', { exit: 143 }))
    return 0
  }
  const answer = () => ({ body: JSON.stringify({ tests, page: {} }) })
  const { code, out } = await mergeq('flaky list -o table --limit 2000', {
    env: place,
    signal: stop.signal,
    screen,
    answer,
  })
  expect(code).toBe(143)
  expect(out.split('\n').length).toBeLessThan(200)
})
