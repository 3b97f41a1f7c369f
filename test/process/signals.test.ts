import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { allCommands } from '../support/commands.ts'
import { randomSeed } from '../support/random-seed.ts'
import { type Answer, type ReceivedRequest, startTestServer } from '../support/service.ts'
import { openTestFolder, type Signal } from '../support/test-folder.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())

// conf, which reads it, must not handle signals.
const settings = join(home.folder, 'home/.config/mergeq')
mkdirSync(settings, { recursive: true })
writeFileSync(join(settings, 'config.json'), '{"profiles":{"default":{"target-branch":"main"}}}', {
  mode: 0o600,
})

const branches = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']
const pulls = ['#11', '#12', '#13', '#14', '#15', '#16']
const tests = pulls.map((_, index) => `0b9f2c1e-7d3a-4e5f-8a6b-00000000000${index}`)
const numbers = pulls.map(pull => pull.slice(1))
const ofSix = numbers.join(' ')

const queuesFile = home.path('queues.yaml')
const file = (branch: string) => `- targetBranch: ${branch}\n  repo: acme/web\n  settings: {concurrency: 3}\n`
writeFileSync(queuesFile, branches.map(file).join(''))
const statesFile = home.path('states.json')
const state = (targetBranch: string) => ({
  repo: 'acme/web',
  targetBranch,
  before: 'PAUSED',
  after: 'RUNNING',
})
writeFileSync(statesFile, JSON.stringify(branches.map(state)))

interface Several {
  readonly line: string
  readonly names: readonly string[]
  readonly input?: string
}

const ofBranches = (...lines: readonly string[]): readonly Several[] =>
  lines.map(line => ({ line, names: branches }))
const ofPulls = (...lines: readonly string[]): readonly Several[] =>
  lines.map(line => ({ line, names: pulls }))
const states = (command: string) =>
  ofBranches(
    `${command} --all --yes`,
    `${command} -f ${queuesFile} --yes`,
    `${command} --all --yes --record ${home.path(`${command.split(' ')[1]}.json`)}`,
  )

/** What each command that changes something does of several things; nothing, where it changes one. */
const several: Readonly<Record<string, readonly Several[]>> = {
  'pr submit': ofPulls(`pr submit ${ofSix}`, `pr submit ${ofSix} --wait`),
  'pr land': ofPulls(`pr land ${ofSix}`),
  'pr cancel': ofPulls(`pr cancel ${ofSix} --yes`),
  'pr restart': ofPulls(`pr restart ${ofSix}`),
  'pr targets': [],
  'queue create': [],
  'queue update': [],
  'queue delete': ofPulls('queue delete --cancel-all --yes'),
  'queue pause': states('queue pause'),
  'queue drain': states('queue drain'),
  'queue resume': [...states('queue resume'), ...ofBranches(`queue resume --from ${statesFile} --yes`)],
  'queue apply': ofBranches(
    `queue apply -f ${queuesFile} --yes`,
    `queue apply -f ${queuesFile} --yes --record ${home.path('apply.json')}`,
  ),
  'flaky link': [
    { line: 'flaky link - --yes', names: tests, input: tests.map(id => `${id} KAN-1\n`).join('') },
  ],
}

test('every command that changes something has its lines', () => {
  const changing = allCommands.filter(({ operation, alsoSends = [] }) =>
    [operation, ...alsoSends].some(sent => typeof sent === 'object' && sent.recovery !== undefined),
  )
  expect(changing.map(({ command }) => command).toSorted()).toEqual(Object.keys(several).toSorted())
})

const changes =
  /\/(?:updateQueue|submitPullRequest|cancelPullRequest|restartTests\w*|deleteQueue|link-[\w-]+)$/

/** Six queues or pull requests, where each change takes a while. */
function openService(state: string) {
  const changed = new Set<unknown>()
  const record = (pr: unknown) => ({
    prNumber: Number(pr),
    state: 'PENDING',
    isCurrentlySubmittedToQueue: true,
  })
  const answer = ({ path, body }: ReceivedRequest): Answer => {
    if (path.includes('Metrics'))
      return { body: branches.map(name => `mq_depth_current{repo="acme/web",branch="${name}"} 1\n`).join('') }
    const { pr, prs, targetBranch } = JSON.parse(body)
    if (changes.test(path)) {
      changed.add(pr?.number ?? targetBranch)
      return { body: 'OK', delay: 250 }
    }
    const isThere = (number: number) => state !== 'EMPTY' || changed.has(number)
    const asked: readonly number[] | undefined = prs?.map((each: { number: number }) => each.number)
    if (asked !== undefined) {
      const notFound = asked.filter(number => !isThere(number))
      return { body: JSON.stringify({ pullRequests: asked.filter(isThere).map(record), notFound }) }
    }
    if (pr !== undefined)
      return isThere(pr.number) ? { body: JSON.stringify(record(pr.number)) } : { status: 404 }
    const live = { state, targetBranch, concurrency: changed.has(targetBranch) ? 3 : 1 }
    return { body: JSON.stringify({ ...live, enqueuedPullRequests: numbers.map(record) }) }
  }
  return startTestServer({ answer })
}

/** The state of the queues before: `EMPTY` has no pull request. */
const stateBefore = (line: string): string => {
  if (line.startsWith('pr land')) return 'EMPTY'
  return /resume -(?!-from)/.test(line) ? 'PAUSED' : 'RUNNING'
}

const signals: readonly (readonly [Signal, number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]
/** When the signal comes: after so many changes have arrived, and so many milliseconds later. */
const moment = fc.record({ changes: fc.integer({ min: 1, max: 5 }), later: fc.nat(150) })

/** A promise of the product is a second; a busy machine may take longer, and without it a change lasts a minute. */
const soon = 8_000

async function waitUntil(isSo: () => boolean): Promise<void> {
  for (let left = 1_000; !isSo() && left > 0; left--) await pause(10)
}

test.each(Object.values(several).flat())(
  '$line: a signal at a random moment gives rows, and says what is in progress and what was not sent',
  async ({ line, names, input }) => {
    const moments = fc.sample(moment, { numRuns: signals.length, seed: randomSeed + line.length })
    for (const [index, [signal, code]] of signals.entries()) {
      const { changes: count = 1, later = 0 } = moments[index] ?? {}
      const service = await openService(stateBefore(line))
      const arrived = () => service.requests.filter(({ path }) => changes.test(path)).length
      const running = home.start([...line.split(' '), '--base-url', service.baseUrl()], {
        env: { MERGEQ_TARGET_BRANCH: undefined },
        ...(input !== undefined && { input }),
      })
      await waitUntil(() => arrived() >= count)
      await pause(later)
      const began = Date.now()
      running.kill(signal)
      const ran = await running.done
      await service.close()
      const said = `${signal} after ${count} changes and ${later} ms\n${ran.out}\n${ran.err}`
      expect(ran.code, said).toBe(code)
      expect(ran.ended - began, said).toBeLessThan(soon)
      expect(ran.err, said).toContain(`stopped by ${signal}.`)
      expect(ran.err, said).toMatch(/in progress|In progress|Still in the queue/)
      const isNamed = (name: string) => new RegExp(`${name}\\b`).test(ran.out + ran.err)
      const unnamed = names.filter(name => !isNamed(name) && !isNamed(name.replace('#', '')))
      expect(unnamed, said).toEqual([])
    }
  },
  60_000,
)
