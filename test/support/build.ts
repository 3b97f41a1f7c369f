import { execFileSync } from 'node:child_process'

/** Builds once before the tests: the binary that they spawn is the one that these sources make. */
export const setup = (): void => {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] })
}
