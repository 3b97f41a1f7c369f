import { MergeqError } from '../../src/base/errors.ts'
import type { Screen } from './screens.ts'

/** Several pull requests in every state: #3 and #4 merged, #9 failed, #8 cancelled, the others queued. */
const busy = [
  'pr submit 3 4 9 8',
  600,
  'pr submit 5 6 7 10 --priority medium',
  'pr submit 11 --priority low',
  'pr submit 12',
  150,
]

/** Batches of four with one that fails, and its bisection. */
const batches: Pick<Screen, 'before' | 'sandbox'> = {
  before: ['pr submit 1 2 3 4 5 6 7 8', 7_200],
  sandbox: { scenario: 'batch-failure' },
}

const refusedToken = { env: { MERGEQ_TOKEN: 'not-the-token-of-this' } }
const noToken = { env: { MERGEQ_TOKEN: '' } }
const noRepo = { env: { MERGEQ_REPO: '' } }
const atHome = { env: { HOME: '/home/ada' } }
const mobile = {
  repo: { host: 'github.com', owner: 'acme', name: 'mobile' },
  targetBranch: 'release/2026-01-platform',
}

const noAnswer = { spawn: () => ({ code: 127, out: '' }) }

/** A test that the sandbox knows, and a new one. */
const junitReport = `<testsuites><testsuite name="Address form">
<testcase name="Address form submits once on a double click" classname="web.checkout.Addressform"><failure/></testcase>
<testcase name="is new" classname="web.Cart" file="web/cart.ts"><failure/></testcase>
</testsuite></testsuites>`

