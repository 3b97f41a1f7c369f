import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { serviceOperations } from '../src/api/operations/index.ts'
import { maxBodySize } from '../src/domain/limits.ts'
import { parseSamples } from '../src/domain/metrics/exposition.ts'
import { scenarioNames } from '../src/domain/scenario-names.ts'
import type { Json, JsonObject } from '../src/json.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/sandbox/sandbox.ts'

const noon = Date.parse('2026-01-05T12:00:00.250Z')
const day = 86_400_000
const dialects = ['document', 'hosted'] as const

const repo = { host: 'github.com', owner: 'acme', name: 'web' }
const onQueue = { repo, targetBranch: 'main' }
const onPr = (number: number, more: JsonObject = {}) => ({ ...onQueue, pr: { number }, ...more })

const iso = (time: number): string => new Date(time).toISOString()

const failing = (start: number, end: number, page: JsonObject = { page_size: 100 }) => ({
  repo,
  org_url_slug: 'acme',
  start_time: iso(start),
  end_time: iso(end),
  page_query: page,
})

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

  /** Writes bytes to a port and reads until the other side is done. */
  const talk = (port: number, ...texts: readonly (string | Uint8Array)[]) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let heard = ''
      socket.on('data', chunk => {
        heard += chunk
      })
      socket.on('close', () => resolve(heard))
      socket.on('error', error => (heard === '' ? reject(error) : resolve(heard)))
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

  const fetched = ({ baseUrl }: Sandbox, operation: string, body: Json) =>
    fetch(`${baseUrl}/${operation}`, {
      method: 'POST',
      headers: { 'x-api-token': 'sandbox', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it.each(dialects)('N8: serves all thirteen operations in %s, and nothing else', async dialect => {
    let now = noon
    const sandbox = await start({ dialect, now: () => now })
    const list = failing(noon - day, noon)
    const { tests } = await fetched(sandbox, 'flaky-tests/list-failing-tests', list).then(
      answer => answer.json() as Promise<{ tests: { id: string }[] }>,
    )
    const release = { repo, targetBranch: 'release' }
    const calls: readonly [string, Json][] = [
      ['createQueue', release],
      ['updateQueue', { ...release, concurrency: 2 }],
      ['deleteQueue', release],
      ['submitPullRequest', onPr(1)],
      ['setImpactedTargets', onPr(1, { impactedTargets: 'ALL' })],
      ['getSubmittedPullRequest', onPr(1)],
      ['getMergeQueueTestingDetails', onPr(1)],
      ['restartTestsOnPullRequest', onPr(1)],
      ['cancelPullRequest', onPr(1)],
      ['getQueue', onQueue],
      ['flaky-tests/list-failing-tests', list],
      ['flaky-tests/get-test-details', { repo, org_url_slug: 'acme', test_id: tests[0]?.id ?? '' }],
    ]
    for (const [operation, body] of calls) {
      const answer = await fetched(sandbox, operation, body)
      expect([operation, answer.status, answer.headers.get('x-mergeq-sandbox')]).toEqual([
        operation,
        200,
        '1',
      ])
      await answer.text()
      now += 400
    }
    const metrics = await fetch(
      `${sandbox.baseUrl}/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com`,
      {
        headers: { 'x-api-token': 'sandbox' },
      },
    )
    expect(parseSamples(await metrics.text()).length).toBeGreaterThan(50)
    expect(calls.length + 1).toBe(serviceOperations.length)
    expect((await fetched(sandbox, 'unknownOperation', onQueue)).status).toBe(404)
  })

  it('tells what a client needs, and listens on loopback', async () => {
    const { port, baseUrl, token, repo: place, targetBranch, org } = await start()
    expect({ baseUrl, token, place, targetBranch, org }).toEqual({
      baseUrl: `http://127.0.0.1:${port}/v1`,
      token: 'sandbox',
      place: repo,
      targetBranch: 'main',
      org: 'acme',
    })
  })

  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1',
    'localhost:1',
    '127.0.0.1.evil.example:PORT',
    '0.0.0.0:PORT',
  ])('refuses the host %s and does nothing', async host => {
    const sandbox = await start()
    const submit = JSON.stringify(onPr(1))
    const heard = await talk(
      sandbox.port,
      post('/v1/submitPullRequest', submit, { host: host.replace('PORT', String(sandbox.port)) }),
    )
    expect(heard).toMatch(/^HTTP\/1.1 403 /)
    expect(heard.toLowerCase()).toContain('x-mergeq-sandbox: 1')
    expect((await fetched(sandbox, 'getSubmittedPullRequest', onPr(1))).status).toBe(404)
  })

  it('takes every name of loopback', async () => {
    const { port } = await start()
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])
      expect(
        await talk(port, post('/v1/getQueue', JSON.stringify(onQueue), { host: `${host}:${port}` })),
      ).toMatch(/^HTTP\/1.1 200 /)
  })

  it.each([{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }])(
    'refuses web pages: %j',
    async headers => {
      const { port } = await start()
      const call = post('/v1/getQueue', JSON.stringify(onQueue), { host: `localhost:${port}`, ...headers })
      expect(await talk(port, call)).toMatch(/^HTTP\/1.1 403 /)
      expect(await talk(port, call.replace('POST', 'OPTIONS'))).toMatch(/^HTTP\/1.1 403 /)
    },
  )

  it('refuses a body that is too large, announced or not, and lives on', async () => {
    const sandbox = await start()
    const host = `localhost:${sandbox.port}`
    const large = new Uint8Array(maxBodySize + 1).fill(32)
    const announced = await talk(
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
    expect(await talk(sandbox.port, endless, ...Array.from({ length: 60 }, () => piece))).toMatch(
      /^HTTP\/1.1 413 /,
    )
    expect((await fetched(sandbox, 'getQueue', onQueue)).status).toBe(200)
  })

  it('survives half a request and closes nevertheless', async () => {
    const sandbox = await startSandbox({ now: () => noon })
    const half = talk(sandbox.port, 'POST /v1/getQueue HTT')
    const stuck = talk(
      sandbox.port,
      post('/v1/getQueue', '', { host: `localhost:${sandbox.port}`, 'content-length': 100 }),
      '{',
    )
    expect((await fetched(sandbox, 'getQueue', onQueue)).status).toBe(200)
    await sandbox.close()
    await Promise.allSettled([half, stuck])
    await expect(fetched(sandbox, 'getQueue', onQueue)).rejects.toThrow()
  })

  it('names a port that is taken', async () => {
    const { port } = await start()
    await expect(start({ port })).rejects.toMatchObject({ kind: 'usage', message: `port ${port} is taken.` })
  })

  it('shares nothing with another', async () => {
    const [one, other] = [await start(), await start()]
    await fetched(one, 'submitPullRequest', onPr(1))
    expect((await fetched(other, 'getSubmittedPullRequest', onPr(1))).status).toBe(404)
  })

  it('plays a scenario by name or from a file, and knows no other', async () => {
    for (const scenario of scenarioNames) await start({ scenario })
    const sandbox = await start({
      scenario: 'mine.json',
      readScenario: async path => (path === 'mine.json' ? '{"settings":{"concurrency":7}}' : undefined),
    })
    expect(await (await fetched(sandbox, 'getQueue', onQueue)).json()).toMatchObject({ concurrency: 7 })
    await expect(start({ scenario: 'none' })).rejects.toMatchObject({ kind: 'usage' })
    await expect(start({ scenario: 'none', readScenario: async () => undefined })).rejects.toMatchObject({
      kind: 'usage',
    })
  })
})
