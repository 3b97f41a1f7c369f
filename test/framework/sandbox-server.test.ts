import { connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { maxBodySize } from '../../src/domain/limits.ts'
import type { Json, JsonObject } from '../../src/json.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { mergeq, openStory } from '../support/harness.ts'
import { operationExamples, testId } from '../support/operations.ts'

const noon = Date.parse('2026-01-05T12:00:00.250Z')
const dialects = ['document', 'hosted'] as const

const repo = { host: 'github.com', owner: 'acme', name: 'web' }
const onQueue = { repo, targetBranch: 'main' }
const onPr = (number: number, more: JsonObject = {}) => ({ ...onQueue, pr: { number }, ...more })

describe('the server', () => {
  const open: Sandbox[] = []
  const start = async (options: Partial<SandboxOptions> = {}) => {
    const sandbox = await startSandbox({ now: () => noon, ...options })
    open.push(sandbox)
    return sandbox
  }
  afterEach(async () => {
    await Promise.all(open.splice(0).map(sandbox => sandbox.close()))
  })

  /** Sends bytes to a port and returns what is received until the connection closes. */
  const sendRaw = (port: number, ...texts: readonly (string | Uint8Array)[]) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let received = ''
      socket.on('data', chunk => {
        received += chunk
      })
      socket.on('close', () => resolve(received))
      socket.on('error', error => (received === '' ? reject(error) : resolve(received)))
      for (const text of texts) socket.write(text)
    })

  const post = (path: string, body: string, headers: Readonly<Record<string, string | number>>) =>
    `POST ${path} HTTP/1.1\r\nConnection: close\r\n${Object.entries({
      'x-api-token': 'sandbox',
      'content-length': body.length,
      ...headers,
    })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${body}`

  const postJson = ({ baseUrl }: Sandbox, operation: string, body: Json) =>
    fetch(`${baseUrl}/${operation}`, {
      method: 'POST',
      headers: { 'x-api-token': 'sandbox', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it.each(dialects)('serves all operations in the %s dialect, and nothing else', async dialect => {
    const story = await openStory({ dialect, scenario: 'slow' })
    const { out } = await story.mergeq('flaky list --fields id --limit 1')
    for (const { name, line } of operationExamples) {
      // It was cancelled meanwhile, and is tested soon.
      expect((await story.mergeq('pr submit 7')).code).toBe(0)
      story.clock.now += 400
      const id = name === 'getMergeQueueTestingDetails' ? '--pr 7' : out.trim()
      const branch = name.endsWith('Queue') ? '-b release' : ''
      const { code, err } = await story.mergeq(`${line.replace(testId, id)} ${branch}`)
      expect({ name, code, err: code === 0 ? '' : err }).toEqual({ name, code: 0, err: '' })
    }
    expect((await story.mergeq('api unknownOperation')).code).toBe(5)
    await story.close()
  })

  it('refuses every other host and does nothing', async () => {
    const sandbox = await start()
    for (const host of [
      'evil.example',
      'evil.example:PORT',
      '127.0.0.1',
      'localhost:1',
      '127.0.0.1.evil.example:PORT',
      '0.0.0.0:PORT',
    ]) {
      const headers = { host: host.replace('PORT', String(sandbox.port)) }
      const submit = post('/v1/submitPullRequest', JSON.stringify(onPr(1)), headers)
      const received = await sendRaw(sandbox.port, submit)
      expect(received, host).toMatch(/^HTTP\/1.1 403 /)
      expect(received.toLowerCase()).toContain('x-mergeq-sandbox: 1')
    }
    expect((await postJson(sandbox, 'getSubmittedPullRequest', onPr(1))).status).toBe(404)
  })

  it('accepts every name of loopback', async () => {
    const { port } = await start()
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])
      expect(
        await sendRaw(port, post('/v1/getQueue', JSON.stringify(onQueue), { host: `${host}:${port}` })),
      ).toMatch(/^HTTP\/1.1 200 /)
  })

  it.each([{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }])(
    'refuses web pages: %j',
    async headers => {
      const { port } = await start()
      const call = post('/v1/getQueue', JSON.stringify(onQueue), { host: `localhost:${port}`, ...headers })
      expect(await sendRaw(port, call)).toMatch(/^HTTP\/1.1 403 /)
      expect(await sendRaw(port, call.replace('POST', 'OPTIONS'))).toMatch(/^HTTP\/1.1 403 /)
    },
  )

  it('rejects a body that is too large, with or without Content-Length, and continues to serve', async () => {
    const sandbox = await start()
    const host = `localhost:${sandbox.port}`
    const large = new Uint8Array(maxBodySize + 1).fill(32)
    const announced = await sendRaw(
      sandbox.port,
      post('/v1/getQueue', '', { host, 'content-length': large.length }),
      large,
    )
    expect(announced).toMatch(/^HTTP\/1.1 413 /)
    const endless = post('/v1/getQueue', '', { host, 'transfer-encoding': 'chunked' }).replace(
      /content-length: 0\r\n/,
      '',
    )
    const piece = `100000\r\n${' '.repeat(0x100000)}\r\n`
    const sending = sendRaw(sandbox.port, endless, ...Array.from({ length: 60 }, () => piece))
    // Windows drops a response that was not read yet when the connection is reset.
    const isLost = (error: NodeJS.ErrnoException) =>
      process.platform === 'win32' && error.code === 'ECONNRESET' ? 'HTTP/1.1 413 ' : Promise.reject(error)
    expect(await sending.catch(isLost)).toMatch(/^HTTP\/1.1 413 /)
    expect((await postJson(sandbox, 'getQueue', onQueue)).status).toBe(200)
  })

  it('keeps nothing of the body of a request without the token', async () => {
    const { port } = await start()
    const headers = { host: `localhost:${port}`, 'x-api-token': 'another', 'content-length': 1_000_000 }
    const concat = vi.spyOn(Buffer, 'concat')
    expect(await sendRaw(port, post('/v1/getQueue', '', headers), new Uint8Array(1_000_000))).toMatch(
      /^HTTP\/1.1 401 /,
    )
    const kept = concat.mock.calls.flatMap(([chunks]) => chunks.map(({ length }) => length))
    expect(kept.every(length => length < 10_000)).toBe(true)
    concat.mockRestore()
  })

  it('keeps serving after an incomplete request, and closes', async () => {
    const sandbox = await startSandbox({ now: () => noon })
    const half = sendRaw(sandbox.port, 'POST /v1/getQueue HTT')
    const stuck = sendRaw(
      sandbox.port,
      post('/v1/getQueue', '', { host: `localhost:${sandbox.port}`, 'content-length': 100 }),
      '{',
    )
    expect((await postJson(sandbox, 'getQueue', onQueue)).status).toBe(200)
    await sandbox.close()
    await Promise.allSettled([half, stuck])
    await expect(postJson(sandbox, 'getQueue', onQueue)).rejects.toThrow()
  })

  it('names a port that is in use', async () => {
    const { port } = await start()
    const { code, out, err } = await mergeq(`sandbox start --port ${port}`)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(new RegExp(`^mergeq: .*Port ${port} is already in use`))
  })
})
