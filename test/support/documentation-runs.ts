import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { bareEnvironment, launcher, runProgram } from './programs.ts'

export type Variables = Readonly<Record<string, string>>

/** Command lines of the documents that no test can run, and why. */
export const notRunnable: Variables = {
  'npm ci && npm run tour': 'it installs and builds in this folder; docs/sandbox.md has the tour',
  'npm ci && npm test': 'it is this',
  'npm ci && npm install --global "$(npm pack --silent)"':
    'it installs for the whole machine; test/process/package.test.ts installs what is packed',
  'npm i -g mergeq': 'it needs a registry; test/process/package.test.ts installs what is packed',
  'npm i -g "${MERGEQ_PACKAGE:?Set it to mergeq with a version, or to the file of a build}"':
    'the same; test/process/recipes.test.ts runs it with another npm',
  'npx mergeq --help': 'it needs a registry; test/process/package.test.ts runs npx on what is packed',
  'mergeq queue apply -f before.json':
    'the record is written only if something changes; test/commands/queue/undo.test.ts undoes',
  'mergeq auth login --base-url https://queue.example.com/v1':
    'it asks a person, and the address does not exist; test/process/tokens.test.ts types the answer',
  'mergeq auth login': 'it asks a person; test/process/tokens.test.ts types the answer',
}

/** What differs here from where people read it: queues take seconds, and other programs have other folders. */
export const adaptForTest = (line: string): string =>
  line
    .replace(/^mergeq pr wait \d+$/, '$& --interval 1s')
    .replace(/ --wait\b|mergeq pr land\b/, '$& --interval 1s')
    .replace('"$PR" --grace 90s', '"$PR" --grace 1s')
    .replace(/^mergeq sandbox tour$/, '$& --speed 20')
    .replace(/^mergeq queue watch$/, '$& --for 1s')
    .replace(/^(mergeq sandbox start) --port 8080/, 'timeout --preserve-status -s INT 2 $1')
    .replace('/var/lib/prometheus/node-exporter', '.')

/** Where all of it happens; test files of one worker share it. */
export const place = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-docs-')))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))
/** The programs of the command lines of documents. */
export const programs = join(place, 'programs')
cpSync('test/fixtures/page-programs', programs, { recursive: true })
symlinkSync(launcher, join(programs, 'mergeq'))

/** A checkout of a branch with one commit that its remote's main does not have, and what jobs leave in it. */
export function checkout(name: string): string {
  const original = join(place, 'original')
  if (!existsSync(original)) createCheckout(original)
  const folder = join(place, name)
  rmSync(folder, { recursive: true, force: true })
  cpSync(original, folder, { recursive: true })
  symlinkSync(resolve('test/fixtures/junit'), join(folder, 'reports'))
  mkdirSync(join(folder, '.github'))
  cpSync('docs/recipes/impacted-targets.mjs', join(folder, '.github/impacted-targets.mjs'))
  for (const name of ['incident.sh', 'tell.sh']) cpSync(`docs/recipes/${name}`, join(folder, name))
  return folder
}

/** Runs git in a folder, with a name for commits. */
export const git = (folder: string, ...words: readonly string[]): Buffer =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...words], {
    cwd: folder,
    stdio: 'ignore',
    env: bareEnvironment(place),
  })

function createCheckout(folder: string): void {
  mkdirSync(join(folder, 'web/cart'), { recursive: true })
  // Without the samples of hooks, which every copy would have.
  git(folder, 'init', '--template=', '-b', 'main')
  git(folder, 'init', '--template=', '--bare', 'origin.git')
  git(folder, 'commit', '--allow-empty', '-m', 'Begin')
  git(folder, 'remote', 'add', 'origin', './origin.git')
  git(folder, 'push', 'origin', 'main', 'main:release/2.4')
  git(folder, 'checkout', '-b', 'fix-cart')
  writeFileSync(join(folder, 'web/cart/total.js'), '')
  git(folder, 'add', 'web')
  git(folder, 'commit', '-m', 'Fix cart')
}

/** What every command line of a document finds: mergeq on the path, a home of its own, and a sandbox. */
export const environmentOf = (sandbox: Pick<Sandbox, 'baseUrl'>, folder: string): Variables => {
  const bare = bareEnvironment(join(folder, 'home'))
  return {
    ...bare,
    PATH: `${programs}:${bare.PATH}`,
    NO_COLOR: '1',
    MERGEQ_BASE_URL: sandbox.baseUrl,
  }
}

/** What `sandbox exec` sets besides. */
export const inSandbox = (sandbox: Sandbox): Variables => ({
  MERGEQ_TOKEN: sandbox.token,
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
  MERGEQ_ORG: sandbox.org,
})

/** Runs a script in a shell; how it ended, beside what it said. */
export const sh = (words: readonly string[], cwd: string, env: Variables) => runProgram(words, { cwd, env })

/** A sandbox in which the command lines of a document run in a folder. */
export async function openDocumentSandbox(folder: string) {
  const sandbox = await startSandbox({ speed: 50, now: Date.now })
  const env = { ...environmentOf(sandbox, folder), ...inSandbox(sandbox) }
  return {
    env,
    close: () => sandbox.close(),
    run: (line: string) => sh(['sh', '-c', adaptForTest(line)], folder, env),
  }
}
