// The benchmark cases: one object for each row of the table. To add a row, add an object.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

/**
 * @typedef {object} BenchContext
 * @property {string} node The path of the Node binary that is measured.
 * @property {string} launcher The file that starts mergeq.
 * @property {string} folder A temporary directory: working directory and home of the commands.
 * @property {string} bin A directory that is first on the PATH.
 * @property {string} baseUrl The base URL of the service.
 * @property {{baseUrl: string, caFile: string}} [link] The service over TLS 1.3 with 40 ms of latency;
 *   undefined if openssl is not installed.
 *
 * @typedef {object} Target The upper limits of a figure: `must` is required, `aim` is desired.
 * @property {number} must
 * @property {number} aim
 * @property {string} against The case whose time is the divisor.
 * @property {string} [above] The case whose figure is subtracted from this figure.
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {readonly string[]} [needs] Programs without which the case is skipped and reported.
 * @property {(context: BenchContext) => unknown} [prepare] Runs once before all measurements.
 * @property {(context: BenchContext) => readonly string[]} command The program and its arguments.
 * @property {readonly string[]} [memoryOptions] Options of Node for the measurement of memory only.
 * @property {number} [exit] The expected exit code; default 0.
 * @property {number} [rounds] The maximum number of rounds, for a slow case.
 * @property {number} [per] The number of items (pages, pull requests) by which the time is divided.
 * @property {boolean} [quoted] Whether the README quotes the figure.
 * @property {(context: BenchContext) => Readonly<Record<string, string>>} [env] Further environment variables.
 * @property {Target | readonly Target[]} [target] Without one the ratio to `node -e 0` is shown, which differs between
 *   machines by a factor of two.
 * @property {{must: number, aim: number, above?: string}} [megabytes] Target for the peak memory in MB, or
 *   for its difference to the peak memory of the case `above`.
 */

export const baseline = 'node -e 0'
const oneRequest = 'mergeq pr get 7 --json'
/** The two units of a request: programs that people would run instead. */
const ghRequest = 'gh api, the same POST'
const bundledRequest = 'commander and undici alone, bundled, the same POST'
const ghVersion = 'gh --version'

/** Round trip time of the connection with latency, in milliseconds. */
export const roundTripMs = 40
const curlOverTls = 'curl, the same POST, TLS 1.3 and 40 ms away'
const pullRequests = 200

const getArgs = ['pr', 'get', '7', '--json', '-R', 'acme/web', '-b', 'main']
const body = JSON.stringify({
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
  pr: { number: 7 },
})

const uploadOptions = ['-R', 'acme/web', '-b', 'main', '--sha', '4f2a9c1d'.repeat(5), '--json']
const largeUpload = 'mergeq pr targets, 500,000 labels (18.8 MiB)'
const uploadPipeline = `jq -R . labels.txt |
  jq -s -c '{repo: {host: "github.com", owner: "acme", name: "web"}, targetBranch: "main", pr: {number: 7, sha: "4f2a9c1d"}, impactedTargets: .}' |
  curl -sS --fail -X POST "$MERGEQ_BASE_URL/setImpactedTargets" -H 'content-type: application/json' -H 'x-api-token: bench' --data-binary @-`

/** 500,000 lines with a label each; the last 20,000 labels repeat the first ones. */
const createLabels = () =>
  Array.from({ length: 500_000 }, (_, index) => {
    const label = index % 480_000
    return `//services/cart/lib/module${String(label % 977).padStart(3, '0')}:t${String(label).padStart(7, '0')}\n`
  }).join('')

const curlPost = [
  ...['-sS', '--fail', '--http1.1', '-X', 'POST', '-H', 'content-type: application/json'],
  ...['-H', 'x-api-token: bench', '--data-binary', body],
]

const listedPages = 1_000
const shellLoopPages = 10
const shortList = 'mergeq flaky list, 200 pages of 100 tests'
const shellLoop = 'a loop of curl and jq, per page of 100 tests'
/**
 * The memory of lists is what their pages leave behind. By default, V8 leaves garbage as well: in Node 24 its
 * young generation grows to 134 MB while 1,000 pages are read (34 MB in Node 20), and what is in use after a
 * collection stays at 10 MB after 200 pages and 19 MB after 1,000, of which 9 MB are the IDs of 100,000 tests.
 */
const smallHeap = ['--optimize-for-size']
const listArgs = ['flaky', 'list', '-R', 'acme/web', '--org', 'acme', '-o', 'ndjson', '-q']

/**
 * The loop in a shell script that `flaky list` replaces: request a page, print its records, take the next
 * token.
 */
const shellLoopScript = `token=''
for page in $(seq ${shellLoopPages}); do
  answer=$(curl -sS --fail "$MERGEQ_BASE_URL/flaky-tests/list-failing-tests" \\
    -H 'content-type: application/json' -H 'x-api-token: bench' \\
    --data-binary '{"page_query":{"page_size":100,"page_token":"'"$token"'"}}')
  printf '%s' "$answer" | jq -c '.tests[]'
  token=$(printf '%s' "$answer" | jq -r '.page.next_page_token')
done`

/** Runs mergeq with these arguments. */
const mergeq =
  (...args) =>
  ({ node, launcher }) => [node, launcher, ...args]

