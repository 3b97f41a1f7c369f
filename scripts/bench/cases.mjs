// What is measured: one object a row. A new row is one more object.
import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

/**
 * @typedef {object} Stage What a case may use.
 * @property {string} node The Node that is measured.
 * @property {string} launcher The file that starts mergeq.
 * @property {string} folder A folder that is thrown away afterwards; commands run in it, and it is their home.
 * @property {string} bin A folder that stands first on the PATH.
 * @property {string} baseUrl Where the service answers.
 * @property {{baseUrl: string, caFile: string}} [link] The same over TLS 1.3 and 40 ms away; only where openssl is.
 *
 * @typedef {object} Target What a figure is held against: what it must be at most, and what it aims at.
 * @property {number} must
 * @property {number} aim
 * @property {string} [against] The row that the time is divided by; `node -e 0` where this is left out.
 * @property {'s'} [unit] Seconds, not a ratio.
 * @property {string} [above] The row whose own figure is taken away, where the target is a surcharge.
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {readonly string[]} [needs] Programs that must be installed; the row is skipped, by name, where one is not.
 * @property {(stage: Stage) => void} [prepare] Done once, before anything is measured.
 * @property {(stage: Stage) => readonly string[]} command The program and its arguments.
 * @property {number} [exit] The exit code that is right; 0 where this is left out.
 * @property {number} [rounds] At most so many rounds, for a row that takes long.
 * @property {number} [per] The time is divided by this before it is compared: so many pages or pull requests.
 * @property {boolean} [quoted] Whether the README quotes it.
 * @property {Target} [target]
 * @property {Omit<Target, 'above'>} [peak] The same for the peak of its memory.
 * @property {{must: number, aim: number, above?: string}} [megabytes] That peak itself, in MB, or how far it is above
 *   that of another row.
 */

export const baseline = 'node -e 0'
const oneRequest = 'mergeq pr get 7 --json'

/** Milliseconds of round trip of the link. */
export const trip = 40
const distant = 'curl, the same POST, TLS 1.3 and 40 ms away'
const pullRequests = 200

const start = { must: 1.45, aim: 1.3 }
const request = ['pr', 'get', '7', '--json', '-R', 'acme/web', '-b', 'main']
const body = JSON.stringify({
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
  pr: { number: 7 },
})

const upload = ['-R', 'acme/web', '-b', 'main', '--sha', '4f2a9c1d', '--json']
const largeUpload = 'mergeq pr targets, 500,000 labels (18.8 MiB)'
const pipeline = `jq -R . labels.txt |
  jq -s -c '{repo: {host: "github.com", owner: "acme", name: "web"}, targetBranch: "main", pr: {number: 7, sha: "4f2a9c1d"}, impactedTargets: .}' |
  curl -sS --fail -X POST "$MERGEQ_BASE_URL/setImpactedTargets" -H 'content-type: application/json' -H 'x-api-token: bench' --data-binary @-`

/** So many labels, of which the last 20,000 repeat the first. */
const labels = (count, first = 0) =>
  Array.from({ length: count }, (_, index) => {
    const label = first + (index < count - 20_000 ? index : index - (count - 20_000))
    return `//services/cart/lib/module${String(label % 977).padStart(3, '0')}:t${String(label).padStart(7, '0')}\n`
  }).join('')

/** A file of 1 GiB in which 20 MiB of different labels are soon passed. */
function writeGibibyte(path) {
  const file = openSync(path, 'w')
  for (let [written, first] = [0, 0]; written < 2 ** 30; first += 480_000)
    written += writeSync(file, labels(500_000, first))
  closeSync(file)
}

const post = [
  ...['-sS', '--fail', '--http1.1', '-X', 'POST', '-H', 'content-type: application/json'],
  ...['-H', 'x-api-token: bench', '--data-binary', body],
]

const walkedPages = 1_000
const loopedPages = 10
const fewPages = 'mergeq flaky list, 200 pages of 100 tests'
const loop = 'a loop of curl and jq, per page of 100 tests'
const list = ['flaky', 'list', '-R', 'acme/web', '--org', 'acme', '-o', 'ndjson', '-q']

/** What people write instead of a walk: it asks, prints the records, and takes the token of the next page. */
const looped = `token=''
for page in $(seq ${loopedPages}); do
  answer=$(curl -sS --fail "$MERGEQ_BASE_URL/flaky-tests/list-failing-tests" \\
    -H 'content-type: application/json' -H 'x-api-token: bench' \\
    --data-binary '{"page_query":{"page_size":100,"page_token":"'"$token"'"}}')
  printf '%s' "$answer" | jq -c '.tests[]'
  token=$(printf '%s' "$answer" | jq -r '.page.next_page_token')
done`

