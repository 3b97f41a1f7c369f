import { describe, expect, test } from 'vitest'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { queueSettings } from '../../src/domain/queue-settings.ts'
import { type Answer, mergeq, type Seen, type Setting, serveScript } from '../support/harness.ts'

/**
 * What goes over the wire, written by hand from docs/reference/service.md and never derived from the rows: a
 * wire field that is renamed in the contract must fail here, even if both sides of our own agree.
 */
interface Line extends Pick<Setting, 'env' | 'files' | 'input'> {
  readonly words: string
  readonly route: string
  /** The exact text of the body; none for a GET. */
  readonly body?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Differs from the documents today; see the report of the tests. */
}

const repo = '"repo":{"host":"github.com","owner":"acme","name":"web"}'
const on = `${repo},"targetBranch":"main"`
const where = '-R acme/web -b main'
const org = '-R acme/web --org acme'
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const pages = '"page_query":{"page_size":100,"page_token":""}'
const day = '"start_time":"2026-01-04T12:00:00.000Z","end_time":"2026-01-05T12:00:00.000Z"'
const failing = `{${repo},"org_url_slug":"acme",${day},${pages}}`

const submit = 'POST /submitPullRequest'
const cancel = 'POST /cancelPullRequest'
const restart = 'POST /restartTestsOnPullRequest'
const get = 'POST /getSubmittedPullRequest'
const targets = 'POST /setImpactedTargets'
const testing = 'POST /getMergeQueueTestingDetails'
const create = 'POST /createQueue'
const read = 'POST /getQueue'
const update = 'POST /updateQueue'
const remove = 'POST /deleteQueue'
const metrics = 'GET /getMergeQueueMetrics'
const list = 'POST /flaky-tests/list-failing-tests'
const details = 'POST /flaky-tests/get-test-details'
const pulls = 'POST /listPullRequests'
const quarantined = 'POST /flaky-tests/list-quarantined-tests'
const unhealthy = 'POST /flaky-tests/list-unhealthy-tests'
const link = 'POST /flaky-tests/link-ticket-to-test-case'

const pullLines: readonly Line[] = [
  { words: `pr submit 123 ${where}`, route: submit, body: `{${on},"pr":{"number":123}}` },
  { words: `pr submit '#123' ${where}`, route: submit, body: `{${on},"pr":{"number":123}}` },
  {
    words: `pr submit 4294967295 ${where}`,
    route: submit,
    body: `{${on},"pr":{"number":4294967295}}`,
  },
  ...['urgent', 'high', 'medium', 'low'].map(name => ({
    words: `pr submit 123 --priority ${name} ${where}`,
    route: submit,
    body: `{${on},"pr":{"number":123},"priority":"${name}"}`,
  })),
  ...['0', '10', '255'].map(number => ({
    words: `pr submit 123 --priority ${number} ${where}`,
    route: submit,
    body: `{${on},"pr":{"number":123},"priority":${number}}`,
  })),
  {
    words: `pr submit 123 --no-batch ${where}`,
    route: submit,
    body: `{${on},"pr":{"number":123},"noBatch":true}`,
  },
  { words: `pr cancel 123 ${where}`, route: cancel, body: `{${on},"pr":{"number":123}}` },
  { words: `pr cancel 123 --yes ${where}`, route: cancel, body: `{${on},"pr":{"number":123}}` },
  { words: `pr restart 123 ${where}`, route: restart, body: `{${on},"pr":{"number":123}}` },
  { words: `pr get 123 ${where}`, route: get, body: `{${on},"pr":{"number":123}}` },
  { words: `pr status 123 ${where}`, route: get, body: `{${on},"pr":{"number":123}}` },
  { words: `pr get --head fix-cart ${where}`, route: get, body: `{${on},"pr":{"branch":"fix-cart"}}` },
  { words: `pr get 123 --exit-status ${where}`, route: get, body: `{${on},"pr":{"number":123}}` },
]