/** @type {readonly Case[]} */
export const cases = [
  { name: baseline, command: ({ node }) => [node, '-e', '0'] },
  { name: 'mergeq --version', quoted: true, command: mergeq('--version') },
  { name: ghVersion, needs: ['gh'], command: () => ['gh', '--version'] },
  {
    name: 'mergeq --help',
    quoted: true,
    command: mergeq('--help'),
    target: { must: 0.75, aim: 0.65, against: ghVersion },
  },
  { name: 'mergeq pr submit --help', command: mergeq('pr', 'submit', '--help') },
  { name: 'mergeq pr sbumit', command: mergeq('pr', 'sbumit'), exit: 2 },
  {
    name: oneRequest,
    quoted: true,
    command: mergeq(...getArgs),
    target: [
      { must: 1.35, aim: 1.1, against: ghRequest },
      { must: 0.33, aim: 0.28, against: bundledRequest },
    ],
    megabytes: { must: 20, aim: 15, above: baseline },
  },
  {
    name: 'the same through the installed link',
    needs: ['env'],
    prepare({ node, launcher, bin }) {
      symlinkSync(node, join(bin, 'node'))
      symlinkSync(launcher, join(bin, 'mergeq'))
    },
    command: ({ bin }) => [join(bin, 'mergeq'), ...getArgs],
  },
  {
    name: `${oneRequest}, with a settings file`,
    quoted: true,
    prepare({ folder }) {
      mkdirSync(join(folder, 'settings'), { recursive: true })
      const profiles = { default: { 'target-branch': 'main' } }
      writeFileSync(join(folder, 'settings/config.json'), JSON.stringify({ profiles }), { mode: 0o600 })
    },
    env: ({ folder }) => ({ MERGEQ_CONFIG_DIR: join(folder, 'settings') }),
    command: mergeq(...getArgs.slice(0, -2)),
    target: { must: 1.55, aim: 1.35, against: ghRequest },
  },
  {
    name: ghRequest,
    quoted: true,
    needs: ['gh'],
    prepare: ({ folder }) => writeFileSync(join(folder, 'body.json'), body),
    command: ({ baseUrl }) => ['gh', 'api', `${baseUrl}/getSubmittedPullRequest`, '--input', 'body.json'],
  },
  {
    name: bundledRequest,
    quoted: true,
    prepare: ({ folder }) =>
      buildSync({
        entryPoints: [join(import.meta.dirname, 'smallest-program.mjs')],
        outfile: join(folder, 'smallest.mjs'),
        bundle: true,
        platform: 'node',
        format: 'esm',
        minify: true,
        // What is bundled from CommonJS calls it.
        banner: {
          js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);',
        },
        logLevel: 'error',
      }),
    command: ({ node, folder }) => [
      node,
      join(folder, 'smallest.mjs'),
      ...getArgs.filter(word => word !== '--json'),
    ],
  },
  {
    name: 'curl, the same POST',
    needs: ['curl'],
    command: ({ baseUrl }) => ['curl', ...curlPost, `${baseUrl}/getSubmittedPullRequest`],
  },
  {
    name: curlOverTls,
    needs: ['curl', 'openssl'],
    command: ({ link }) => [
      'curl',
      '--cacert',
      link.caFile,
      ...curlPost,
      `${link.baseUrl}/getSubmittedPullRequest`,
    ],
  },
  {
    name: `${oneRequest}, TLS 1.3 and 40 ms away`,
    quoted: true,
    needs: ['curl', 'openssl'],
    command: ({ link, ...context }) =>
      mergeq(...getArgs, '--base-url', link.baseUrl, '--ca-file', link.caFile)(context),
    target: { must: 1.35, aim: 1.2, against: curlOverTls },
  },
  {
    name: `${pullRequests} pull requests in one command, each`,
    quoted: true,
    per: pullRequests,
    command: mergeq(
      ...['pr', 'get', '--json', '-R', 'acme/web', '-b', 'main'],
      ...Array.from({ length: pullRequests }, (_, index) => String(index + 1)),
    ),
    target: { must: 0.05, aim: 0.02, against: oneRequest },
  },
  {
    name: 'jq -R . | jq -s | curl, the same labels, none dropped',
    needs: ['jq'],
    rounds: 5,
    prepare: ({ folder }) => writeFileSync(join(folder, 'labels.txt'), createLabels()),
    command: () => ['sh', '-c', uploadPipeline],
  },
  {
    name: largeUpload,
    quoted: true,
    rounds: 5,
    command: mergeq('pr', 'targets', '7', '--from', 'labels.txt', ...uploadOptions),
    target: { must: 0.4, aim: 0.33, against: 'jq -R . | jq -s | curl, the same labels, none dropped' },
    megabytes: { must: 100, aim: 90 },
  },
  {
    name: shellLoop,
    needs: ['jq'],
    rounds: 5,
    per: shellLoopPages,
    command: () => ['sh', '-c', shellLoopScript],
  },
  {
    name: shortList,
    rounds: 5,
    memoryOptions: smallHeap,
    command: mergeq(...listArgs, '--max-pages', '200'),
    exit: 17,
  },
  {
    name: 'mergeq flaky list, per page of 1,000',
    quoted: true,
    rounds: 5,
    per: listedPages,
    memoryOptions: smallHeap,
    command: mergeq(...listArgs),
    target: { must: 0.03, aim: 0.02, against: shellLoop },
    megabytes: { must: 15, aim: 10, above: shortList },
  },
]