const mergeq =
  (...words) =>
  ({ node, launcher }) => [node, launcher, ...words]

/** @type {readonly Case[]} */
export const cases = [
  { name: baseline, command: ({ node }) => [node, '-e', '0'] },
  { name: 'mergeq --version', quoted: true, command: mergeq('--version'), target: { must: 1.15, aim: 1.07 } },
  { name: 'mergeq --help', quoted: true, command: mergeq('--help'), target: start },
  { name: 'mergeq pr get --help', command: mergeq('pr', 'get', '--help'), target: start },
  { name: 'mergeq pr sbumit', command: mergeq('pr', 'sbumit'), exit: 2, target: start },
  {
    name: oneRequest,
    quoted: true,
    command: mergeq(...request),
    target: { must: 3, aim: 2 },
    peak: { must: 1.45, aim: 1.3 },
  },
  {
    name: 'the same through the installed link',
    needs: ['env'],
    prepare({ node, launcher, bin }) {
      mkdirSync(bin)
      symlinkSync(node, join(bin, 'node'))
      symlinkSync(launcher, join(bin, 'mergeq'))
    },
    command: ({ bin }) => [join(bin, 'mergeq'), ...request],
    target: { must: 0.1, aim: 0.05, above: oneRequest },
  },
  {
    name: '10,000 pull requests through a parallel sandbox queue',
    rounds: 5,
    prepare({ folder }) {
      buildSync({
        entryPoints: [fileURLToPath(new URL('queue.mjs', import.meta.url))],
        outfile: join(folder, 'queue.cjs'),
        bundle: true,
        platform: 'node',
      })
    },
    command: ({ node, folder }) => [node, join(folder, 'queue.cjs')],
    target: { must: 2, aim: 1, unit: 's' },
  },
  {
    name: 'curl, the same POST',
    needs: ['curl'],
    command: ({ baseUrl }) => ['curl', ...post, `${baseUrl}/getSubmittedPullRequest`],
  },
  {
    name: distant,
    needs: ['curl', 'openssl'],
    command: ({ link }) => [
      'curl',
      '--cacert',
      link.caFile,
      ...post,
      `${link.baseUrl}/getSubmittedPullRequest`,
    ],
  },
  {
    name: `${oneRequest}, TLS 1.3 and 40 ms away`,
    quoted: true,
    needs: ['curl', 'openssl'],
    command: ({ link, ...stage }) =>
      mergeq(...request, '--base-url', link.baseUrl, '--ca-file', link.caFile)(stage),
    target: { must: 1.35, aim: 1.15, against: distant },
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
    name: 'mergeq pr targets, 100 targets',
    prepare: ({ folder }) => writeFileSync(join(folder, 'hundred.txt'), labels(20_100).slice(0, 100 * 41)),
    command: mergeq('pr', 'targets', '7', '--from', 'hundred.txt', ...upload),
    // No slower than reading a pull request, within what one run can tell.
    target: { must: 1.05, aim: 1, against: oneRequest },
  },
  {
    name: 'jq -R . | jq -s | curl, the same labels, none dropped',
    needs: ['jq'],
    rounds: 7,
    prepare: ({ folder }) => writeFileSync(join(folder, 'labels.txt'), labels(500_000)),
    command: () => ['sh', '-c', pipeline],
  },
  {
    name: largeUpload,
    quoted: true,
    rounds: 7,
    command: mergeq('pr', 'targets', '7', '--from', 'labels.txt', ...upload),
    target: { must: 0.33, aim: 0.22, against: 'jq -R . | jq -s | curl, the same labels, none dropped' },
    megabytes: { must: 120, aim: 90 },
  },
  {
    name: 'mergeq pr targets, 1 GiB of labels, stopped early',
    rounds: 7,
    prepare: ({ folder }) => writeGibibyte(join(folder, 'gibibyte.txt')),
    command: mergeq('pr', 'targets', '7', '--from', 'gibibyte.txt', '-q', ...upload),
    target: { must: 1.2, aim: 1, against: largeUpload },
    megabytes: { must: 120, aim: 90 },
  },
  { name: loop, needs: ['jq'], rounds: 7, per: loopedPages, command: () => ['sh', '-c', looped] },
  {
    name: fewPages,
    rounds: 7,
    command: mergeq(...list, '--max-pages', '200'),
    exit: 17,
  },
  {
    name: 'mergeq flaky list, per page of 1,000',
    rounds: 7,
    per: walkedPages,
    command: mergeq(...list),
    target: { must: 0.03, aim: 0.015, against: loop },
    megabytes: { must: 10, aim: 5, above: fewPages },
  },
  { name: 'gh --version', needs: ['gh'], command: () => ['gh', '--version'] },
  { name: 'resend --version', needs: ['resend'], command: () => ['resend', '--version'] },
]
