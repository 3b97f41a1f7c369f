import { existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lockPath } from '../../../src/host/lock.ts'
import { type Freeze, frozenBranches, openFreeze } from '../../support/freeze.ts'
import type { Seen, Setting } from '../../support/harness.ts'
import { sampleRuns } from '../../support/sample.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const pause = 'queue pause --all --record f.json --yes'
const resume = 'queue resume --from f.json --yes'

const isUpdateOf = ({ path, body }: Seen, branch: string) =>
  path.endsWith('updateQueue') && body.includes(`"${branch}"`)

describe('a freeze with the file of an earlier one', () => {
  test.each([
    // In the state after: the freeze goes on.
    ['paused', 'RUNNING'],
    // Changed by somebody since: another freeze.
    ['running', 'RUNNING'],
    ['draining', 'DRAINING'],
  ])('finds a queue %s, and records %s as its state before', async (now, before) => {
    const freeze = openFreeze()
    await freeze.mergeq(pause)
    freeze.states.main = now
    const { out, err } = await freeze.mergeq(pause)
    expect(freeze.row('main')).toMatchObject({ before, after: 'PAUSED' })
    expect(out).toContain(
      'next\tunchanged\tPAUSED\tPAUSED\tThe queue for next of acme/web was already paused.',
    )
    expect(err).toContain(
      'f.json is an earlier record; it keeps the states of queues that have not changed since.\n',
    )
    const changed = now === 'paused' ? '' : '1 changed, '
    expect(err).toContain(`3 queues: ${changed}${now === 'paused' ? 3 : 2} unchanged. Queues without metrics`)
  })

  test('does not continue a row that is restored, while another one of the file is not', async () => {
    const freeze = openFreeze()
    await freeze.mergeq(pause)
    freeze.states.next = 'draining'
    expect((await freeze.mergeq(resume)).code).toBe(14)
    freeze.states.main = 'paused'
    await freeze.mergeq(pause)
    expect(freeze.row('main')).toEqual({
      repo: 'github.com/acme/web',
      targetBranch: 'main',
      before: 'PAUSED',
      after: 'PAUSED',
    })
  })

  test('keeps the rows of queues that it does not read', async () => {
    const freeze = openFreeze(undefined, ({ path, body }, { row }) =>
      row('main') !== undefined && path.endsWith('getQueue') && body.includes('"main"')
        ? { status: 403 }
        : undefined,
    )
    await freeze.mergeq(pause)
    const { disk } = freeze
    const other = { repo: 'github.com/acme/api', targetBranch: 'main', before: 'DRAINING', after: 'PAUSED' }
    const rows = JSON.parse(disk.get('f.json') ?? '')
    disk.set('f.json', JSON.stringify([other, ...rows]))
    expect((await freeze.mergeq(pause)).code).toBe(4)
    expect(JSON.parse(disk.get('f.json') ?? '')).toEqual([other, ...rows])
  })

  test('needs no --yes where all queues of the file are restored', async () => {
    const freeze = openFreeze()
    const person = { terminal: true, inputTerminal: true, typed: ['y'] }
    await freeze.mergeq(pause)
    await freeze.mergeq(resume)
    freeze.clock.now += 60_000
    const { code, err } = await freeze.mergeq(pause.replace(' --yes', ''), person)
    expect({ code, row: freeze.row('main') }).toEqual({
      code: 0,
      row: { repo: 'github.com/acme/web', targetBranch: 'main', before: 'RUNNING', after: 'PAUSED' },
    })
    expect(err).not.toContain('earlier record')
  })

  test('that is refused for a queue which somebody has changed removes its row', async () => {
    let isRefused = false
    const freeze = openFreeze(undefined, seen =>
      isRefused && isUpdateOf(seen, 'main') ? { status: 400 } : undefined,
    )
    await freeze.mergeq(pause)
    isRefused = true
    freeze.states.main = 'running'
    expect((await freeze.mergeq(pause)).code).toBe(6)
    expect(freeze.row('main')).toBeUndefined()
  })
})

test('the lock is beside the file, and is broken 10 seconds after its last sign of life', async () => {
  const path = join(temporaryFolder('mergeq-lock-'), 'f.json')
  const release = await lockPath(path, 10_000)
  expect(existsSync(`${path}.lock`)).toBe(true)
  expect(await lockPath(path, 10_000)).toBeUndefined()
  await release?.()
  expect(existsSync(`${path}.lock`)).toBe(false)
  for (const [age, isBroken] of [
    [9, false],
    [11, true],
  ] as const) {
    mkdirSync(`${path}.lock`)
    utimesSync(`${path}.lock`, Date.now() / 1_000 - age, Date.now() / 1_000 - age)
    const taken = await lockPath(path, 10_000)
    expect(taken !== undefined).toBe(isBroken)
    await taken?.()
    rmSync(`${path}.lock`, { recursive: true, force: true })
  }
})

