import { createGzip, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { formatFlags } from '../support/commands.ts'
import { mergeq } from '../support/harness.ts'
import { slowTest } from '../support/sample.ts'
import type { ServerReply } from '../support/service.ts'

/** Lines of the text format with their number. */
const lines = (from: number, to: number) =>
  Array.from(
    { length: to - from },
    (_, index) => `mq_depth_current{repo="acme/web",branch="b-${from + index}"} ${(from + index) % 17}\n`,
  ).join('')

/** Some 2.5 MB: more than is written at once. */
const long = `# TYPE mq_depth_current gauge\n${lines(0, 50_000)}last 1`

/** Breaks after a part of the response, whose length is announced. */
const breaking =
  (length: number, part: string): ServerReply =>
  response => {
    response.writeHead(200, { 'content-length': length })
    response.write(part, () => response.destroy())
  }

describe.each(['metrics', 'api getMergeQueueMetrics --json'])('%s', command => {
  test('passes a long response on byte for byte, decompressed', async () => {
    const zipped = { headers: { 'content-encoding': 'gzip' }, body: gzipSync(long) }
    for (const reply of [{ body: long }, zipped])
      expect(await mergeq(command, { answer: () => reply })).toMatchObject({ code: 0, out: long, err: '' })
  })

  test('requests a response that breaks again, and prints nothing of the first', async () => {
    const { out, requests } = await mergeq(command, {
      answer: (_, index) => (index === 0 ? breaking(2 * long.length, long) : { body: long }),
    })
    expect({ isWhole: out === long, requests: requests.length }).toEqual({ isWhole: true, requests: 2 })
  })

  test('redacts a secret across any pieces of the response', async () => {
    const secret = 'tok_0123456789abcdef'
    const padded = `${long}\n${`# ${secret}\n`.repeat(5_000)}`
    const answer = (): ServerReply => async response => {
      for (let from = 0; from < padded.length; from += 65_521)
        await new Promise(resolve => response.write(padded.slice(from, from + 65_521), resolve))
      response.end()
    }
    const { out } = await mergeq(command, { answer, env: { MERGEQ_TOKEN: secret } })
    expect(out).toBe(padded.replaceAll(secret, '[REDACTED]'))
  })
})

slowTest('metrics over 16 MiB are not printed, and not requested again', { timeout: 60_000 }, async () => {
  const block = Buffer.from(lines(0, 20_000))
  const answer = (): ServerReply => response => {
    response.setHeader('content-encoding', 'gzip')
    const zip = createGzip({ level: 1 })
    zip.pipe(response)
    for (let sent = 0; sent < 24 * 1024 * 1024; sent += block.length) zip.write(block)
    zip.end()
  }
  const { code, out, err, requests } = await mergeq('metrics', { answer })
  expect({ code, out, requests: requests.length }).toEqual({ code: 15, out: '', requests: 1 })
  expect(err).toContain('is larger than 16 MiB.')
})

test('the status line and the headers precede a long response', async () => {
  const answer = () => ({ headers: { 'x-one': '1' }, body: long })
  const { out } = await mergeq('api getMergeQueueMetrics --include', { answer })
  expect(out.startsWith('HTTP 200\r\nx-one: 1\r\n')).toBe(true)
  expect(out.endsWith(`\r\n\r\n${long}`)).toBe(true)
})

test.each([
  ['a web page', `<!doctype html>${'<p>\n'.repeat(500_000)}`, /web page/],
  ['another text', `not metrics at all\n${long}`, /line 1 of the metrics/],
])('%s is not metrics, whatever its length: nothing is printed', async (_, body, why) => {
  const { code, out, err } = await mergeq('metrics --retries 0', { answer: () => ({ body }) })
  expect({ code, out }).toEqual({ code: 15, out: '' })
  expect(err).toMatch(/^mergeq: Invalid response from 127\.0\.0\.1:\d+: /)
  expect(err).toMatch(why)
})

describe('metrics in formats that read the text', () => {
  const samples = Array.from({ length: 2_500 }, (_, index) => ({
    name: 'mq_depth_current',
    type: 'untyped',
    labels: { repo: 'acme/web', branch: `b-${index}` },
    value: index % 17,
  }))
  const answer = () => ({ body: lines(0, 2_500) })

  test('are one JSON list, on a pipe and on a terminal', async () => {
    const piped = await mergeq('metrics --json', { answer })
    expect(piped.out).toBe(`${JSON.stringify(samples)}\n`)
    const shown = await mergeq('metrics --json', { answer, terminal: true })
    expect(shown.out).toBe(`${JSON.stringify(samples, null, 2)}\n`)
  })

  test('without a sample are an empty list, or a head alone', async () => {
    const outOf = async (format: string) =>
      (await mergeq(`metrics ${format}`, { answer: () => ({ body: '' }) })).out
    expect([await outOf('--json'), await outOf('-o csv')]).toEqual(['[]\n', 'name,labels,value\r\n'])
  })

  test('have each sample once, and one head', async () => {
    const ndjson = await mergeq('metrics -o ndjson', { answer })
    expect(ndjson.out).toBe(samples.map(sample => `${JSON.stringify(sample)}\n`).join(''))
    const csv = (await mergeq('metrics -o csv --fields name,value', { answer })).out.split('\r\n')
    expect([csv.length, ...csv.slice(0, 2)]).toEqual([2_502, 'name,value', 'mq_depth_current,0'])
  })

  test('print nothing if a later line cannot be read', async () => {
    for (const format of formatFlags.slice(1)) {
      const { code, out } = await mergeq(`metrics ${format}`, {
        answer: () => ({ body: `${lines(0, 2_500)}oops\n` }),
      })
      expect({ code, out }).toEqual({ code: 15, out: '' })
    }
  })
})
