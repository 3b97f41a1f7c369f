import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { createCertificateAuthority } from '../support/certificates.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { blocksOf } from '../support/code-blocks.ts'
import { bareEnvironment, testWith } from '../support/programs.ts'
import { freePort, type Script, startTestServer } from '../support/service.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestProxy } from '../support/test-proxy.ts'

const kept = closeAfterTests()

/** How much faster time passes for the server than for the test. */
const speed = 25

/** Lets time pass faster in a process: how long a sleep lasts, and what its clocks show. */
const faster = `
  const timers = require('node:timers/promises')
  const { syncBuiltinESMExports } = require('node:module')
  const sleep = timers.setTimeout
  timers.setTimeout = (ms, ...rest) => sleep(ms / ${speed}, ...rest)
  const [now, uptime, start] = [Date.now, process.uptime.bind(process), Date.now()]
  Date.now = () => Math.round(start + (now() - start) * ${speed})
  process.uptime = () => uptime() * ${speed}
  syncBuiltinESMExports()
`

const pulls = Array.from({ length: 20 }, (_, index) => index + 1)

/** When the queue refuses a reading, and when it merges all, in seconds of the server after all waits have begun. */
const [limitedAfter, mergedAfter] = [40, 120]
const retryAfter = 20

/** A queue that tests what is submitted, refuses one reading of it with 429, and merges all at once. */
function createQueue() {
  const submitted = new Set<number>()
  const seen: { readonly operation: string; readonly status: number; readonly at: number }[] = []
  let begun = Number.POSITIVE_INFINITY
  const now = () => (performance.now() * speed) / 1_000
  const record = (pr: number, state: string) => ({
    id: `id-${pr}`,
    prNumber: pr,
    state,
    stateChangedAt: new Date().toISOString(),
    isCurrentlySubmittedToQueue: state === 'TESTING',
  })
  const reply = (operation: string, body: string): { readonly status: number; readonly body: object } => {
    const state = now() > begun + mergedAfter ? 'MERGED' : 'TESTING'
    if (operation === 'getQueue') {
      if (now() > begun + limitedAfter && seen.every(({ status }) => status === 200))
        return { status: 429, body: {} }
      const entries = state === 'MERGED' ? [] : [...submitted].map(pr => record(pr, state))
      return { status: 200, body: { state: 'RUNNING', enqueuedPullRequests: entries } }
    }
    const pr: number = JSON.parse(body).pr.number
    if (operation === 'getSubmittedPullRequest') return { status: 200, body: record(pr, state) }
    submitted.add(pr)
    return { status: 200, body: {} }
  }
  const answer: Script = ({ path, body }) => {
    const operation = path.split('/').at(-1) ?? ''
    const { status, body: document } = reply(operation, body)
    seen.push({ operation, status, at: now() })
    const headers = status === 429 ? { 'retry-after': String(retryAfter) } : undefined
    return { status, body: JSON.stringify(document), ...(headers && { headers }) }
  }
  return {
    answer,
    /** All waits have begun. */
    begin() {
      begun = now()
    },
    /** When an operation was requested, in seconds after all waits had begun, and with which status it was answered. */
    requests: (operation: string) =>
      seen.filter(one => one.operation === operation).map(({ status, at }) => ({ status, at: at - begun })),
  }
}

testWith('openssl')(
  'the server of the guide waits for 20 pull requests behind a proxy, with one reading of the queue a round',
  { timeout: 60_000 },
  async () => {
    const folder = kept(openTestFolder())
    const authority = createCertificateAuthority(folder, 'ca')
    const name = 'queue.acme.test'
    const queue = createQueue()
    const service = kept(await startTestServer({ tls: authority.issue(`DNS:${name}`), answer: queue.answer }))
    const proxy = kept(await startTestProxy({ routes: new Map([[`${name}:${service.port}`, service.port]]) }))
    const place = folder.path('bot')
    mkdirSync(join(place, 'node_modules'), { recursive: true })
    symlinkSync(resolve('.'), join(place, 'node_modules/mergeq'))
    const blocks = blocksOf('docs/library.md').filter(({ heading }) => heading === 'On a server')
    expect(blocks).toHaveLength(1)
    for (const { text } of blocks) writeFileSync(join(place, 'server.mjs'), text)
    writeFileSync(join(place, 'faster.cjs'), faster)
    const port = await freePort()
    const env = {
      ...bareEnvironment(place),
      PORT: String(port),
      MERGEQ_BASE_URL: service.baseUrl(name),
      MERGEQ_TOKEN: 'tok_4f2a9c1e77d0b6aa',
      HTTPS_PROXY: `http://${proxy.host}`,
      NODE_EXTRA_CA_CERTS: authority.file,
    }
    const server = spawn(process.execPath, ['--require', './faster.cjs', 'server.mjs'], { cwd: place, env })
    kept({ close: () => server.kill('SIGKILL') })
    let said = ''
    server.stderr.on('data', piece => {
      said += piece
    })
    const isOpen = () =>
      new Promise<boolean>(done => {
        const socket = connect(port, '127.0.0.1', () => done(true)).on('error', () => done(false))
        socket.on('connect', () => socket.destroy())
      })
    while (!(await isOpen())) await pause(20)

    const ask = async (body: string) => {
      const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body })
      return [response.status, await response.text()]
    }
    expect(await ask('main')).toEqual([400, "'main' is not a pull request."])
    const answers = pulls.map(pr => ask(`acme/web#${pr}`))
    while (new Set(said.match(/^#\d+ TESTING/gm)).size < pulls.length) await pause(10)
    queue.begin()
    for (const [index, answer] of answers.entries())
      expect(await answer).toEqual([200, expect.stringMatching(new RegExp(`^#${index + 1} merged after`))])

    const reads = queue.requests('getQueue')
    const [limited, ...others] = reads.filter(({ status }) => status === 429)
    expect(others).toEqual([])
    // Each wait reads once after its submission; then one reading serves all, from half a round on: 15 to 30 seconds.
    expect(reads.filter(({ at }) => at < 0).length).toBeLessThan(45)
    const rounds = reads.filter(({ at }) => at > 15 && at < mergedAfter)
    expect(rounds.length).toBeGreaterThanOrEqual(3)
    expect(rounds.length).toBeLessThanOrEqual(8)
    // The pause of one is that of all.
    const afterLimit = reads.find(({ at }) => at > (limited?.at ?? 0))
    expect((afterLimit?.at ?? 0) - (limited?.at ?? 0)).toBeGreaterThanOrEqual(retryAfter - 1)
    // Once each has left the queue, its wait reads how.
    expect(queue.requests('submitPullRequest')).toHaveLength(pulls.length)
    expect(queue.requests('getSubmittedPullRequest').length).toBeLessThanOrEqual(pulls.length + 2)

    expect(proxy.connectRequests).toHaveLength(service.connectionCount())
    expect(proxy.otherRequests).toEqual([])
    expect(said).toMatch(/\(429\)\. Still waiting\.\n[\s\S]*The service responds again after/)
    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  },
)
