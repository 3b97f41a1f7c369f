// What is measured: one object a row. A new row is one more object.
import { mkdirSync, symlinkSync } from 'node:fs'
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
 * @property {string} [needs] A program that must be installed; the row is skipped, by name, where it is not.
 * @property {(stage: Stage) => void} [prepare] Done once, before anything is measured.
 * @property {(stage: Stage) => readonly string[]} command The program and its arguments.
 * @property {number} [exit] The exit code that is right; 0 where this is left out.
 * @property {number} [rounds] At most so many rounds, for a row that takes long.
 * @property {number} [per] The time is divided by this before it is compared: so many pages or pull requests.
 * @property {Target} [target]
 * @property {Omit<Target, 'above'>} [peak] The same for the peak of its memory.
 */

export const baseline = 'node -e 0'
const oneRequest = 'mergeq pr get 7 --json'

const start = { must: 1.45, aim: 1.3 }
const request = ['pr', 'get', '7', '--json', '-R', 'acme/web', '-b', 'main']
const body = JSON.stringify({
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
  pr: { number: 7 },
})

const mergeq =
  (...words) =>
  ({ node, launcher }) => [node, launcher, ...words]

/** @type {readonly Case[]} */
export const cases = [
  { name: baseline, command: ({ node }) => [node, '-e', '0'] },
  { name: 'mergeq --version', command: mergeq('--version'), target: { must: 1.15, aim: 1.07 } },
  { name: 'mergeq --help', command: mergeq('--help'), target: start },
  { name: 'mergeq pr get --help', command: mergeq('pr', 'get', '--help'), target: start },
  { name: 'mergeq pr sbumit', command: mergeq('pr', 'sbumit'), exit: 2, target: start },
  {
    name: oneRequest,
    command: mergeq(...request),
    target: { must: 3, aim: 2 },
    peak: { must: 1.45, aim: 1.3 },
  },
  {
    name: 'the same through the installed link',
    needs: 'env',
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
    needs: 'curl',
    command: ({ baseUrl }) => [
      ...['curl', '-sS', '--fail', '-X', 'POST', `${baseUrl}/getSubmittedPullRequest`],
      ...['-H', 'content-type: application/json', '-H', 'x-api-token: bench', '--data-binary', body],
    ],
  },
  { name: 'gh --version', needs: 'gh', command: () => ['gh', '--version'] },
  { name: 'resend --version', needs: 'resend', command: () => ['resend', '--version'] },
]