const targetLines: readonly Line[] = [
  {
    words: `pr targets 123 //cart:lib web --sha 4f2a ${where}`,
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["//cart:lib","web"]}`,
  },
  {
    words: `pr targets 123 b a b --sha 4f2a ${where}`,
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["b","a"]}`,
  },
  {
    words: `pr targets '#123' ALL --no-sha ${where}`,
    route: targets,
    body: `{${on},"pr":{"number":123},"impactedTargets":["ALL"]}`,
  },
  {
    words: `pr targets 123 --all --sha 4f2a ${where}`,
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":"ALL"}`,
  },
  {
    words: `pr targets 123 --none --sha 4f2a ${where}`,
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":[]}`,
  },
  {
    words: `pr targets 123 --from - --too-large fail --sha 4f2a ${where}`,
    input: '\uFEFF//cart:lib\r\n\r\nweb\n//cart:lib\n"quoted" \\ é',
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["//cart:lib","web","\\"quoted\\" \\\\ é"]}`,
  },
  {
    words: `pr targets 123 --from list.txt --too-large all --sha 4f2a ${where}`,
    files: { 'list.txt': 'a\nb\n' },
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["a","b"]}`,
  },
  {
    words: `pr targets 123 --from-json - --sha 4f2a ${where}`,
    input: '["a", "b"]\n',
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["a","b"]}`,
  },
  {
    words: `pr targets 123 --from-json list.json --sha 4f2a ${where}`,
    files: { 'list.json': '["a","a"]' },
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["a"]}`,
  },
  {
    words: `pr targets web 7.0 --sha 4f2a ${where}`,
    env: { MERGEQ_PR: '123' },
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["web","7.0"]}`,
  },
  {
    words: `pr targets 123 web --sha 4f2a --forked-run 42 ${where}`,
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["web"]}`,
    headers: { 'x-forked-workflow-run-id': '42' },
  },
]

// `cursor` and `take` are members of the body itself (docs/reference/service.md, "listPullRequests").
const listLines: readonly Line[] = [
  { words: `pr list ${where}`, route: pulls, body: `{${on},"take":100}` },
  { words: `pr list --state merged ${where}`, route: pulls, body: `{${on},"state":"MERGED","take":100}` },
  {
    words: `pr list --state not-ready --page-size 5 ${where}`,
    route: pulls,
    body: `{${on},"state":"NOT_READY","take":5}`,
  },
  {
    words: `pr list --state NOT_READY --state not-ready ${where}`,
    route: pulls,
    body: `{${on},"state":"NOT_READY","take":100}`,
  },
  {
    words: `pr list --since 24h --author ada --limit 5 ${where}`,
    route: pulls,
    body: `{${on},"since":"2026-01-04T12:00:00.000Z","take":100}`,
  },
  {
    words: `pr list --since 2026-01-01 --max-pages 3 ${where}`,
    route: pulls,
    body: `{${on},"since":"2026-01-01T00:00:00.000Z","take":100}`,
  },
]

const testHealthLines: readonly Line[] = [
  { words: `flaky quarantined ${org}`, route: quarantined, body: `{${repo},"org_url_slug":"acme",${pages}}` },
  {
    words: `flaky quarantined --page-size 5 --page-token t --limit 3 --owner @a --name 'a*' --path 'b/*' --max-pages 2 ${org}`,
    route: quarantined,
    body: `{${repo},"org_url_slug":"acme","page_query":{"page_size":5,"page_token":"t"}}`,
  },
  {
    words: `flaky unhealthy --status flaky ${org}`,
    route: unhealthy,
    body: `{${repo},"org_url_slug":"acme","status":"FLAKY",${pages}}`,
  },
  {
    words: `flaky unhealthy --status BROKEN --no-quarantined --page-token t ${org}`,
    route: unhealthy,
    body: `{${repo},"org_url_slug":"acme","status":"BROKEN","page_query":{"page_size":100,"page_token":"t"}}`,
  },
  { words: 'api status', route: 'GET /status', headers: {} },
  // No organization: public clients send none.
  {
    words: `flaky link ${id} KAN-123 -R acme/web`,
    route: link,
    body: `{${repo},"test_case_id":"${id}","external_ticket_id":"KAN-123"}`,
  },
]

const run = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
const testingLines: readonly Line[] = [
  { words: `pr testing ${run} ${where}`, route: testing, body: `{${on},"testRunId":"${run}"}` },
  {
    words: `pr testing trunk-merge/pr-7/${run} ${where}`,
    route: testing,
    body: `{${on},"testRunId":"${run}"}`,
  },
  {
    words: `pr testing refs/heads/trunk-merge/pr-7/${run} ${where}`,
    route: testing,
    body: `{${on},"testRunId":"${run}"}`,
  },
  { words: `pr testing --pr 123 ${where}`, route: testing, body: `{${on},"pr":{"number":123}}` },
]

