import { join } from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the program for machines without Node', () => {
  const place = temporaryFolder('mergeq-standalone-')
  const program = join(place, 'mergeq')
  beforeAll(async () => {
    await execa(process.execPath, ['scripts/standalone.mjs', '--out', program])
  }, 120_000)

  /** Runs it with nothing on the path. */
  const run = (...words: readonly string[]) =>
    execa(program, words, {
      env: { PATH: '/nonexistent', HOME: place },
      extendEnv: false,
      reject: false,
      cwd: place,
      timeout: 60_000,
    })

  test('runs the tour, to a merge, failing tests and metrics', async () => {
    const { exitCode, stdout } = await run('sandbox', 'tour')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/MERGED/)
    expect(stdout).toMatch(/mq_pr_conclusions_1h_total/)
  }, 60_000)

  test.each([
    [['--version'], 0, new RegExp(`^${manifest.version}$`)],
    [['pr', 'submit', '--help'], 0, /POST \/submitPullRequest/],
    [['completion', 'bash'], 0, /complete/],
    [['pr', 'sbumit'], 2, /^$/],
    [['config', 'set', 'repo', 'acme/web'], 0, /^$/],
    [['config', 'get', 'repo'], 0, /^acme\/web$/],
  ] as const)('%j exits with %i', async (words, code, prints) => {
    const { exitCode, stdout } = await run(...words)
    expect(exitCode).toBe(code)
    expect(stdout).toMatch(prints)
  })
})
