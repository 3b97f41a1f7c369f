import { describe, expect, test } from 'vitest'
import { scanJson } from '../../src/json.ts'
import { sanitizeLine } from '../../src/output/sanitize.ts'
import { withFaultServer } from '../support/fault-server.ts'
import { environmentFor, runAndCheck } from '../support/fault-server-runs.ts'
import { mergeq } from '../support/harness.ts'
import { respondWith } from '../support/responders.ts'
import { deep, filled, mebibyte, respondAlways } from '../support/response-cost.ts'

describe('a response over its limit is neither requested nor read again', () => {
  const reads = [
    'pr get 7',

    'queue get',
    'queue watch',
    'flaky list',
    'api getQueue',
  ]
  test.each(reads)('%s', line =>
    withFaultServer({ script: respondAlways(respondWith(200, deep(1_000))) }, async server => {
      const { code, sentence } = await runAndCheck(server, line, { skipFailureText: true })
      expect({ code, requests: server.log.length }).toEqual({ code: 15, requests: 1 })
      expect(sentence).toMatch(/is nested more than 200 levels deep/)
    }),
  )

  test('pr wait 7', () =>
    withFaultServer({ script: respondAlways(respondWith(200, deep(1_000))) }, async server => {
      const env = environmentFor(server)
      const { code, err } = await mergeq('pr wait 7 --interval 1s', { clock: server.clock, env })
      expect({ code, requests: server.log.length }).toEqual({ code: 15, requests: 1 })
      expect(err).toMatch(/is nested more than 200 levels deep/)
    }))

  test.each([
    ['pr submit 7', 2],
    ['pr cancel 7 --yes', 2],
    ['queue update --concurrency 2', 2],
    ['pr targets 7 a --no-sha', 1],
  ])('%s: the change is not sent again, and read back at most once', (line, requests) =>
    withFaultServer({ script: respondAlways(respondWith(200, deep(1_000))) }, async server => {
      const { code, out } = await runAndCheck(server, `${line} --json`, { skipFailureText: true })
      expect({ code, requests: server.log.length }).toEqual({ code: 11, requests })
      expect(JSON.parse(out)).toMatchObject({ delivery: 'unknown' })
    }),
  )

  test('a change whose response is over the limit is confirmed by a read', () =>
    withFaultServer(
      { script: { submitPullRequest: { effect: 'now', respond: respondWith(200, deep(1_000)) } } },
      async server => {
        const { code, out } = await runAndCheck(server, 'pr submit 7 --json')
        expect({ code, requests: server.log.length }).toEqual({ code: 0, requests: 2 })
        expect(JSON.parse(out)).toMatchObject({ delivery: 'confirmed-by-read' })
      },
    ))
})

describe('the size of a response', () => {
  const record = (bytes: number) => filled('x', bytes, '{"state":"running","prTitle":"', '"}')
  const asked = async (line: string, body: string) =>
    withFaultServer({ script: respondAlways(respondWith(200, body)) }, server =>
      runAndCheck(server, line, { skipFailureText: true }),
    )

  test('a queue has at most 8 MiB', async () => {
    const { code, sentence } = await asked('queue get', record(8 * mebibyte))
    expect({ code, sentence }).toEqual({ code: 15, sentence: expect.stringMatching(/is larger than 8 MiB/) })
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
  test('a text that does not end, ends the look', () => {
    expect(scanJson(`["${'\\'.repeat(1_001)}`).values).toBe(1)
  })
  test('other values than lists and objects are cheap', () => {
    for (const text of ['', ' ', '<html>[[[', `"${'['.repeat(300)}"`, '# HELP {{{'])
      expect(scanJson(text)).toMatchObject({ isDeep: false, values: 0 })
  })

  const answers = async (body: string, line: string) =>
    withFaultServer({ script: respondAlways(respondWith(200, body)) }, server =>
      runAndCheck(server, line, { skipFailureText: true }),
    )
  test('a response with more than 200,000 records is not read', async () => {
    const page = (count: number) =>
      `{"tests":[${Array.from({ length: count }, () => '{}').join(',')}],"page":{}}`
    const { code, sentence } = await answers(page(200_001), 'flaky list')
    expect(code).toBe(15)
    expect(sentence).toMatch(/contains more than 200,000 records/)
  })
  test('a response over 1 MiB has at most 1,048,576 values', async () => {
    const { code, sentence } = await answers(
      filled('1,', 3 * mebibyte, '{"tests":[],"x":[', '1]}'),
      'flaky list',
    )
    expect(code).toBe(15)
    expect(sentence).toMatch(/contains more than 1,048,576 values/)
  })
})

test.each([
  ['strings that do not end', '\u0090'.repeat(2_000_000)],
  ['strings that almost end', `${'\u0090'.repeat(1_000)}\u001Bx`.repeat(1_000)],
  ['sequences that do not end', '\u009B0'.repeat(500_000)],
])('text full of %s is made safe in linear time', (_, text) => {
  const began = performance.now()
  sanitizeLine(text)
  expect(performance.now() - began).toBeLessThan(3_000)
})