const queueLines: readonly Line[] = [
  { words: `queue create ${where}`, route: create, body: `{${on}}` },
  {
    words: `queue create --mode parallel --concurrency 4 ${where}`,
    route: create,
    body: `{${on},"mode":"parallel","concurrency":4}`,
  },
  { words: `queue create --mode single ${where}`, route: create, body: `{${on},"mode":"single"}` },
  { words: `queue get ${where}`, route: read, body: `{${on}}` },
  {
    words: `queue get -R git.example.com/acme/platform/web -b release/2.0`,
    route: read,
    body: '{"repo":{"host":"git.example.com","owner":"acme/platform","name":"web"},"targetBranch":"release/2.0"}',
  },
  { words: `queue pause ${where}`, route: update, body: `{${on},"state":"PAUSED"}` },
  { words: `queue resume ${where}`, route: update, body: `{${on},"state":"RUNNING"}` },
  { words: `queue drain ${where}`, route: update, body: `{${on},"state":"DRAINING"}` },
  { words: `queue delete --yes ${where}`, route: remove, body: `{${on}}` },
]

/**
 * Every setting that updateQueue takes (docs/reference/service.md, "Queue settings"): its flag, and what it
 * sends.
 */
const settings: readonly (readonly [flag: string, sent: string])[] = [
  ['--state running', '"state":"RUNNING"'],
  ['--state paused', '"state":"PAUSED"'],
  ['--state draining', '"state":"DRAINING"'],
  ['--mode single', '"mode":"single"'],
  ['--mode parallel', '"mode":"parallel"'],
  ['--concurrency 5', '"concurrency":5'],
  ['--concurrency 4294967295', '"concurrency":4294967295'],
  ['--bisection-concurrency 2', '"bisectionConcurrency":2'],
  ['--testing-timeout-minutes 0', '"testingTimeoutMinutes":0'],
  ['--pending-failure-depth 0', '"pendingFailureDepth":0'],
  ['--can-optimistically-merge', '"canOptimisticallyMerge":true'],
  ['--no-can-optimistically-merge', '"canOptimisticallyMerge":false'],
  ['--batch', '"batch":true'],
  ['--no-batch', '"batch":false'],
  ['--batching-min-size 4', '"batchingMinSize":4'],
  ['--batching-max-wait-time-minutes 10', '"batchingMaxWaitTimeMinutes":10'],
  ['--create-prs-for-testing-branches', '"createPrsForTestingBranches":true'],
  ['--no-create-prs-for-testing-branches', '"createPrsForTestingBranches":false'],
  ['--comments-enabled', '"commentsEnabled":true'],
  ['--no-comments-enabled', '"commentsEnabled":false'],
  ['--commands-enabled', '"commandsEnabled":true'],
  ['--no-commands-enabled', '"commandsEnabled":false'],
  ['--status-check-enabled', '"statusCheckEnabled":true'],
  ['--no-status-check-enabled', '"statusCheckEnabled":false'],
  ['--direct-merge-mode off', '"directMergeMode":"off"'],
  ['--direct-merge-mode always', '"directMergeMode":"always"'],
  ['--optimization-mode off', '"optimizationMode":"off"'],
  [
    '--optimization-mode bisection_skip_redundant_tests',
    '"optimizationMode":"bisection_skip_redundant_tests"',
  ],
  ['--merge-method merge_commit', '"mergeMethod":"merge_commit"'],
  ['--merge-method squash', '"mergeMethod":"squash"'],
  ['--merge-method rebase', '"mergeMethod":"rebase"'],
  ["--required-status build --required-status 'unit tests'", '"requiredStatuses":["build","unit tests"]'],
  ['--delete-required-statuses', '"deleteRequiredStatuses":true'],
  ['--extension-enabled', '"extensionEnabled":true'],
  ['--no-extension-enabled', '"extensionEnabled":false'],
  ['--label-commands-enabled', '"labelCommandsEnabled":true'],
  ['--no-label-commands-enabled', '"labelCommandsEnabled":false'],
  ['--state-labels-enabled', '"stateLabelsEnabled":true'],
  ['--no-state-labels-enabled', '"stateLabelsEnabled":false'],
  ['--enqueueing-label merge-me', '"enqueueingLabel":"merge-me"'],
  ['--not-ready-timeout-hours 24', '"notReadyTimeoutHours":24'],
  ['--test-branch-construction-mode rename_temp_branch', '"testBranchConstructionMode":"rename_temp_branch"'],
  [
    '--test-branch-construction-mode push_new_branch_from_temp',
    '"testBranchConstructionMode":"push_new_branch_from_temp"',
  ],
  ['--concurrency 5 --batch --mode parallel', '"mode":"parallel","concurrency":5,"batch":true'],
]

