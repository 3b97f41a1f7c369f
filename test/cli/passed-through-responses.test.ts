import { describe, expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'
import { lines, long, serve } from '../support/passed-through-responses.ts'

describe.each(['metrics', 'api getMergeQueueMetrics'])('a short answer to %s', command => {
  test('that breaks is requested again, and nothing of the first response is printed', async () => {
    const short = lines(0, 100)
    const { env, asked } = await serve((response, index) => {
      response.setHeader('content-length', String(short.length))
      if (index === 0) response.write(short.slice(0, 500), () => response.destroy())
      else response.end(short)
    })
    expect(await mergeq(command, { env })).toMatchObject({ code: 0, out: short })
    expect(asked()).toBe(2)
  })
})

test('the status line and the headers precede a long response', async () => {
  const { env } = await serve(response => response.setHeader('x-one', '1').end(long))
  const { out } = await mergeq('api getMergeQueueMetrics --include', { env })
  expect(out.startsWith('HTTP 200\r\nx-one: 1\r\n')).toBe(true)
  expect(out.endsWith(`\r\n\r\n${long}`)).toBe(true)
})

test.each([
  ['a web page', `<!doctype html>${'<p>\n'.repeat(500_000)}`, /web page/],
  ['another text', `not metrics at all\n${long}`, /line 1 of the metrics/],
])('%s is not metrics, whatever its length: nothing is printed', async (_, body, why) => {
  const { env } = await serve(response => response.end(body))
  const { code, out, err } = await mergeq('metrics --retries 0', { env })
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
    const nothing = () => ({ body: '' })
    for (const terminal of [false, true])
      expect((await mergeq('metrics --json', { answer: nothing, terminal })).out).toBe('[]\n')
    expect((await mergeq('metrics -o csv', { answer: nothing })).out).toBe('name,labels,value\r\n')
    expect((await mergeq('metrics -o ndjson', { answer: nothing })).out).toBe('')
  })

  test('have each sample once, and one head', async () => {
    const ndjson = await mergeq('metrics -o ndjson', { answer })
    expect(ndjson.out).toBe(samples.map(sample => `${JSON.stringify(sample)}\n`).join(''))
    const csv = (await mergeq('metrics -o csv --fields name,value', { answer })).out.split('\r\n')
    expect([csv.length, csv[0], csv[1], csv[2_500]]).toEqual([
      2_502,
      'name,value',
      'mq_depth_current,0',
      'mq_depth_current,0',
    ])
    const cells = await mergeq('metrics --fields value', { answer })
    expect(cells.out).toBe(samples.map(({ value }) => `${value}\n`).join(''))
  })

  test('print nothing where a later line cannot be read', async () => {
    for (const format of ['--json', '-o ndjson', '-o csv', '-o markdown', '--fields name']) {
      const { code, out } = await mergeq(`metrics ${format}`, {
        answer: () => ({ body: `${lines(0, 2_500)}oops\n` }),
      })
      expect({ code, out }).toEqual({ code: 15, out: '' })
    }
  })
})