const queueFile = 'targetBranch: main\nrepo: acme/web\nsettings:\n  concurrency: 7\n'
const apply = 'queue apply -f q.yaml --record f.json --yes'

describe.each(['queue pause --all', 'queue drain -f q.yaml', 'queue apply -f q.yaml'])(
  'the file of a record of %s',
  command => {
    /** Runs it where the file has a text; the answers of the service may come with something else. */
    async function record(
      before: string | undefined,
      words: string,
      setting: Setting,
      onRead?: () => string,
    ) {
      const freeze = openFreeze(undefined, ({ path }, { disk }) => {
        if (onRead !== undefined && /Metrics|getQueue/.test(path)) disk.set('f.json', onRead())
        return undefined
      })
      freeze.disk.set('q.yaml', queueFile)
      if (before !== undefined) freeze.disk.set('f.json', before)
      const outcome = await freeze.mergeq(`${command} --record f.json ${words}`, setting)
      const changes = outcome.requests.filter(({ path }) => path.endsWith('updateQueue'))
      return { ...outcome, changes, file: freeze.disk.get('f.json') }
    }
    const person = { terminal: true, inputTerminal: true, typed: ['y'] }

    test.each<[string, string, string, Setting, string]>([
      ['is there, and --yes is not', '[]', '', person, 'f.json already exists.'],
      ['is something else', '[{}]', '--yes', {}, 'f.json is not a record of s'],
    ])('%s: 2, and nothing is sent', async (_, before, words, setting, message) => {
      const { code, err, requests, file } = await record(before, words, setting)
      expect({ code, requests, file }).toEqual({ code: 2, requests: [], file: before })
      expect(err).toContain(message)
    })

    test('cannot be written: 16, and nothing is changed', async () => {
      const onChange = (how: string) => {
        if (how === 'create') throw new Error('read-only file system')
      }
      const { code, err, changes } = await record(undefined, '--yes', { onChange })
      expect({ code, changes }).toEqual({ code: 16, changes: [] })
      expect(err).toContain('f.json could not be written: read-only file system.')
    })

    test.each([
      ['--yes', undefined],
      ['--yes', '[]'],
      ['', undefined],
    ])('is written by another command meanwhile (%s, where it was %s before): 2', async (words, before) => {
      const { code, err, changes, file } = await record(
        before,
        words,
        words === '' ? person : {},
        () => '[ ]',
      )
      expect({ code, changes, file }, err).toEqual({ code: 2, changes: [], file: '[ ]' })
      expect(err).toContain('f.json was written by another command meanwhile.')
    })
  },
)

describe('a queue that somebody changes after it was recorded', () => {
  test.each([pause, apply])('%s: skipped with 14, and not in the record', async line => {
    let isWritten = false
    let settings: Readonly<Record<string, unknown>> = { concurrency: 1 }
    const freeze = openFreeze(undefined, ({ path, body }, { states, disk }) => {
      if (!isWritten && (disk.get('f.json') ?? '').includes('"main"')) {
        isWritten = true
        states.main = 'draining'
        settings = { concurrency: 3 }
      }
      if (!line.startsWith('queue apply')) return undefined
      if (path.endsWith('updateQueue')) settings = { ...settings, ...JSON.parse(body) }
      return { body: JSON.stringify({ ...settings, state: 'running', enqueuedPullRequests: [] }) }
    })
    freeze.disk.set('q.yaml', queueFile)
    const { code, err, out, requests } = await freeze.mergeq(line)
    expect(code, err).toBe(14)
    expect(err + out).toMatch(
      /queue for main of acme\/web .*; it was not changed\. To change it, run it again\./,
    )
    expect(requests.filter(seen => isUpdateOf(seen, 'main'))).toEqual([])
    expect(freeze.row('main')).toBeUndefined()
    expect((await freeze.mergeq(line)).code).toBe(0)
    expect(isWritten).toBe(true)
  })
})