const updateLines: readonly Line[] = settings.map(([flag, sent]) => ({
  words: `queue update ${flag} ${where}`,
  route: update,
  body: `{${on},${sent}}`,
}))

const metricsLines: readonly Line[] = [
  { words: 'metrics', route: metrics },
  { words: 'metrics --all-repos', route: metrics },
  { words: 'metrics --all-repos', env: { MERGEQ_REPO: 'acme/web' }, route: metrics },
  { words: 'metrics -R acme/web', route: metrics, query: '?repo=acme%2Fweb&repoHost=github.com' },
  {
    words: 'metrics',
    env: { MERGEQ_REPO: 'acme/web' },
    route: metrics,
    query: '?repo=acme%2Fweb&repoHost=github.com',
  },
  {
    words: 'metrics --repo git.example.com:8443/acme/platform/web',
    route: metrics,
    query: '?repo=acme%2Fplatform%2Fweb&repoHost=git.example.com%3A8443',
  },
]

const between = (start: string, end: string, query = pages) =>
  `{${repo},"org_url_slug":"acme","start_time":"${start}","end_time":"${end}",${query}}`

const flakyLines: readonly Line[] = [
  { words: `flaky list ${org}`, route: list, body: failing },
  {
    words: `flaky list --since 7d ${org}`,
    route: list,
    body: between('2025-12-29T12:00:00.000Z', '2026-01-05T12:00:00.000Z'),
  },
  {
    words: `flaky list --since 1h30m --until 30m ${org}`,
    route: list,
    body: between('2026-01-05T10:30:00.000Z', '2026-01-05T11:30:00.000Z'),
  },
  {
    words: `flaky list --since 2026-01-02 --until 2026-01-03T01:30:00+02:00 ${org}`,
    route: list,
    body: between('2026-01-02T00:00:00.000Z', '2026-01-02T23:30:00.000Z'),
  },
  {
    words: `flaky list --since 2026-01-01T00:00:00Z --until 2026-01-04T06:00:00.250Z ${org}`,
    route: list,
    body: between('2026-01-01T00:00:00.000Z', '2026-01-04T06:00:00.250Z'),
  },
  {
    words: `flaky list --page-size 25 --page-token abc= ${org}`,
    route: list,
    body: failing.replace(pages, '"page_query":{"page_size":25,"page_token":"abc="}'),
  },
  {
    words: `flaky list --limit 5 --max-pages 3 --sort impact ${org}`,
    route: list,
    body: failing,
  },
  {
    words: `flaky list --owner @acme/web --quarantined --min-failure-rate 0.5 --name 'cart*' --path 'src/**' ${org}`,
    route: list,
    body: failing,
  },
  { words: `flaky list --no-quarantined ${org}`, route: list, body: failing },
  {
    words: `flaky get ${id} ${org}`,
    route: details,
    body: `{${repo},"org_url_slug":"acme","test_id":"${id}"}`,
  },
  {
    words: `flaky get ${id} -R gitlab.com/acme/platform/web --org acme`,
    route: details,
    body: `{"repo":{"host":"gitlab.com","owner":"acme/platform","name":"web"},"org_url_slug":"acme","test_id":"${id}"}`,
  },
]

