import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { TestRunner, test } from 'vitest'

/** The launcher that users run, built from these sources before the tests. */
export const launcher = resolve('bin/mergeq.js')

/** What the test files of this run share; test/support/build.ts creates and removes it. */
export const runFolder = process.env.MERGEQ_TEST_RUN ?? ''

/** The code cache of all homes, which the first starts of a run fill: without one, a start takes half as long again. */
export const sharedCache = join(runFolder, 'cache')

/** An environment in which nothing of this machine's settings shows. */
export const bareEnvironment = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  XDG_CACHE_HOME: sharedCache,
  TERM: 'xterm-256color',
})

/**
 * Runs a program and its arguments in this environment alone: its exit code or the signal that ended it, and what it
 * printed, with the end of the last line.
 */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  {
    input,
    ...options
  }: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string | undefined>>
    readonly input?: string | undefined
    /** In milliseconds. */
    readonly timeout?: number
  },
) {
  const { exitCode, signal, stdout, stderr } = await execa(program, args, {
    timeout: 60_000,
    ...options,
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    killSignal: 'SIGKILL',
  })
  return { code: exitCode ?? signal, out: stdout, err: stderr }
}

/** The programs that were looked for, and whether they are there: many tests need the same. */
const installed = new Map<string, boolean>()

const isInstalled = (program: string): boolean => {
  const known = installed.get(program) ?? find(program)
  installed.set(program, known)
  return known
}

const find = (program: string): boolean => {
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
export function testWith(...programs: readonly string[]) {
  const missing = programs.filter(program => !isInstalled(program))
  if (missing.length === 0 || process.env.MERGEQ_TEST_NO_SKIP === '1') return test
  const meta = TestRunner.getCurrentSuite().file?.meta
  if (meta !== undefined) meta.missingPrograms = [...(meta.missingPrograms ?? []), ...missing]
  return test.skip
}

/**
 * A test of what Windows does not have: scripts that begin with `#!`, links that every user may create,
 * permission bits.
 */
export const testOnPosix = process.platform === 'win32' ? test.skip : test
