import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, noon, type Seen, type Setting } from '../../support/harness.ts'

const names = Array.from({ length: 60 }, (_, index) => `r${index}`)
const filesOf = (some: readonly string[]) =>
  Object.fromEntries(some.map(name => [`q/${name}.yaml`, `repo: acme/${name}\ntargetBranch: main\n`]))
const minute = 60_000
const iso = (time: number) => new Date(time).toISOString()

interface Pull {
  readonly pr: number
  /** When it left, and how. */
  readonly leftAt: number
  readonly to: string
  /** Whether the list of the queue never shows it. */
  readonly isHidden?: boolean
}

interface Line {
  readonly type: string
  readonly repo?: string
  readonly targetBranch?: string
  readonly pr: number | null
  readonly from: string | null
  readonly to: string | null
  readonly at: string
  readonly oldest?: number
}

/** A service of 60 queues whose pull requests leave at their times. */
function openService(pulls: Readonly<Record<string, readonly Pull[]>> = {}, listsEnds = true) {
  const clock = { now: noon }
  const requests: Seen[] = []
  let [open, mostOpen] = [0, 0]
  const serve = (seen: Seen): Answer => {
    const [, , operation = ''] = seen.path.split(/[/?]/)
    const { repo, pr, since } = JSON.parse(seen.body)
    const all = pulls[repo.name] ?? []
    const record = ({ pr, leftAt, to }: Pull) =>
      clock.now < leftAt
        ? { prNumber: pr, state: 'testing', stateChangedAt: iso(noon - minute) }
        : { prNumber: pr, state: to, stateChangedAt: iso(leftAt), isCurrentlySubmittedToQueue: false }
    if (operation === 'getQueue')
      return {
        body: JSON.stringify({
          state: 'running',
          enqueuedPullRequests: all
            .filter(({ leftAt, isHidden }) => clock.now < leftAt && isHidden !== true)
            .map(record),
        }),
      }
    if (operation === 'listPullRequests' && !listsEnds) return { status: 404, body: 'Not Found' }
    const left = all.filter(({ leftAt }) => leftAt <= clock.now && leftAt >= Date.parse(since))
    if (operation === 'listPullRequests') return { body: JSON.stringify({ pullRequests: left.map(record) }) }
    const found = all.find(each => each.pr === pr.number)
    return found === undefined
      ? { status: 404 }
      : { body: JSON.stringify({ ...record(found), timeline: [] }) }
  }
  return {
    clock,
    requests,
    mostOpen: () => mostOpen,
    async watch(
      line: string,
      answer: (seen: Seen) => Answer | 'reset' | undefined = () => undefined,
      setting: Setting = {},
    ) {
      const format = line.includes('-o') ? '' : '-o ndjson'
      const outcome = await mergeq(`queue watch -f q ${format} ${line}`, {
        files: filesOf(names),
        clock,
        ...setting,
        async answer(seen: Seen) {
          requests.push(seen)
          mostOpen = Math.max(mostOpen, ++open)
          // What is sent at a time comes before the first response.
          await turn()
          open--
          const date = new Date(clock.now).toUTCString()
          return answer(seen) ?? { headers: { date }, ...serve(seen) }
        },
      })
      const lines: readonly Line[] = outcome.out
        .split('\n')
        .filter(text => text.startsWith('{'))
        .map(text => JSON.parse(text))
      return { ...outcome, lines, changes: lines.filter(({ type }) => type === 'change') }
    },
  }
}

const keyOf = ({ repo, targetBranch, pr, to, at }: Line) => [repo, targetBranch, pr, to, at].join(' ')