const setLines: readonly Line[] = [
  { words: `queue update --set unknown=1 ${where}`, route: update, body: `{${on},"unknown":1}` },
  {
    words: `queue update --set concurrency=abc ${where}`,
    route: update,
    body: `{${on},"concurrency":"abc"}`,
  },
  {
    words: `queue update --set a.b.c=1.5 --set a.b.d=x --set a.e=true ${where}`,
    route: update,
    body: `{${on},"a":{"b":{"c":1.5,"d":"x"},"e":true}}`,
  },
  {
    words: `queue update --set 'a=[1, "x", null]' --set b=null --set c= --set 'd="5"' --set e=f=g ${where}`,
    route: update,
    body: `{${on},"a":[1,"x",null],"b":null,"c":"","d":"5","e":"f=g"}`,
  },
  {
    words: `queue update --set 'a={"b":{"c":1}}' --batch ${where}`,
    route: update,
    body: `{${on},"batch":true,"a":{"b":{"c":1}}}`,
  },
  {
    words: `pr submit 123 --set pr.note=x --priority low ${where}`,
    route: submit,
    body: `{${on},"pr":{"number":123,"note":"x"},"priority":"low"}`,
  },
  {
    words: `pr cancel 123 --set reason='no more' ${where}`,
    route: cancel,
    body: `{${on},"pr":{"number":123},"reason":"no more"}`,
  },
  {
    words: `pr restart 123 --set force=true ${where}`,
    route: restart,
    body: `{${on},"pr":{"number":123},"force":true}`,
  },
  {
    words: `pr get 123 --set includeTimeline=true ${where}`,
    route: get,
    body: `{${on},"pr":{"number":123},"includeTimeline":true}`,
  },
  {
    words: `pr targets 123 web --sha 4f2a --set pr.base=main ${where}`,
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a","base":"main"},"impactedTargets":["web"]}`,
  },
  {
    words: `pr testing ${run} --set verbose=true ${where}`,
    route: testing,
    body: `{${on},"testRunId":"${run}","verbose":true}`,
  },
  { words: `queue create --set batch=true ${where}`, route: create, body: `{${on},"batch":true}` },
  { words: `queue get --set history=3 ${where}`, route: read, body: `{${on},"history":3}` },
  {
    words: `queue pause --set why=release ${where}`,
    route: update,
    body: `{${on},"state":"PAUSED","why":"release"}`,
  },
  { words: `queue delete --yes --set force=true ${where}`, route: remove, body: `{${on},"force":true}` },
  {
    words: `flaky get ${id} --set full=true ${org}`,
    route: details,
    body: `{${repo},"org_url_slug":"acme","test_id":"${id}","full":true}`,
  },
  {
    words: `queue update --set __proto__.polluted=1 --set constructor.prototype.polluted=1 ${where}`,
    route: update,
    body: `{${on},"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}`,
  },
  {
    words: `queue update --set large=9007199254740992 ${where}`,
    route: update,
    body: `{${on},"large":9007199254740992}`,
  },
]

