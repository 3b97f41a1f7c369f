import { expect, test } from 'vitest'
import { virtualClock } from '../support/faulty-sandbox.ts'
import { mergeq, noon, type Setting } from '../support/harness.ts'
import type { Answer } from '../support/service.ts'

/** The repositories of the queues. */
const names = Array.from({ length: 41 }, (_, index) => `r${String(index + 1).padStart(2, '0')}`)

const limitedMetrics = [
  '# TYPE mq_depth_current gauge',
  ...names.map(name => `mq_depth_current{repo="acme/${name}",branch="main",queue_type="main"} 1`),
].join('\n')

/** How the service says when it takes requests again. */
const ways = ['exact', 'too short', 'missing'] as const

const window = 10_000

/** A service with 41 queues that takes so many requests in ten seconds, and refuses the others. */
function limitedService(perWindow: number, way: (typeof ways)[number], clock: { now: number }) {
  const states = new Map<string, string>()
  const answered = new Set<string>()
  let [current, count, refused, early, toldAt, toldUntil] = [-1, 0, 0, 0, 0, 0]

  function refuse(headers: Readonly<Record<string, string>>): Answer {
    refused++
    if (way === 'missing') return { status: 429, headers }
    const left = window - (clock.now % window)
    const seconds = way === 'exact' ? Math.ceil(left / 1_000) : Math.floor(left / 2_000)
    toldAt = clock.now
    toldUntil = Math.max(toldUntil, clock.now + seconds * 1_000)
    return { status: 429, headers: { ...headers, 'retry-after': String(seconds) } }
  }

  const answer: NonNullable<Setting['answer']> = ({ path, body }): Answer => {
    const index = Math.floor(clock.now / window)
    if (index !== current) [current, count] = [index, 0]
    // What was sent before the first refusal could not know of it.
    if (clock.now > toldAt && clock.now < toldUntil) early++
    const headers = { date: new Date(clock.now).toUTCString() }
    if (++count > perWindow) return refuse(headers)
    if (/Metrics/.test(path)) return { headers, body: limitedMetrics }
    const { repo, state } = JSON.parse(body)
    if (/TestingResults$/.test(path)) return { headers, body: '{"testingResults":[],"totalItems":0}' }
    if (/listPullRequests$/.test(path)) return { headers, body: '{"pullRequests":[]}' }
    if (!/(?:get|update)Queue$/.test(path)) return { status: 404, headers, body: 'Not Found' }
    answered.add(repo.name)
    if (state !== undefined) states.set(repo.name, state)
    const queue = {
      state: states.get(repo.name) ?? 'running',
      branch: 'main',
      mode: 'single',
      concurrency: 1,
    }
    return { headers, body: JSON.stringify({ ...queue, enqueuedPullRequests: [] }) }
  }
  return {
    answer,
    /** Of the requests: refused, and sent while the service had asked to wait; and the queues that were answered. */
    counts: () => ({ refused, early, answered: answered.size }),
  }
}

const lines = [
  'queue pause --all --yes',
  'queue drain --all --yes',
  'queue check --all',
  'queue resume --all --yes',
  'queue list --include-state',
  'queue report --all',
  'queue runs --all -o ndjson',
  'queue explain --all',
  'queue wait --all --timeout 10m',
  'queue watch --all -o ndjson --for 2m',
]

test.each(lines.flatMap(line => ways.map((way, index) => ({ line, way, perWindow: index === 1 ? 30 : 20 }))))(
  '$line, $perWindow requests in 10 s, Retry-After $way',
  async ({ line, way, perWindow }) => {
    const clock = virtualClock(noon)
    const { answer, counts } = limitedService(perWindow, way, clock)
    const { code, err } = await mergeq(line, { answer, clock })
    expect({ code, ...counts() }, err).toMatchObject({ code: 0, early: 0, answered: names.length })
    expect(clock.now - noon).toBeLessThan(5 * 60_000)
  },
)

const limited = (retryAfter: string): Answer => ({ status: 429, headers: { 'retry-after': retryAfter } })
const refusing: NonNullable<Setting['answer']> = ({ path }) =>
  /Metrics/.test(path) ? { body: limitedMetrics } : limited('50')

test('a Retry-After of more than a minute ends the command at once, and says how many wait until when', async () => {
  const clock = virtualClock(noon)
  const { answer } = limitedService(1_000, 'exact', clock)
  const { code, out, err, requests, sleeps } = await mergeq('queue pause --all --yes', {
    clock,
    answer: (seen, index) => (index < 30 ? answer(seen, index) : limited('300')),
  })
  const changed = out.split('\n').filter(row => /\tchanged\t/.test(row)).length
  expect({ code, sleeps }).toEqual({ code: 7, sleeps: [] })
  expect(requests.length, 'those that were under way').toBeLessThan(35)
  expect(err).toContain(
    ` reported that the rate limit was exceeded (429): ${41 - changed} queues were not reached; it asks to wait until 2026-01-05T12:05:00Z.\n`,
  )
})

test('a rate limit is outlasted for ten minutes in all, and not with --retries 0', async () => {
  const clock = virtualClock(noon)
  const { code, err } = await mergeq('queue check --all', { clock, answer: refusing })
  expect({ code, minutes: Math.round((clock.now - noon) / 60_000) }, err).toEqual({ code: 7, minutes: 10 })
  expect(err).toMatch(/: 41 queues were not reached; it asks to wait until 2026-01-05T12:10:/)
  expect(err.match(/retrying in 50\.0s/g), 'one for all requests of a pause').toHaveLength(12)
  const later = virtualClock(noon)
  const once = await mergeq('queue check --all --retries 0', { clock: later, answer: refusing })
  const bodies = once.requests.map(({ body }) => body)
  expect({ code: once.code, repeated: bodies.length - new Set(bodies).size }).toEqual({
    code: 7,
    repeated: 0,
  })
  expect(later.now - noon).toBeLessThanOrEqual(10 * 60_000)
})

test('other failures are repeated ten times at most, whatever was limited before', async () => {
  const clock = virtualClock(noon)
  const { code, requests } = await mergeq('queue check --all --retries 9', {
    clock,
    answer: ({ path }, index) => {
      if (/Metrics/.test(path)) return { body: limitedMetrics }
      return index < 6 ? limited('1') : { status: 503 }
    },
  })
  expect({ code, requests: requests.length }).toEqual({ code: 7, requests: 1 + 41 + 5 + 10 })
})