describe('queue watch of 60 queues', () => {
  test('reads each once a round, at most 4 at a time, and each line names its queue', async () => {
    const service = openService({ r3: [{ pr: 7, leftAt: noon + 15_000, to: 'merged' }] })
    const { code, lines, changes } = await service.watch('--for 30s')
    expect({ code, queues: lines.length - changes.length }).toEqual({ code: 0, queues: 60 })
    const place = { repo: 'github.com/acme/r3', targetBranch: 'main' }
    expect(changes).toMatchObject([
      { ...place, pr: 7, from: 'TESTING', to: 'MERGED', at: iso(noon + 15_000) },
    ])
    expect(lines.every(({ repo, targetBranch }) => repo !== undefined && targetBranch === 'main')).toBe(true)
    const reads = service.requests.filter(({ path }) => path.endsWith('getQueue')).length
    expect(reads).toBe(4 * 60)
    expect(service.mostOpen()).toBeLessThanOrEqual(4)
  })

  test('a queue that is gone is a change to null, one that is refused an error, and the others go on', async () => {
    const service = openService({ r9: [{ pr: 1, leftAt: noon + 25_000, to: 'failed' }] })
    const { code, changes, err } = await service.watch('--for 40s', ({ body }) => {
      if (body.includes('"r5"')) return { status: 403 }
      return body.includes('"r4"') && service.clock.now > noon
        ? { status: 404, body: 'Not Found' }
        : undefined
    })
    expect(code).toBe(4)
    expect(changes).toMatchObject([
      { repo: 'github.com/acme/r4', pr: null, from: 'RUNNING', to: null, at: iso(noon + 10_000) },
      { repo: 'github.com/acme/r9', pr: 1, to: 'FAILED' },
    ])
    expect(err.match(/The queue for main of acme\/r4 is gone, and no longer watched\./g)).toHaveLength(1)
    expect(err.match(/acme\/r5/g)).not.toBeNull()
    const asked = (name: string) => service.requests.filter(({ body }) => body.includes(`"${name}"`)).length
    expect([asked('r4'), asked('r5')]).toEqual([2, 1])
  })

  test('after restarts with --since no departure is lost, and none has a key of its own twice', async () => {
    const ends = ['merged', 'failed', 'cancelled']
    const some = names.slice(0, 15)
    const pulls = Object.fromEntries(
      some.map((name, index) => [
        name,
        Array.from({ length: 4 }, (_, number) => ({
          pr: 10 * index + number,
          // Spread over 20 minutes, in another order than their numbers.
          leftAt: noon + 1_000 + ((37 * (4 * index + number)) % 60) * 20_000,
          to: ends[(index + number) % 3] ?? 'merged',
        })),
      ]),
    )
    const service = openService(pulls)
    const keys: string[][] = []
    let since = noon
    for (const [seconds, pause] of [
      [180, 90_000],
      [60, 0],
      [400, 300_000],
      [600, 0],
    ] as const) {
      const { code, changes } = await service.watch(
        `--for ${seconds}s --interval 30s --since ${iso(since)}`,
        undefined,
        {
          files: filesOf(some),
        },
      )
      expect(code).toBe(0)
      keys.push(changes.map(keyOf))
      // Nothing that left before the last reading is missing in what was printed.
      since = service.clock.now - 60_000
      service.clock.now += pause
    }
    for (const run of keys) expect(new Set(run).size).toBe(run.length)
    const expected = Object.entries(pulls).flatMap(([name, all]) =>
      all.map(
        ({ pr, leftAt, to }) => `github.com/acme/${name} main ${pr} ${to.toUpperCase()} ${iso(leftAt)}`,
      ),
    )
    expect([...new Set(keys.flat())].sort()).toEqual(expected.sort())
  })

  test('--since reads the queues first, and repeats both readings until they succeed', async () => {
    const service = openService({ r2: [{ pr: 3, leftAt: noon - minute, to: 'failed' }] })
    let failures = 0
    const { lines, changes } = await service.watch('--since 10m --for 1m --retries 1', ({ path, body }) =>
      path.endsWith('listPullRequests') && body.includes('"r2"') && failures++ < 3
        ? { status: 503 }
        : undefined,
    )
    expect(changes).toMatchObject([
      { pr: 3, from: null, to: 'FAILED', at: iso(noon - minute), position: null },
    ])
    const index = lines.findIndex(({ type, repo }) => type === 'queue' && repo === 'github.com/acme/r2')
    expect(lines[index + 1]).toMatchObject({ type: 'change', pr: 3 })
    const { changes: none, err, code } = await openService({}, false).watch('--since 10m --for 20s')
    expect({ code, none, warnings: err.match(/Departures before the start are not known/g) }).toEqual({
      code: 0,
      none: [],
      warnings: ['Departures before the start are not known'],
    })
  })

  test('--since also tells what left without being listed, every five minutes and once', async () => {
    const service = openService({
      r1: [{ pr: 1, leftAt: noon + 7 * minute, to: 'cancelled', isHidden: true }],
      r2: [
        { pr: 2, leftAt: noon + 8 * minute, to: 'merged' },
        { pr: 3, leftAt: noon + 12 * minute, to: 'failed', isHidden: true },
      ],
      r3: [{ pr: 4, leftAt: noon - 30_000, to: 'merged' }],
    })
    const some = { files: filesOf(['r1', 'r2', 'r3']) }
    const { changes } = await service.watch('--since 10m --for 31m --interval 1m', undefined, some)
    expect(changes.map(({ pr, from, to, at }) => [pr, from, to, at])).toEqual([
      [4, null, 'MERGED', iso(noon - 30_000)],
      [2, 'TESTING', 'MERGED', iso(noon + 8 * minute)],
      [1, null, 'CANCELLED', iso(noon + 7 * minute)],
      [3, null, 'FAILED', iso(noon + 12 * minute)],
    ])
    const lists = service.requests.filter(({ path }) => path.endsWith('listPullRequests')).length
    expect(lists).toBe(3 * 7)
    const without = openService({}, false)
    await without.watch('--since 10m --for 31m --interval 1m', undefined, some)
    expect(without.requests.filter(({ path }) => path.endsWith('listPullRequests')).length).toBe(3)
  })

  test('a round that was cut goes on with the queue that was read longest ago', async () => {
    const service = openService()
    const readAt = new Map(names.map(name => [name, noon]))
    const [ages, refusals]: [number[], string[]] = [[], []]
    let [window, count] = [0, 0]
    const { err, lines } = await service.watch('--for 4m --heartbeat 30s', ({ body }) => {
      const index = Math.floor(service.clock.now / 10_000)
      if (index !== window) [window, count] = [index, 0]
      if (++count > 30) {
        refusals.push(body)
        const left = 10_000 - (service.clock.now % 10_000)
        return { status: 429, headers: { 'retry-after': String(Math.ceil(left / 1_000)) } }
      }
      readAt.set(JSON.parse(body).repo.name, service.clock.now)
      ages.push(service.clock.now - Math.min(...readAt.values()))
      return undefined
    })
    expect(Math.max(...ages)).toBeLessThanOrEqual(30_000)
    expect(service.clock.now - Math.min(...readAt.values())).toBeLessThanOrEqual(30_000)
    expect(err).toContain('Still waiting: 30 of 60 queues were not read yet.\n')
    const beats = lines.filter(({ type }) => type === 'heartbeat')
    expect(beats.length).toBeGreaterThanOrEqual(7)
    for (const { oldest } of beats) expect(oldest).toBeLessThanOrEqual(30)
    expect(refusals.length, 'those that were sent at the same time').toBeLessThan(60 * 2)
  })

  test('--heartbeat is a line this often, in an outage too', async () => {
    const some = { files: filesOf(names.slice(0, 6)) }
    const { lines } = await openService().watch('--heartbeat 30s --for 5m', () => undefined, some)
    const beats = lines.filter(({ type }) => type === 'heartbeat')
    expect(beats.map(({ at }) => (Date.parse(at) - noon) / 1_000)).toEqual([
      30, 60, 90, 120, 150, 180, 210, 240, 270, 300,
    ])
    const down = await openService().watch('--heartbeat 30s --for 5m', () => ({ status: 503 }), some)
    const silent = down.lines.filter(({ type }) => type === 'heartbeat')
    expect(silent.length).toBeGreaterThanOrEqual(9)
    for (const { at, oldest } of silent) expect(oldest).toBe((Date.parse(at) - noon) / 1_000)
  })

  test('lines on a terminal name their queues', async () => {
    const service = openService({ r3: [{ pr: 7, leftAt: noon + 15_000, to: 'merged' }] })
    const setting = { files: filesOf(['r3']), terminal: true }
    const { out } = await service.watch('--for 30s -o table', undefined, setting)
    expect(out).toBe('main of acme/r3: #7 TESTING -> MERGED\n')
  })
})
