import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The variable with the folder of this run, for what its test files share (test/support/programs.ts). */
const variable = 'MERGEQ_TEST_RUN'

/** Builds once before the tests of all projects: the binary that they spawn is the one that these sources make. */
export const setup = (): void => {
  if (process.env[variable] !== undefined) return
  process.env[variable] = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-run-')))
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] })
}

export const teardown = (): void => {
  const folder = process.env[variable]
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  delete process.env[variable]
}
