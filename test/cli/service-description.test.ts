import { describe, expect, test, vi } from 'vitest'
import { operationName } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { allCommands } from '../support/commands.ts'
import { network, networkEnv } from '../support/fake-network.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import { restoreTransport } from '../support/replaced-transport.ts'
import {
  describedOperations,
  jsonOperations,
  operationOf,
  outputFaults,
  requestErrors,
  responseGenerator,
  type WireRequest,
} from '../support/service-description.ts'

// Test files share loaded modules: this one loads its own, in which a module is replaced, and leaves none of
// them.
vi.hoisted(() => vi.resetModules())
restoreTransport()
vi.mock('../../src/http/undici.ts', async () => (await import('../support/fake-network.ts')).fakeTransport)

/** The seed of the random responses. */
const seed = Number(process.env.MERGEQ_RANDOM_SEED ?? Date.now() % 1_000_000)

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

const metrics = [
  '# TYPE mq_depth_current gauge',
  'mq_depth_current{repo="acme/web",branch="main",queue_type="main"} 3',
  '',
].join('\n')

test('the description has the operations of this program, and no other', () => {
  expect(describedOperations.sort()).toEqual(
    serviceOperations.map(({ route }) => operationName(route)).sort(),
  )
})

test('the description accepts valid messages and rejects others', () => {
  const repo = { host: 'github.com', owner: 'acme', name: 'web' }
  const send = (body: object, more: Partial<WireRequest> = {}) =>
    requestErrors({
      method: 'POST',
      path: '/submitPullRequest',
      headers: { 'x-api-token': 't', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...more,
    })
  const good = { repo, targetBranch: 'main', pr: { number: 7 } }
  expect(send(good)).toEqual([])
  for (const bad of [
    { ...good, pr: { number: '7' } },
    { ...good, prio: 1 },
    { repo, targetBranch: 'main' },
  ])
    expect(send(bad)).toHaveLength(1)
  expect(send(good, { headers: { 'content-type': 'application/json' } })).toEqual([
    '/submitPullRequest has no x-api-token',
  ])
  expect(send(good, { path: '/submitPullRequests' })).toHaveLength(1)
})

/** Command lines of every command that sends requests. */
const lines: Readonly<Record<string, readonly string[]>> = {
  'pr submit': [
    '7',
    '7 8 --priority high',
    '7 --priority 30 --no-batch',
    '7 --wait --timeout 3s --interval 1s',
  ],
  'pr cancel': ['7 8 --yes'],
  'pr restart': ['7'],
  'pr get': ['7 8', '--head fix-cart', '7 --set includeTimeline=true'],
  'pr list': [
    '',
    '--state merged --since 24h',
    '--state not-ready --state pending --author ada --page-size 5',
  ],
  'pr targets': [
    '7 a b --sha 4f2a',
    '7 --all --sha 4f2a',
    '7 --none --sha 4f2a',
    '7 a --no-sha',
    '7 a --sha 4f2a --forked-run 42',
  ],
  'pr testing': [id, `trunk-merge/pr-7/${id}`, '--pr 7'],
  'pr wait': ['7 8 --timeout 3s --interval 1s'],
  'pr explain': ['7'],
  'queue create': ['', '--mode parallel --concurrency 3'],
  'queue get': [''],
  'queue list': [''],
  'queue update': [
    '--concurrency 5 --batch --state paused --mode single',
    '--testing-timeout-minutes 0 --required-status build --merge-method squash --enqueueing-label merge',
    '--delete-required-statuses --direct-merge-mode off --not-ready-timeout-hours 24',
  ],
  'queue delete': ['--yes', '--cancel-all --yes'],
  'queue pause': [''],
  'queue resume': [''],
  'queue drain': [''],
  'queue watch': ['--for 3s --interval 1s -o ndjson', '--once'],
  'queue export': [''],
  'queue diff': ['-f queue.yaml'],
  'queue apply': ['-f queue.yaml --yes'],
  'queue check': ['--max-depth 3 --stalled 2h --not-paused'],
  metrics: ['', '--all-repos'],
  'flaky list': [
    '',
    '--since 30d',
    '--page-size 5 --page-token t --owner @a --quarantined',
    '--sort impact --limit 2',
  ],
  'flaky get': [id],
  'flaky quarantined': ['', '--page-size 5 --limit 3'],
  'flaky unhealthy': ['', '--status broken --no-quarantined'],
  'flaky link': [`${id} KAN-123`],
  'flaky report': ['', '--format github'],
  'flaky match': ['junit.xml'],
  'flaky gate': ['--max 0', '--max 0 --window-only'],
  guard: ['-- origin https://github.com/acme/web'],
  api: ['getQueue', 'status', 'listPullRequests -F take=5', 'createQueue -F concurrency=2'],
  'auth login': ['--with-token'],
  'auth status': [''],
  doctor: [''],
}

const setting: Setting = {
  env: networkEnv,
  files: {
    '/repo/queue.yaml': 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 3\n',
    'queue.yaml': 'repo: acme/web\ntargetBranch: main\nsettings:\n  concurrency: 3\n',
    'junit.xml':
      '<testsuite name="s"><testcase name="a" classname="b"><failure message="m">f</failure></testcase></testsuite>',
  },
  disk: new Map(),
}

const settings: Readonly<Record<string, Setting>> = {
  'auth login': { input: 'tok-1234567890' },
  guard: { input: `refs/heads/fix ${'4'.repeat(40)} refs/heads/fix ${'1'.repeat(40)}\n` },
}

describe(`every request of every command is valid against the description (seed ${seed})`, () => {
  test('each command that sends requests has a line', () => {
    const asking = allCommands.filter(
      ({ operations, command }) =>
        (operations === 'any' || operations.length > 0) && !/^sandbox /.test(command),
    )
    expect(Object.keys(lines).sort()).toEqual(asking.map(({ command }) => command).sort())
  })

  for (const [command, variants] of Object.entries(lines))
    test.each(variants)(`${command} %s`, async words => {
      const errors: string[] = []
      // Random responses lead a composition to its further requests.
      for (let run = 0; run < 5; run++) {
        const generators = new Map(jsonOperations.map(name => [name, responseGenerator(name, seed + run)]))
        let sent = 0
        network.respond = request => {
          sent++
          errors.push(...requestErrors(request))
          const name = operationOf(request)
          const generate = generators.get(name)
          if (generate !== undefined) return { status: 200, body: JSON.stringify(generate()) }
          return { status: 200, body: name === 'getMergeQueueMetrics' ? metrics : 'OK' }
        }
        const { code, out, err } = await mergeq(`${command} ${words}`, { ...setting, ...settings[command] })
        expect({ code, err: code === 1 ? err : '' }).not.toMatchObject({ code: 1 })
        expect(out + err).not.toMatch(outputFaults)
        expect(sent, err).toBeGreaterThan(0)
      }
      expect(errors).toEqual([])
    })
})