/** The screens, by the name of their file in test/golden/screens. */
export const screens: Readonly<Record<string, readonly Screen[]>> = {
  'pr-get': [
    { title: 'queued', before: busy, lines: ['pr get 10'] },
    { title: 'tested', before: busy, lines: ['pr get 5'], also: ['both'] },
    { title: 'merged', before: busy, lines: ['pr get 3'] },
    { title: 'failed', before: busy, lines: ['pr get 9'] },
    { title: 'several', before: busy, lines: ['pr get 3 9 5 6 10 12'], also: [60] },
    { title: 'timeline', before: busy, lines: ['pr get 9 --timeline'], also: ['both'] },
    { title: 'one is unknown', before: busy, lines: ['pr get 3 77'] },
  ],
  'pr-list': [
    { title: 'all states', before: busy, lines: ['pr list'], also: [60, 'both'] },
    { title: 'none', lines: ['pr list'] },
  ],
  'pr-explain': [
    { title: 'tested', before: ['pr submit 7', 60], lines: ['pr explain 7'] },
    { title: 'pending', before: busy, lines: ['pr explain 11'] },
    { title: 'pending failure', before: ['pr submit 6', 260], lines: ['pr explain 6'] },
    { title: 'failed', before: ['pr submit 9', 600], lines: ['pr explain 9'], also: ['both'] },
    { title: 'not ready', before: ['pr submit 12', 600], lines: ['pr explain 12'] },
    { title: 'not found', lines: ['pr explain 77'] },
    { title: 'paused queue', before: ['queue pause', 'pr submit 7', 600], lines: ['pr explain 7'] },
    { title: 'several', before: busy, lines: ['pr explain 3 9'] },
  ],
  'pr-testing': [
    { title: 'running', before: ['pr submit 7', 60], lines: ['pr testing --pr 7'] },
    { title: 'failed', before: ['pr submit 9', 600], lines: ['pr testing 9'], also: ['both'] },
  ],
  'pr-submit': [
    { title: 'new', lines: ['pr submit 7'] },
    { title: 'several', lines: ['pr submit 7 8 9'] },
    { title: 'into a paused queue', before: ['queue pause'], lines: ['pr submit 41'] },
    {
      title: 'queued already',
      before: ['pr submit 7 --priority medium', 60],
      lines: ['pr submit 7 --priority high'],
    },
    { title: 'merged already', before: ['pr submit 3', 600], lines: ['pr submit 3'] },
    { title: 'dry run', lines: ['pr submit 7 --dry-run'] },
  ],
  'pr-cancel': [
    { title: 'one', before: busy, lines: ['pr cancel 10'] },
    { title: 'confirmed', before: busy, lines: ['pr cancel 5 10 11'], setting: { typed: ['y'] } },
    {
      title: 'refused',
      before: [...busy, 'pr cancel 10'],
      lines: ['pr cancel 5 10 11 20 21 22 23 24 25 26 27'],
      setting: { typed: ['n'] },
    },
    { title: 'not queued', lines: ['pr cancel 77'] },
    { title: 'restart', before: busy, lines: ['pr restart 5'] },
  ],
  'queue-get': [
    { title: 'running', before: busy, lines: ['queue get'], also: ['both'] },
    { title: 'paused', before: [...busy, 'queue pause'], lines: ['queue get'] },
    { title: 'empty', lines: ['queue get'] },
    {
      title: 'batches',
      sandbox: { scenario: 'batch-failure' },
      before: ['pr submit 1 2 3 4', 65],
      lines: ['queue get', 'pr explain 2'],
    },
    { title: 'unknown', lines: ['queue get -b release'] },
  ],
  'queue-explain': [
    { title: 'moving', before: busy, lines: ['queue explain'], also: ['both'] },
    { title: 'paused', before: [...busy, 'queue pause'], lines: ['queue explain'] },
    { title: 'nothing ready', before: ['pr submit 12', 600], lines: ['queue explain', 'queue get'] },
    { title: 'empty', lines: ['queue explain'] },
  ],
  'queue-watch': [
    { title: 'the last frame, which stays', before: [...busy, 95], lines: ['queue watch --for 30s'] },
    { title: 'of an empty queue', lines: ['queue watch --for 10s'] },
  ],
  'queue-wait': [
    { title: 'idle', before: ['pr submit 7 10', 60, 'queue drain'], lines: ['queue wait --interval 10s'] },
    {
      title: 'held',
      before: [...busy, 'queue pause'],
      lines: ['queue wait --timeout 0', 'queue wait --until empty'],
    },
  ],
  'queue-list': [
    {
      title: 'several queues',
      before: busy,
      lines: ['queue list'],
      setting: noRepo,
      sandbox: { queues: [mobile] },
    },
  ],
  'queue-changes': [
    { title: 'update', lines: ['queue update --concurrency 5 --batch', 'queue update --concurrency 5'] },
    { title: 'pause and resume', before: busy, lines: ['queue pause', 'queue pause', 'queue resume'] },
    { title: 'drain', before: busy, lines: ['queue drain'] },
    { title: 'create', lines: ['queue create -b release', 'queue create'] },
    {
      title: 'delete',
      before: busy,
      lines: ['queue delete', 'queue delete --cancel-all'],
      setting: { typed: ['main'] },
    },
    {
      title: 'delete refused',
      before: busy,
      lines: ['queue delete --cancel-all'],
      setting: { typed: ['no'] },
    },
  ],
  'queue-check': [
    { title: 'all good', before: ['pr submit 7', 60], lines: ['queue check --max-depth 5 --stalled 2h'] },
    {
      title: 'paused',
      before: ['pr submit 7', 'queue pause', 60],
      lines: ['queue check --max-depth 0 --stalled 2h', 'queue check --only --not-paused'],
    },
  ],
  'queue-runs': [
    { title: 'all outcomes', before: busy, lines: ['queue runs'], also: [60, 120, 'both'] },
    { title: 'batches', ...batches, lines: ['queue runs'], also: [120] },
    { title: 'none', lines: ['queue runs', 'queue report'] },
  ],
  'queue-report': [
    { title: 'all outcomes', before: busy, lines: ['queue report'], also: [60, 120, 'both'] },
    { title: 'batches', ...batches, lines: ['queue report --since 30d'], also: [120] },
  ],
  metrics: [
    { title: 'summary', before: busy, lines: ['metrics'] },
    { title: 'nothing happened', lines: ['metrics'] },
    { title: 'raw', before: busy, lines: ['metrics --raw'] },
  ],
  flaky: [
    { title: 'list', lines: ['flaky list --limit 6'], also: [60] },
    { title: 'none', lines: ['flaky list --name nothing'] },
    { title: 'one test', lines: ['flaky get cd5613fd'], also: ['both'] },
    { title: 'several tests', lines: ['flaky get "address form"'] },
    { title: 'no test', lines: ['flaky get "no such test"', 'flaky get "no such test" --window 30d'] },
    { title: 'quarantined', lines: ['flaky quarantined --limit 6'] },
    { title: 'unhealthy', lines: ['flaky unhealthy --limit 6'] },
    { title: 'match', lines: ['flaky match junit.xml'], setting: { files: { 'junit.xml': junitReport } } },
    { title: 'gate', lines: ['flaky gate --max 200', 'flaky gate --max 10'] },
  ],
  'pr-wait': [
    { title: 'merged', before: ['pr submit 3'], lines: ['pr wait 3 --interval 10s'] },
    {
      title: 'failed',
      before: ['pr submit 9'],
      lines: ['pr wait 9 --interval 10s'],
      also: [60, 200, 'both'],
    },
    {
      title: 'timed out',
      before: ['queue pause', 'pr submit 7'],
      lines: ['pr wait 7 --timeout 5m --interval 30s'],
    },
    { title: 'several', before: ['pr submit 3 9 6'], lines: ['pr wait 3 9 6 --interval 10s'] },
    { title: 'submit --wait', lines: ['pr submit 3 --wait --interval 10s'] },
    { title: 'paused', before: ['queue pause'], lines: ['pr submit 7 --wait --fail-on-paused'] },
  ],
  doctor: [
    {
      title: 'all pass',
      lines: ['doctor'],
      setting: {
        ...atHome,
        spawn: (_, args) =>
          args[0] === '--version'
            ? { code: 0, out: 'git version 2.39.5\n' }
            : { code: 128, out: '', err: 'fatal: not a git repository\n' },
      },
    },
    {
      title: 'warnings',
      lines: ['doctor'],
      setting: { ...noAnswer, env: { MERGEQ_REPO: '', MERGEQ_TARGET_BRANCH: '' } },
    },
    { title: 'failures', lines: ['doctor'], setting: { ...noAnswer, ...noToken } },
    { title: 'no such queue', lines: ['doctor -b develop'], setting: noAnswer },
  ],
  auth: [
    { title: 'status', lines: ['auth status'] },
    { title: 'status, refused token', lines: ['auth status'], setting: refusedToken },
    { title: 'list', lines: ['auth list'] },
    { title: 'status, no token', lines: ['auth status'], setting: noToken },
    { title: 'login', lines: ['auth login'], setting: { typed: ['abcdefghijklmnop'], ...atHome } },
    {
      title: 'login to the hosted service',
      lines: ['auth login'],
      setting: { typed: [''], env: { MERGEQ_BASE_URL: '', HOME: '/home/ada' } },
    },
  ],
  config: [
    { title: 'origin', lines: ['config list --show-origin'] },
    { title: 'path', lines: ['config path'], setting: atHome },
  ],
  sandbox: [
    {
      title: 'start, then Ctrl-C',
      lines: ['sandbox start'],
      get setting() {
        const reason = new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 })
        return { signal: AbortSignal.abort(reason) }
      },
    },
  ],
  errors: [
    { title: 'unknown option', lines: ['pr submit 7 --prio high', 'queue get --colour never'] },
    { title: 'synonym', lines: ['queue ls', 'pr view 7', 'pr dequeue 7'] },
    { title: 'unknown value', lines: ['pr submit 7 --priority hihg', 'queue get -o jsno'] },
    { title: 'refused token', lines: ['pr get 7'], setting: refusedToken },
    { title: 'no token', lines: ['pr get 7'], setting: noToken },
    { title: 'not found', lines: ['pr get 77', 'queue get -b release', 'pr cancel 77'] },
    { title: 'fields', lines: ['flaky list --fields nam', 'pr get 7 --fields'], before: ['pr submit 7'] },
    { title: 'jq', lines: ['pr get 7 --jq .state'] },
    { title: 'no pull request', lines: ['pr get'] },
    { title: 'no repository', lines: ['pr get 7'], setting: noRepo },
  ],
  help: [
    { title: 'mergeq', lines: [''] },
    { title: 'group', lines: ['config'] },
    { title: 'short', lines: ['pr submit -h', 'queue create -h'] },
    { title: 'complete', lines: ['flaky list --help'] },
  ],
}
