import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { TestRunner, test } from 'vitest'

/** The launcher that users run, built from these sources before the tests. */
export const launcher = resolve('bin/mergeq.js')

/** An environment in which nothing of this machine's settings shows. */
export const bareEnvironment = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  TERM: 'xterm-256color',
})

const isInstalled = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

declare module 'vitest' {
  interface TaskMeta {
    /** The programs without which tests of a file were skipped, for scripts/tally.mjs. */
    missingPrograms?: string[]
  }
}

/**
 * A test that needs a program of this machine: skipped by name where it is missing, unless
 * MERGEQ_TEST_NO_SKIP says that nothing may be skipped; then it runs, and fails.
 */
export function testWith(program: string) {
  if (isInstalled(program) || process.env.MERGEQ_TEST_NO_SKIP === '1') return test
  const meta = TestRunner.getCurrentSuite().file?.meta
  if (meta !== undefined) meta.missingPrograms = [...(meta.missingPrograms ?? []), program]
  return test.skip
}

/**
 * A test of what Windows does not have: scripts that begin with `#!`, links that every user may create,
 * permission bits.
 */
export const testOnPosix = process.platform === 'win32' ? test.skip : test
