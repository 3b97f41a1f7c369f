import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll } from 'vitest'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { bareEnvironment, launcher } from './programs.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type Variables = Readonly<Record<string, string>>

/** Command lines of the documents that no test can run, and why. */
export const notRunnable: Variables = {
  'npm ci && npm run tour':
    'it installs and builds in this folder; test/process/built-program.test.ts runs the tour',
  'npm ci && npm test': 'it is this',
  'npm i -g mergeq': 'it needs a registry; test/process/package.test.ts installs what is packed',
  'npx mergeq --help': 'it needs a registry; test/process/package.test.ts runs npx on what is packed',
  'mergeq auth login': 'it asks a person; test/process/tokens.test.ts types the answer',
}

/**
 * What differs here from where the documents are read: queues that take minutes, and folders of other
 * programs.
 */
export const adaptForTest = (line: string): string =>
  line
    .replace(/^mergeq pr wait \d+$/, '$& --interval 1s')
    .replace(/ --wait\b/, '$& --interval 1s')
    .replace(/^mergeq sandbox tour$/, '$& --speed 8')
    .replace(/^mergeq queue watch$/, '$& --for 1s')
    .replace(/^(mergeq sandbox start) --port 8080/, 'timeout --preserve-status -s INT 2 $1')
    .replace('/var/lib/prometheus/node-exporter', '.')

/** Where all of it happens. */
export const place = temporaryFolder('mergeq-docs-')
const programs = join(place, 'programs')
beforeAll(() => {
  mkdirSync(programs)
  symlinkSync(launcher, join(programs, 'mergeq'))
  writeFileSync(join(programs, 'buildkite-agent'), '#!/bin/sh\ncat > "$1.md"\n', { mode: 0o755 })
})

/** A checkout of a branch with one commit that its remote's main does not have, and what jobs leave in it. */
export function checkout(name: string): string {
  const folder = join(place, name)
  const git = (cwd: string, ...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...words], {
      cwd,
      stdio: 'ignore',
      env: bareEnvironment(place),
    })
  mkdirSync(join(folder, 'web/cart'), { recursive: true })
  git(folder, 'init', '-b', 'main')
  git(folder, 'init', '--bare', 'origin.git')
  git(folder, 'commit', '--allow-empty', '-m', 'Begin')
  git(folder, 'remote', 'add', 'origin', join(folder, 'origin.git'))
  git(folder, 'push', 'origin', 'main', 'main:release/2.4')
  git(folder, 'checkout', '-b', 'fix-cart')
  writeFileSync(join(folder, 'web/cart/total.js'), '')
  git(folder, 'add', 'web')
  git(folder, 'commit', '-m', 'Fix cart')
  symlinkSync(resolve('test/fixtures/junit'), join(folder, 'reports'))
  return folder
}

/** What every command line of a document finds: mergeq on the path, a home of its own, and a sandbox. */
export const environmentOf = (sandbox: Sandbox, folder: string): Variables => {
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
export async function sh(words: readonly [string, ...string[]], cwd: string, env: Variables) {
  const [shell, ...rest] = words
  const { exitCode, stdout, stderr } = await execa(shell, rest, {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: 15_000,
  })
  return { code: exitCode, out: stdout, err: stderr }
}