const ours = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
const environmentLines: readonly Line[] = [
  { words: 'queue get', env: ours, route: read, body: `{${on}}` },
  {
    words: 'pr get',
    env: { ...ours, MERGEQ_PR: '#123' },
    route: get,
    body: `{${on},"pr":{"number":123}}`,
  },
  {
    words: 'pr get 7',
    env: { ...ours, MERGEQ_PR: '123' },
    route: get,
    body: `{${on},"pr":{"number":7}}`,
  },
  {
    words: 'pr submit',
    env: { MERGEQ_TARGET_BRANCH: 'main', MERGEQ_PR: 'https://github.com/acme/web/pull/123' },
    route: submit,
    body: `{${on},"pr":{"number":123}}`,
  },
  {
    words: 'pr targets web',
    env: { ...ours, MERGEQ_PR: '123', MERGEQ_SHA: '4f2a' },
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"4f2a"},"impactedTargets":["web"]}`,
  },
  {
    words: 'pr targets web --sha 0b9f',
    env: { ...ours, MERGEQ_PR: '123', MERGEQ_SHA: '4f2a' },
    route: targets,
    body: `{${on},"pr":{"number":123,"sha":"0b9f"},"impactedTargets":["web"]}`,
  },
  { words: 'flaky list', env: { ...ours, MERGEQ_ORG: 'acme' }, route: list, body: failing },
  { words: 'flaky list', env: { ...ours, TRUNK_ORG_URL_SLUG: 'acme' }, route: list, body: failing },
  {
    words: 'flaky list',
    env: { ...ours, MERGEQ_ORG: 'acme', TRUNK_ORG_URL_SLUG: 'other' },
    route: list,
    body: failing,
  },
  {
    words: 'flaky list --org acme',
    env: { ...ours, MERGEQ_ORG: 'other' },
    route: list,
    body: failing,
  },
  {
    words: 'queue get -R acme/web -b main',
    env: { MERGEQ_REPO: 'other/thing', MERGEQ_TARGET_BRANCH: 'other' },
    route: read,
    body: `{${on}}`,
  },
  {
    words: '-b main --repo acme/web queue get',
    env: { MERGEQ_TARGET_BRANCH: '' },
    route: read,
    body: `{${on}}`,
  },
  {
    words: 'pr get https://github.com/acme/web/pull/123 -b main',
    env: { MERGEQ_REPO: 'other/thing' },
    route: get,
    body: `{${on},"pr":{"number":123}}`,
  },
  {
    words: 'pr get https://git.example.com/acme/web/pull/123 -b main',
    route: get,
    body: '{"repo":{"host":"git.example.com","owner":"acme","name":"web"},"targetBranch":"main","pr":{"number":123}}',
  },
  {
    words: 'pr get https://github.com/acme/web/pull/123 -R acme/web -b main',
    route: get,
    body: `{${on},"pr":{"number":123}}`,
  },
]

const tables = {
  'pull requests': pullLines,
  targets: targetLines,
  'test runs': testingLines,
  'lists of pull requests': listLines,
  'the health of tests and of the service': testHealthLines,
  queues: queueLines,
  'settings of a queue': updateLines,
  metrics: metricsLines,
  'failing tests': flakyLines,
  '--set': setLines,
  'the environment and addresses': environmentLines,
}
const lines = Object.values(tables).flat()

const nameOfRoute = (route: string): string => route.slice(route.indexOf('/') + 1)
const settingOf = ({ env, files, input }: Line): Setting => ({
  answer,
  ...(env === undefined ? {} : { env }),
  ...(files === undefined ? {} : { files }),
  ...(input === undefined ? {} : { input }),
})

const documents: Readonly<Record<string, object>> = {
  listPullRequests: { pullRequests: [] },
  'flaky-tests/list-quarantined-tests': { quarantined_tests: [], page: { next_page_token: '' } },
  'flaky-tests/list-unhealthy-tests': { tests: [], page: { next_page_token: '' } },
  getSubmittedPullRequest: { state: 'testing', isCurrentlySubmittedToQueue: true },
  getQueue: { state: 'running', enqueuedPullRequests: [] },
  getMergeQueueTestingDetails: { testBranch: 'trunk-merge/pr-7/x' },
  'flaky-tests/list-failing-tests': { tests: [], page: { next_page_token: '' } },
  'flaky-tests/get-test-details': { test: { id } },
}

/** A service that is content with everything. */
function answer({ path }: Seen): Answer {
  const name = path.replace('/v1/', '').replace(/\?.*/, '')
  const document = documents[name]
  if (document !== undefined) return { body: JSON.stringify(document) }
  return { body: name === 'getMergeQueueMetrics' ? 'mq_depth_current 1\n' : 'OK' }
}

describe.each(Object.entries(tables))('%s', (_, table) => {
  for (const line of table) {
    const { words, env, route, body, query = '', headers } = line
    test(`${words}${env === undefined ? '' : ` with ${JSON.stringify(env)}`}`, async () => {
      const { err, requests } = await mergeq(words, settingOf(line))
      expect(
        requests.map(({ method, path, body }) => ({ method, path, body })),
        err,
      ).toEqual([
        {
          method: route.split(' ')[0],
          path: `/v1/${nameOfRoute(route)}${query}`,
          body: body ?? '',
        },
      ])
      const [{ headers: sent = {} } = {}] = requests
      const {
        'user-agent': agent,
        'x-api-token': token,
        'content-type': type,
        'content-length': length,
      } = sent
      expect(agent).toMatch(/^mergeq\//)
      expect(agent).not.toMatch(/terraform|opentofu/i)
      expect(sent).not.toHaveProperty('x-source')
      expect(sent).toMatchObject(headers ?? {})
      expect({ token, type, length, forked: sent['x-forked-workflow-run-id'] }).toEqual({
        token: headers === undefined ? 'test-token' : undefined,
        type: body === undefined ? undefined : 'application/json',
        length: body === undefined ? undefined : String(Buffer.byteLength(body)),
        forked: headers?.['x-forked-workflow-run-id'],
      })
    })
  }
})

/** An address without the port of this run. */
const steady = (url: string): string => url.replace(/127\.0\.0\.1:\d+/, 'loopback')

describe('--dry-run prints the same request, needs no token and sends nothing', () => {
  for (const line of lines) {
    const { words, env, route, body, query = '', headers } = line
    test(`${words}${env === undefined ? '' : ` with ${JSON.stringify(env)}`}`, async () => {
      const setting = settingOf(line)
      const outcome = await mergeq(`${words} --dry-run`, {
        ...setting,
        env: { ...setting.env, MERGEQ_TOKEN: '' },
      })
      const { code, out, err, requests } = outcome
      expect({ code, err, requests, lines: out.split('\n').length }).toEqual({
        code: 0,
        err: '',
        requests: [],
        lines: 2,
      })
      const document = JSON.parse(out)
      const [method] = route.split(' ')
      expect(Object.keys(document)).toEqual([
        'operation',
        'method',
        'url',
        'headers',
        ...(body === undefined ? [] : ['body']),
      ])
      expect({ ...document, url: steady(document.url), headers: undefined, body: undefined }).toEqual({
        operation: nameOfRoute(route),
        method,
        url: `http://loopback/v1/${nameOfRoute(route)}${query}`,
      })
      if (body !== undefined) expect(out).toContain(`"body":${body}}\n`)
      expect(document.headers).toMatchObject({
        ...(headers ?? { 'x-api-token': '[REDACTED]' }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      })
      expect('x-api-token' in document.headers).toBe(headers === undefined)
    })
  }

  test('with a token it is redacted, in every format', async () => {
    for (const format of ['', '--json', '-o ndjson', '-o csv']) {
      const { code, out, err, requests } = await mergeq(`pr submit 7 ${where} --dry-run ${format}`, {
        answer,
      })
      expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
      expect(JSON.parse(out).headers['x-api-token']).toBe('[REDACTED]')
      expect(out).not.toContain('test-token')
    }
  })

  test('several pull requests are several documents, one a line', async () => {
    const { code, out, requests } = await mergeq(`pr cancel 7 8 ${where} --dry-run`, { answer })
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).body.pr.number),
    ).toEqual([7, 8])
  })

  test('it asks nothing where something would be destroyed', async () => {
    for (const words of ['queue delete', 'pr cancel 7 8'])
      for (const inputTerminal of [true, false]) {
        const { code, err, requests } = await mergeq(`${words} ${where} --dry-run`, { answer, inputTerminal })
        expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
      }
  })

  test('on a terminal it is indented, and a curl line reads the token from the environment', async () => {
    const { code, out, err, requests } = await mergeq(
      `queue update --set "note=it's \\"quoted\\" \\$HOME" ${where} --dry-run`,
      { answer, terminal: true },
    )
    expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
    const [, document = '', curl = ''] = /^(\{\n[\s\S]*?\n\}\n)(curl [^\n]*\n)$/.exec(out) ?? []
    expect(document).toBe(`${JSON.stringify(JSON.parse(document), null, 2)}\n`)
    const { url } = JSON.parse(document)
    expect(curl).toContain(`'${url}'`)
    expect(curl).toContain('-X POST')
    expect(curl).toContain('-H "x-api-token: $MERGEQ_TOKEN"')
    expect(curl).toContain("-H 'content-type: application/json'")
    expect(curl).toContain(`--data-binary '{${on},"note":"it'\\''s`)
    expect(curl).not.toContain('[REDACTED]')
  })

  test('a list over several windows prints its first request', async () => {
    const { code, out, requests } = await mergeq(`flaky list --since 20d ${org} --dry-run`, { answer })
    expect({ code, requests }).toEqual({ code: 0, requests: [] })
    expect(JSON.parse(out).body).toMatchObject({
      start_time: '2025-12-29T12:00:00.000Z',
      end_time: '2026-01-05T12:00:00.000Z',
    })
  })

  // docs/reference/cli.md, "Dry run": for a composition it prints the first request, which empties the queue.
  test.each([['queue delete --cancel-all --yes', 'getQueue']])(
    '%s prints %s, the first request',
    async (words, operation) => {
      const { code, out, requests } = await mergeq(`${words} ${where} --dry-run`, { answer })
      expect({ code, requests, operation: JSON.parse(out).operation }).toEqual({
        code: 0,
        requests: [],
        operation,
      })
    },
  )
})

