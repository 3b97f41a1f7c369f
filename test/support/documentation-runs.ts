import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { mergeq, type Setting, splitWords } from './harness.ts'
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

/**
 * What differs here from where the documents are read: queues that take minutes, and folders of other
 * programs.
 */
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
mkdirSync(programs)
symlinkSync(launcher, join(programs, 'mergeq'))
const addProgram = (name: string, script: string) =>
  writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
addProgram('buildkite-agent', 'cat > "$1.md"')
// What nx says about one changed project.
addProgram(
  'npx',
  `case $4 in
    graph) echo '{"graph":{"nodes":{"cart":{"name":"cart","data":{"root":"web/cart"}}}}}' > "\${5#--file=}" ;;
    *) echo '["cart"]' ;;
  esac`,
)

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

/** A command line that is mergeq alone: no other program, no pattern of files, nothing that it writes. */
const isMergeqAlone = (line: string): boolean =>
  /^mergeq (?!sandbox |guard |config set |queue export |queue pause --all |queue \w+ -f queues\/)[^|&;<>$`*()]*$/.test(
    line,
  )

/**
 * A sandbox in which the command lines of a document run in a folder. Those of mergeq alone run in this
 * process, where waiting takes no time; a shell runs the others.
 */
export async function openDocumentSandbox(folder: string) {
  let ahead = 0
  const clock = {
    get now() {
      return Date.now() + ahead
    },
    set now(time) {
      ahead = time - Date.now()
    },
  }
  const sandbox = await startSandbox({ speed: 4, now: () => clock.now })
  const env = { ...environmentOf(sandbox, folder), ...inSandbox(sandbox) }
  const spawn: Setting['spawn'] = (program, args) => {
    // The working directory of the simulated host is /repo.
    const words = args.map(word => word.replace(/^\/repo\b/, folder))
    const { status, stdout } = spawnSync(program, words, { cwd: folder, env, encoding: 'utf8' })
    return { code: status ?? 127, out: stdout ?? '' }
  }
  return {
    env,
    close: () => sandbox.close(),
    async run(line: string, setting: Setting = {}) {
      if (!isMergeqAlone(line)) return sh(['sh', '-c', adaptForTest(line)], folder, env)
      const statsOf = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })
      const named = splitWords(line).flatMap(word =>
        word.endsWith('/') && statsOf(word)?.isDirectory()
          ? readdirSync(join(folder, word)).map(name => `${word}${name}`)
          : word,
      )
      const files = named
        .filter(path => statsOf(path)?.isFile())
        .map(path => [path, readFileSync(join(folder, path), 'utf8')])
      const words = adaptForTest(line).replace(/^mergeq /, '')
      return mergeq(words, { env, clock, spawn, files: Object.fromEntries(files), ...setting })
    },
  }
}
