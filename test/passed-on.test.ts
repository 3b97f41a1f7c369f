import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGzip, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { mergeq } from './harness.ts'
import { bareEnvironment, launcher } from './programs.ts'

/** A line of the text format with its number. */
const line = (index: number) => `mq_depth_current{repo="acme/web",branch="b-${index}"} ${index % 17}\n`
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index)).join('')
/** Some 2.5 MB: more than is kept before it is passed on. */
const long = `# TYPE mq_depth_current gauge\n${lines(0, 50_000)}last 1`

let close: (() => void) | undefined
afterEach(() => {
  close?.()
  close = undefined
})

/** A service whose answers are written by hand; its base address, and how often it was asked. */
async function serve(answer: (response: ServerResponse, index: number) => void) {
  let asked = 0
  const server = createServer((_, response) => answer(response, asked++)).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  close = () => {
    server.closeAllConnections()
    server.close()
  }
  const env = { MERGEQ_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
  return { env, asked: () => asked }
}

const untouched = ['metrics', 'api getMergeQueueMetrics', 'api getMergeQueueMetrics --json']

describe.each(untouched)('a long answer to %s', command => {
  test('is passed on byte for byte', async () => {
    const { env } = await serve(response => response.end(long))
    expect(await mergeq(command, { env })).toMatchObject({ code: 0, out: long, err: '' })
  })

  test('is decompressed while it is passed on', async () => {
    const { env } = await serve(response => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(long))
    })
    expect(await mergeq(command, { env })).toMatchObject({ code: 0, out: long })
  })

  test('begins to be printed before it ends', async () => {
    let finish: (() => void) | undefined
    const { env } = await serve(response => {
      response.write(long)
      finish = () => response.end('\nend 1\n')
    })
    const folder = mkdtempSync(join(tmpdir(), 'mergeq-passed-'))
    try {
      const child = spawn(process.execPath, [launcher, ...command.split(' ')], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...bareEnvironment(folder), ...env, MERGEQ_TOKEN: 'test-token' },
      })
      let out = ''
      const done = new Promise(resolve => child.once('close', resolve))
      await new Promise<void>(resolve =>
        child.stdout.on('data', piece => {
          out += piece
          if (out.length > 1_500_000) resolve()
        }),
      )
      expect(long.startsWith(out)).toBe(true)
      finish?.()
      expect([await done, out]).toEqual([0, `${long}\nend 1\n`])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('that breaks after a part was printed ends as one that was cut, with whole lines, and is not repeated', async () => {
    const { env, asked } = await serve(response => {
      response.setHeader('content-length', String(2 * long.length))
      response.write(long, () => response.destroy())
    })
    const { code, out, err } = await mergeq(command, { env })
    expect({ code, asked: asked() }).toEqual({ code: 15, asked: 1 })
    expect(out.length).toBeGreaterThan(1_000_000)
    expect(long.startsWith(out) && out.endsWith('\n')).toBe(true)
    expect(err).toMatch(
      /getMergeQueueMetrics: the answer of 127\.0\.0\.1:\d+ was cut\. A part of it was printed\./,
    )
  })

  test('that is too large is cut at 64 MiB, and is not repeated', { timeout: 60_000 }, async () => {
    const block = Buffer.from(lines(0, 20_000))
    const { env, asked } = await serve(response => {
      response.setHeader('content-encoding', 'gzip')
      const zip = createGzip({ level: 1 })
      zip.pipe(response)
      for (let sent = 0; sent < 80 * 1024 * 1024; sent += block.length) zip.write(block)
      zip.end()
    })
    const { code, out, err } = await mergeq(command, { env })
    expect({ code, asked: asked() }).toEqual({ code: 15, asked: 1 })
    expect(out.length).toBeLessThanOrEqual(64 * 1024 * 1024)
    expect(err).toContain('is larger than 64 MiB. A part of it was printed.')
  })

  test('hides a secret wherever the pieces of the answer end', async () => {
    const secret = 'tok_0123456789abcdef'
    const padded = `${long}\n${`# ${secret}\n`.repeat(5_000)}`
    const { env } = await serve(async response => {
      for (let from = 0; from < padded.length; from += 65_521)
        await new Promise(resolve => response.write(padded.slice(from, from + 65_521), resolve))
      response.end()
    })
    const { out } = await mergeq(command, { env: { ...env, MERGEQ_TOKEN: secret } })
    expect(out).toBe(padded.replaceAll(secret, '[REDACTED]'))
  })
})

describe.each(['metrics', 'api getMergeQueueMetrics'])('a short answer to %s', command => {
  test('that breaks is asked for again, and nothing of the first one is printed', async () => {
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

test('the status line and the headers stand before a long answer', async () => {
  const { env } = await serve(response => response.setHeader('x-one', '1').end(long))
  const { out } = await mergeq('api getMergeQueueMetrics --include', { env })
  expect(out.startsWith('HTTP 200\r\nx-one: 1\r\n')).toBe(true)
  expect(out.endsWith(`\r\n\r\n${long}`)).toBe(true)
})

test.each([
  ['a web page', `<!doctype html>${'<p>\n'.repeat(500_000)}`, /web page/],
  ['another text', `not metrics at all\n${long}`, /line 1 of the metrics/],
])('%s is no metrics, however long: nothing is printed', async (_, body, why) => {
  const { env } = await serve(response => response.end(body))
  const { code, out, err } = await mergeq('metrics --retries 0', { env })
  expect({ code, out }).toEqual({ code: 15, out: '' })
  expect(err).toMatch(/^mergeq: getMergeQueueMetrics: 127\.0\.0\.1:\d+: /)
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
