import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { createFailingTests, listTestsFailedBetween } from '../../src/sandbox/test-history.ts'
import { day, ids } from '../support/flaky-list.ts'
import { bareEnvironment, launcher } from '../support/programs.ts'

describe.each(['document', 'hosted'] as const)('30 days of the sandbox in the %s dialect', dialect => {
  const opened = Date.now() - 60_000
  const range = { start: opened - 30 * day, end: opened }
  const repo = { host: 'github.com', owner: 'acme', name: 'web' }
  const truth = new Set(
    listTestsFailedBetween(createFailingTests(1, repo, opened), range.start, range.end).map(({ id }) => id),
  )
  let sandbox: Awaited<ReturnType<typeof startSandbox>>
  let home: string
  beforeEach(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-walk-')))
    sandbox = await startSandbox({ dialect, now: () => opened })
  })
  afterEach(async () => {
    await sandbox.close()
    rmSync(home, { recursive: true, force: true })
  })

  /** Starts the real binary, which appends to `out`. */
  function start(words: readonly string[]) {
    const out = openSync(join(home, 'out'), 'a')
    const span = ['--start', new Date(range.start).toISOString(), '--end', new Date(range.end).toISOString()]
    const child = spawn(process.execPath, [launcher, 'flaky', 'list', ...span, ...words], {
      cwd: home,
      stdio: ['ignore', out, 'pipe'],
      env: {
        ...bareEnvironment(home),
        MERGEQ_BASE_URL: sandbox.baseUrl,
        MERGEQ_TOKEN: sandbox.token,
        MERGEQ_REPO: 'acme/web',
        MERGEQ_ORG: sandbox.org,
      },
    })
    closeSync(out)
    let err = ''
    child.stderr?.on('data', piece => {
      err += piece
    })
    const done = once(child, 'close').then(() => ({ code: child.exitCode, err }))
    return { child, done }
  }
  /** Runs it to its end. */
  const run = (...words: readonly string[]) => start(words).done
  const printed = () => readFileSync(join(home, 'out'), 'utf8')

  test('one complete list has each test once', async () => {
    expect((await run('-o', 'ndjson', '--page-size', '7')).code).toBe(0)
    const found = ids({ out: printed() })
    expect(found.length).toBe(truth.size)
    expect(new Set(found)).toEqual(truth)
  })

  test('killed at random moments again and again, and resumed: nothing is missing, and at most a page comes twice for each kill', {
    timeout: 120_000,
  }, async () => {
    const [size, wanted] = [5, 30]
    const words = ['-o', 'ndjson', '--page-size', String(size), '--resume-file', 'walk.state']
    const grown = () => statSync(join(home, 'out')).size
    let kills = 0
    for (let ended = false; !ended; ) {
      const { child, done } = start(words)
      // So often it is killed after it has printed so much more, then it may come to its end.
      const until = grown() + Math.random() * 8_000
      while (child.exitCode === null && (kills >= wanted || grown() < until))
        await new Promise(resolve => setTimeout(resolve, 1))
      if (child.kill('SIGKILL')) kills++
      const { code } = await done
      if (code !== null) expect(code).toBe(0)
      ended = code !== null
    }
    // A run after a kill begins with a line break; a line that was cut stands alone before it.
    const lines = printed().trimEnd().split('\n')
    const whole = lines.filter(line => line.startsWith('{') && line.endsWith('}'))
    expect(lines.length - whole.length).toBeLessThanOrEqual(2 * kills)
    const found = ids({ out: whole.join('\n') })
    expect(kills).toBeGreaterThan(10)
    expect(new Set(found)).toEqual(truth)
    expect(found.length - truth.size).toBeLessThanOrEqual(kills * size)
    expect(readdirSync(home).filter(name => /^(out|walk)/.test(name))).toEqual(['out', 'walk.state'])
  })

  test('the file is for this user alone, and a link to it stays a link', async () => {
    symlinkSync(join(home, 'elsewhere.state'), join(home, 'walk.state'))
    const stopped = await run('-o', 'ndjson', '--max-pages', '2', '--resume-file', 'walk.state')
    expect(stopped.code).toBe(17)
    expect(lstatSync(join(home, 'walk.state')).isSymbolicLink()).toBe(true)
    expect(statSync(join(home, 'elsewhere.state')).mode & 0o777).toBe(0o600)
    expect((await run('-o', 'ndjson', '--resume-file', 'walk.state')).code).toBe(0)
    const found = ids({ out: printed() })
    expect([found.length, new Set(found)]).toEqual([truth.size, truth])
    expect(lstatSync(join(home, 'walk.state')).isSymbolicLink()).toBe(true)
  })

  test('a folder in its place, and a folder that cannot be written, are reported', async () => {
    const folder = await run('-o', 'ndjson', '--resume-file', '.')
    expect([folder.code, folder.err]).toEqual([2, expect.stringContaining('it is not a regular file')])
    const below = await run('-o', 'csv', '--resume-file', 'missing/walk.state')
    expect([below.code, below.err]).toEqual([16, expect.stringContaining('could not be written')])
    expect(printed()).toBe('')
  })
})
