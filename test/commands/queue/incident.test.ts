import { expect, test } from 'vitest'
import { type Answer, mergeq, noon, type Seen } from '../../support/harness.ts'

/** 61 queues, each with a file. */
const names = Array.from({ length: 61 }, (_, index) => `r${index}`)
const files = Object.fromEntries(
  names.map(name => [`queues/acme/${name}@main.yaml`, `repo: acme/${name}\ntargetBranch: main\n`]),
)
const [pausedBefore, deleted, denied] = ['r7', 'r20', 'r30']
const quiet = names.slice(41)

interface Row {
  readonly repo: string
  readonly result: string
  readonly before: string | null
  readonly after: string | null
  readonly exit: number
  readonly message: string
}

/** An organization at night: 20 of its queues have no metrics. */
function openNight() {
  const states = new Map(names.map(name => [name, name === pausedBefore ? 'paused' : 'running']))
  let [open, mostOpen] = [0, 0]
  const answer = (seen: Seen): Answer => {
    const [, , operation = ''] = seen.path.split(/[/?]/)
    if (operation === 'getMergeQueueMetrics')
      return {
        body: names
          .filter(name => !quiet.includes(name))
          .map(name => `mq_depth_current{repo="acme/${name}",branch="main"} 1\n`)
          .join(''),
      }
    const { repo, state } = JSON.parse(seen.body)
    if (!states.has(repo.name)) return { status: 404, body: 'Not Found' }
    if (repo.name === denied) return { status: 403 }
    if (operation === 'updateQueue') {
      states.set(repo.name, state.toLowerCase())
      return { body: 'OK' }
    }
    return { body: JSON.stringify({ state: states.get(repo.name), enqueuedPullRequests: [] }) }
  }
  const disk = new Map<string, string>()
  const clock = { now: noon }
  return {
    states,
    disk,
    clock,
    mostOpen: () => mostOpen,
    async run(line: string) {
      const { code, out, err, requests } = await mergeq(line, {
        files,
        disk,
        clock,
        async answer(seen: Seen) {
          mostOpen = Math.max(mostOpen, ++open)
          await new Promise(resolve => setTimeout(resolve, 1))
          open--
          return answer(seen)
        },
      })
      return { code, out, err, requests }
    },
  }
}

const rowsIn = (out: string) =>
  new Map((JSON.parse(out) as readonly Row[]).map(row => [row.repo.replace('github.com/acme/', ''), row]))
const countOf = (rows: ReadonlyMap<string, Row>, word: string) =>
  [...rows.values()].filter(({ result }) => result === word).length

test('61 queues at night: paused by their files, with a record, and resumed twice', async () => {
  const night = openNight()

  // --all knows only the queues that the metrics name.
  const dry = await night.run('queue list --json')
  expect(JSON.parse(dry.out)).toHaveLength(41)

  const paused = await night.run('queue pause -f queues/ --record states.json --yes --json')
  const pauses = rowsIn(paused.out)
  expect({ code: paused.code, rows: pauses.size }).toEqual({ code: 4, rows: 61 })
  expect(['changed', 'unchanged', 'error'].map(word => countOf(pauses, word))).toEqual([59, 1, 1])
  expect(pauses.get(pausedBefore)).toMatchObject({
    result: 'unchanged',
    before: 'PAUSED',
    after: 'PAUSED',
    exit: 0,
  })
  expect(pauses.get(denied)).toMatchObject({ result: 'error', before: null, after: null, exit: 4 })
  for (const name of quiet) expect([name, night.states.get(name)]).toEqual([name, 'paused'])
  expect(paused.err).toContain('61 queues: 59 changed, 1 unchanged, 1 error.\n')
  expect(JSON.parse(paused.err.trim().split('\n').at(-1) ?? '').error).toMatchObject({
    exit: 4,
    repo: `github.com/acme/${denied}`,
    targetBranch: 'main',
  })
  expect(JSON.parse(night.disk.get('states.json') ?? '')).toHaveLength(60)
  expect(night.mostOpen()).toBeLessThanOrEqual(4)

  // The same command again does what is left, and keeps the states from before.
  const again = await night.run('queue pause -f queues/ --record states.json --yes --json')
  expect({ code: again.code, unchanged: countOf(rowsIn(again.out), 'unchanged') }).toEqual({
    code: 4,
    unchanged: 60,
  })

  const waited = await night.run('queue wait -f queues/ --until idle --timeout 30m --json')
  const results = waited.out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  expect({
    code: waited.code,
    reached: results.filter(({ outcome }) => outcome === 'reached').length,
  }).toEqual({
    code: 4,
    reached: 60,
  })

  night.states.delete(deleted)
  const resumed = await night.run('queue resume --from states.json --yes --json')
  const resumes = rowsIn(resumed.out)
  expect({ code: resumed.code, rows: resumes.size }).toEqual({ code: 5, rows: 60 })
  expect(['changed', 'unchanged', 'error'].map(word => countOf(resumes, word))).toEqual([58, 1, 1])
  expect(resumes.get(deleted)).toMatchObject({ result: 'error', exit: 5 })
  const after = [...night.states].filter(([, state]) => state === 'paused').map(([name]) => name)
  expect(after).toEqual([pausedBefore])

  night.clock.now += 60_000
  const twice = await night.run('queue resume --from states.json --yes --json')
  const seconds = rowsIn(twice.out)
  expect({
    code: twice.code,
    unchanged: countOf(seconds, 'unchanged'),
    errors: countOf(seconds, 'error'),
  }).toEqual({
    code: 5,
    unchanged: 59,
    errors: 1,
  })
  expect(twice.requests.filter(({ path }) => path.endsWith('updateQueue'))).toEqual([])
})