test.each([pause, apply])('%s: an error of the last write hides no result', async line => {
  let writes = 0
  const freeze = openFreeze(undefined, seen => (isUpdateOf(seen, 'main') ? { status: 400 } : undefined))
  freeze.disk.set('q.yaml', queueFile)
  const last = line.startsWith('queue apply') ? 1 : 2
  const onChange = (what: string) => {
    if (/^(create|replace)$/.test(what) && ++writes > last) throw new Error('no space left on device')
  }
  const { code, err, out } = await freeze.mergeq(line, { onChange })
  expect(code, err).toBe(6)
  expect(err).toContain('no space left on device. It still names queues that were not changed.')
  expect(out.split('\n').length).toBe(line === pause ? 4 : 2)
})

describe('what limits --all', () => {
  test.each([
    ['', { MERGEQ_REPO: 'acme/web' }, 'MERGEQ_REPO limits this to acme/web.\n'],
    ['-R acme/web', {}, '--repo limits this to acme/web.\n'],
  ])('%s with %j is said by prompt, summary, dry run and check', async (flags, env, text) => {
    const freeze = openFreeze()
    const all = `queue pause --all ${flags}`
    const terminal = { env, terminal: true, columns: 120 }
    const prompt = await freeze.mergeq(all, { ...terminal, inputTerminal: true, typed: ['n'] })
    expect(prompt.err).toContain(`not included.\n${text}`)
    expect((await freeze.mergeq(`${all} --yes`, { env })).err).toContain(`${text}3 queues: 3 changed.`)
    expect((await freeze.mergeq(`${all} --dry-run`, terminal)).err).toContain(text)
    expect((await freeze.mergeq(`queue check --all ${flags}`, { env })).err).toContain(text)
  })
})

/** What may go wrong with a run, which is the only one or one of two at once. */
interface Run {
  readonly isTwice?: boolean
  /** The update of this branch has this answer. */
  readonly failure?: { readonly branch: string; readonly status: number; readonly isApplied: boolean }
  /** The process ends with this request, before or after the service has it. */
  readonly crash?: { readonly request: number; readonly isApplied: boolean }
}

const branch = fc.constantFrom(...frozenBranches)
const someRun: fc.Arbitrary<Run> = fc.oneof(
  fc.record({ isTwice: fc.constant(true) }),
  fc.record({
    failure: fc.oneof(
      fc.record({ branch, status: fc.constantFrom(400, 403), isApplied: fc.constant(false) }),
      fc.record({ branch, status: fc.constantFrom(503, 504), isApplied: fc.boolean() }),
    ),
  }),
  fc.record({ crash: fc.record({ request: fc.integer({ min: 1, max: 8 }), isApplied: fc.boolean() }) }),
)
const someState = fc.constantFrom('running', 'paused', 'draining')
const someIncident = fc.record({
  states: fc.record({ main: someState, next: someState, docs: someState }),
  freezes: fc.array(someRun, { maxLength: 2 }),
  returns: fc.array(someRun, { maxLength: 2 }),
})

test('whatever goes wrong, the same commands again freeze all queues, and restore what was before', async () => {
  let run: Run = {}
  let requests = 0
  let left: Pick<Freeze, 'states' | 'disk'> | undefined
  const freeze = openFreeze(undefined, (seen, { states, disk }) => {
    const { crash, failure } = run
    const updated = seen.path.endsWith('updateQueue')
      ? { ...states, [JSON.parse(seen.body).targetBranch]: JSON.parse(seen.body).state.toLowerCase() }
      : states
    if (++requests === crash?.request)
      left = { states: crash.isApplied ? updated : states, disk: new Map(disk) }
    if (failure === undefined || !isUpdateOf(seen, failure.branch)) return undefined
    if (failure.isApplied) freeze.states = updated
    return { status: failure.status }
  })
  const runLine = async (line: string, how: Run = {}) => {
    ;[run, requests, left] = [how, 0, undefined]
    const lines = how.isTwice ? [line, line] : [line]
    const outcomes = await Promise.all(lines.map(each => freeze.mergeq(`${each} --retries 0`)))
    Object.assign(freeze, left)
    return Math.max(...outcomes.map(({ code }) => code))
  }
  await fc.assert(
    fc.asyncProperty(fc.array(someIncident, { minLength: 1, maxLength: 2 }), async incidents => {
      for (const { states, freezes, returns } of incidents) {
        freeze.states = states
        for (const how of freezes) await runLine(pause, how)
        expect(await runLine(pause)).toBe(0)
        expect(freeze.states).toEqual({ main: 'paused', next: 'paused', docs: 'paused' })
        for (const how of returns) await runLine(resume, how)
        expect(await runLine(resume)).toBe(0)
        expect(freeze.states).toEqual(states)
      }
    }),
    { numRuns: sampleRuns(12) },
  )
})
