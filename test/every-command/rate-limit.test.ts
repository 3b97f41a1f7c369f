import { expect, test } from 'vitest'
import { virtualClock } from '../support/faulty-sandbox.ts'
import { mergeq, noon } from '../support/harness.ts'
import { limitedMetrics, limitedService, names, ways } from '../support/limited-service.ts'
import type { Answer } from '../support/service.ts'

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
  const { code, err } = await mergeq('queue check --all', {
    clock,
    answer: ({ path }) => (/Metrics/.test(path) ? { body: limitedMetrics } : limited('50')),
  })
  expect({ code, minutes: Math.round((clock.now - noon) / 60_000) }, err).toEqual({ code: 7, minutes: 10 })
  expect(err).toMatch(/: 41 queues were not reached; it asks to wait until 2026-01-05T12:10:/)
  const later = virtualClock(noon)
  const once = await mergeq('queue check --all --retries 0', {
    clock: later,
    answer: ({ path }) => (/Metrics/.test(path) ? { body: limitedMetrics } : limited('50')),
  })
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