describe('several requests', () => {
  const sent = (requests: readonly Seen[]) =>
    requests.map(({ path, body }) => `${path.replace('/v1/', '')} ${body}`)

  test('several pull requests are one request each, in the order given', async () => {
    const { code, requests } = await mergeq(`pr submit 9 '#7' 8 ${where} --no-batch`, { answer })
    expect(code).toBe(0)
    expect(sent(requests)).toEqual(
      [9, 7, 8].map(number => `submitPullRequest {${on},"pr":{"number":${number}},"noBatch":true}`),
    )
  })

  test('each address names its own repository', async () => {
    const { code, requests } = await mergeq(
      'pr cancel https://github.com/acme/web/pull/7 https://github.com/acme/app/pull/7 --yes -b main',
      { answer },
    )
    expect(code).toBe(0)
    expect(sent(requests).sort()).toEqual([
      'cancelPullRequest {"repo":{"host":"github.com","owner":"acme","name":"app"},"targetBranch":"main","pr":{"number":7}}',
      `cancelPullRequest {${on},"pr":{"number":7}}`,
    ])
  })

  test.each([
    ['one a line', '7\n#8\nhttps://github.com/acme/web/pull/9\n', [7, 8, 9]],
    [
      'as the receipts of an earlier run, those that failed',
      '{"operation":"cancelPullRequest","pr":7,"ok":false,"delivery":"unknown"}\n{"operation":"cancelPullRequest","pr":8,"ok":true,"delivery":"confirmed"}\n{"operation":"cancelPullRequest","pr":9,"ok":false,"delivery":"not-applied"}\n',
      [7, 9],
    ],
  ])('- reads pull requests from standard input, %s', async (_, input, numbers) => {
    const { requests } = await mergeq(`pr cancel - --yes ${where}`, { answer, input })
    expect(sent(requests).sort()).toEqual(
      numbers.map(pr => `cancelPullRequest {${on},"pr":{"number":${pr}}}`),
    )
  })

  test('submit --wait submits once, with the same body, and then reads only', async () => {
    let submitted = false
    const { code, requests } = await mergeq(`pr submit 7 --priority high --wait --interval 1s ${where}`, {
      answer: seen => {
        submitted ||= seen.path.endsWith('/submitPullRequest')
        if (!seen.path.endsWith('/getSubmittedPullRequest')) return answer(seen)
        return submitted
          ? {
              body: `{"id":"1","state":"merged","stateChangedAt":"${new Date(Date.now() + 2_000).toISOString()}"}`,
            }
          : { status: 404, body: 'Not Found' }
      },
    })
    expect(code).toBe(0)
    expect(sent(requests).filter(line => !/^get/.test(line))).toEqual([
      `submitPullRequest {${on},"pr":{"number":7},"priority":"high"}`,
    ])
    expect(sent(requests).at(-1)).toBe(`getSubmittedPullRequest {${on},"pr":{"number":7}}`)
  })

  test('queue delete --cancel-all cancels what is enqueued, then deletes', async () => {
    const { code, requests } = await mergeq(`queue delete --cancel-all --yes ${where}`, {
      answer: seen =>
        seen.path.endsWith('/getQueue')
          ? { body: '{"state":"running","enqueuedPullRequests":[{"prNumber":7},{"prNumber":8}]}' }
          : answer(seen),
    })
    expect(code).toBe(0)
    expect(sent(requests)).toEqual([
      `getQueue {${on}}`,
      `cancelPullRequest {${on},"pr":{"number":7}}`,
      `cancelPullRequest {${on},"pr":{"number":8}}`,
      `deleteQueue {${on}}`,
    ])
  })

  test('--set reaches the fields that paging fills in', async () => {
    const { requests } = await mergeq(`flaky list --set page_query.extra=1 ${org}`, { answer })
    expect(requests.map(({ body }) => JSON.parse(body).page_query)).toEqual([
      { page_size: 100, page_token: '', extra: 1 },
    ])
  })

  test.each(['', '/', '//'])('with "%s" at its end the base address gives the same path', async end => {
    const service = await serveScript(answer)
    try {
      const { code } = await mergeq(`queue get ${where}`, {
        env: { MERGEQ_BASE_URL: `${service.baseUrl}${end}` },
      })
      expect({ code, paths: service.requests.map(({ path }) => path) }).toEqual({
        code: 0,
        paths: ['/v1/getQueue'],
      })
    } finally {
      await service.close()
    }
    const { out } = await mergeq(`queue get ${where} --dry-run --base-url HTTPS://H.test:443/v1${end}`, {
      answer,
    })
    expect(JSON.parse(out).url).toBe('https://h.test/v1/getQueue')
  })
})

test('every setting of a queue has a line', () => {
  const sent = settings.flatMap(([, sent]) => Object.keys(JSON.parse(`{${sent}}`)))
  expect([...new Set(sent)].sort()).toEqual(Object.keys(queueSettings).sort())
})

test('no operation is without a line', () => {
  const covered = new Set(lines.map(({ route }) => route))
  expect(serviceOperations.map(({ route }) => route).filter(route => !covered.has(route))).toEqual([])
})

test('pr testing in the CI job of the queue requests the run of its test branch', async () => {
  const run = '6e1d9f0a-52b1-4a6e-9a44-0d7f0c1f2b3c'
  const { code, requests } = await mergeq('pr testing', {
    answer,
    env: {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'acme/web',
      GITHUB_REF: `refs/heads/trunk-merge/pr-7/${run}`,
      GITHUB_REF_NAME: `trunk-merge/pr-7/${run}`,
      GITHUB_EVENT_NAME: 'push',
      MERGEQ_TARGET_BRANCH: 'main',
    },
  })
  expect({ code, body: requests[0]?.body }).toEqual({ code: 0, body: `{${on},"testRunId":"${run}"}` })
})
