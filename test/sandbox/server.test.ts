import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { maxBodySize } from '../../src/api/limits.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { mergeq, openStory } from '../support/harness.ts'
import { operationExamples, testId } from '../support/operations.ts'
import { dialects, noon, onPr, onQueue } from '../support/sandbox-service.ts'

describe('the server', () => {
  const start = async (options: Partial<SandboxOptions> = {}) => {
    const sandbox = await startSandbox({ now: () => noon, ...options })
    onTestFinished(() => sandbox.close())
    return sandbox
  }

  /** Sends bytes to a port and returns what is received until the connection closes. */
  const sendRaw = (port: number, ...texts: readonly string[]) =>
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
  })

  // The form of the request is that of the action of the vendor (docs/reference/service.md, "setImpactedTargets").
  it.each(dialects)(
    'takes targets as the action of the vendor sends them, in the %s dialect',
    async dialect => {
      const sandbox = await start({ dialect })
      const upload = (credentials: Readonly<Record<string, string>>, pr: JsonObject, targets: Json) =>
        fetch(`${sandbox.baseUrl}/setImpactedTargets`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...credentials },
          body: JSON.stringify({ ...onQueue, pr: { sha: 'f'.repeat(40), ...pr }, impactedTargets: targets }),
        }).then(({ status }) => status)
      const token = { 'x-api-token': 'sandbox', 'x-forked-workflow-run-id': '' }
      const run = { 'x-api-token': '', 'x-forked-workflow-run-id': '1234' }
      expect(await upload(token, { number: '7' }, ['//cart:lib'])).toBe(200)
      expect(await upload(run, { number: '7' }, 'ALL')).toBe(200)
      expect(await upload({ ...token, 'x-api-token': '' }, { number: '7' }, [])).toBe(401)
      expect(await upload({ ...run, 'x-api-token': 'wrong' }, { number: '7' }, [])).toBe(401)
      expect(await upload(token, { number: 'seven' }, [])).toBe(400)
      expect(await upload(token, { number: '0' }, [])).toBe(400)
    },
  )

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

  it('rejects a body that is too large, and continues to serve', async () => {
    const sandbox = await start()
    const size = maxBodySize + 1
    const headers = { host: `localhost:${sandbox.port}`, 'content-length': size }
    const received = await sendRaw(sandbox.port, post('/v1/getQueue', '', headers), ' '.repeat(size))
    expect(received).toMatch(/^HTTP\/1.1 413 /)
    expect((await postJson(sandbox, 'getQueue', onQueue)).status).toBe(200)
  })

  it('names a port that is in use', async () => {
    const { port } = await start()
    const { code, out, err } = await mergeq(`sandbox start --port ${port}`)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(new RegExp(`^mergeq: .*Port ${port} is already in use`))
  })
})

/** What a service does that has the operations of the API document and no others. */
it('does the main job where only the operations of the API document exist', async () => {
  const story = await openStory({ dialect: 'document', scenario: 'failure' })
  expect(await story.mergeq('pr submit 7 9')).toMatchObject({ code: 0 })
  expect(await story.mergeq('pr wait 7 --interval 1s --json')).toMatchObject({
    code: 0,
    out: expect.stringContaining('"outcome":"merged"'),
  })
  expect(await story.mergeq('pr wait 7 9 --interval 1s')).toMatchObject({ code: 3 })
  expect(await story.mergeq('pr explain 9')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^verdict\tdropped/),
  })
  expect(await story.mergeq('queue get --json')).toMatchObject({
    code: 0,
    out: expect.stringContaining('"state":"RUNNING"'),
  })
  expect(await story.mergeq('queue explain')).toMatchObject({ code: 0 })
  expect(await story.mergeq('flaky list --since 1d --limit 1')).toMatchObject({ code: 0 })
  expect(await story.mergeq('metrics')).toMatchObject({ code: 0, out: expect.stringContaining('mq_') })
  for (const line of ['pr list', 'queue runs', 'flaky quarantined'])
    expect(await story.mergeq(line)).toMatchObject({
      code: 5,
      out: '',
      err: expect.stringContaining('Only the hosted service has the operation'),
    })
})
