import type { Setting } from './harness.ts'
import type { Answer } from './service.ts'

/** The repositories of the queues. */
export const names = Array.from({ length: 41 }, (_, index) => `r${String(index + 1).padStart(2, '0')}`)

export const limitedMetrics = [
  '# TYPE mq_depth_current gauge',
  ...names.map(name => `mq_depth_current{repo="acme/${name}",branch="main",queue_type="main"} 1`),
].join('\n')

/** How the service says when it takes requests again. */
export const ways = ['exact', 'too short', 'missing'] as const

const window = 10_000

/** A service with 41 queues that takes so many requests in ten seconds, and refuses the others. */
export function limitedService(perWindow: number, way: (typeof ways)[number], clock: { now: number }) {
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
