import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGzip, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'
import { lines, long, serve } from '../support/passed-through-responses.ts'
import { bareEnvironment, launcher } from '../support/programs.ts'

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
    expect(err).toMatch(/The response from 127\.0\.0\.1:\d+ was cut off\. Part of the response was printed\./)
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
    expect(err).toContain('is larger than 64 MiB. Part of the response was printed.')
  })

  test('redacts a secret across any pieces of the response', async () => {
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
