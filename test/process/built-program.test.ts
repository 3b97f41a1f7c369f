import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa, type Options } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'

let home: string
beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-')))
  symlinkSync(launcher, join(home, 'mergeq'))
  chmodSync(launcher, 0o755)
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** Runs a shell line with mergeq on the path, in a bare environment. */
const sh = (line: string, options: Options = {}) => {
  const env = bareEnvironment(home)
  return execa('sh', ['-c', line], {
    reject: false,
    extendEnv: false,
    cwd: home,
    stdin: 'ignore',
    ...options,
    env: { ...env, PATH: `${home}:${env.PATH}`, ...options.env },
  })
}

test('the version is bare, and comes from the package', async () => {
  const { stdout, exitCode } = await sh('mergeq --version')
  expect({ stdout, exitCode }).toEqual({ stdout: expect.stringMatching(/^\d+\.\d+\.\d+$/), exitCode: 0 })
})

testWith('jq')('a script submits, waits and reads on a sandbox of its own', async () => {
  const line = 'mergeq pr submit 7 && mergeq pr wait 7 --interval 1s && mergeq pr get 7 --json | jq -r .state'
  const { stdout, exitCode } = await sh(`mergeq sandbox exec --speed 4 -- sh -c '${line}'`)
  expect(exitCode).toBe(0)
  expect(String(stdout).split('\n').at(-1)).toBe('MERGED')
})

test('the tour runs from a new queue to MERGED, and leaves no files', async () => {
  const { stdout, exitCode } = await sh('mergeq sandbox tour --speed 8')
  expect(exitCode).toBe(0)
  for (const said of ['Created the queue for release', 'MERGED', 'mq_pr_conclusions_1h_total', '@acme/'])
    expect(stdout).toContain(said)
})

test('the exit code of a command in a sandbox is passed on', async () => {
  expect((await sh("mergeq sandbox exec -- sh -c 'exit 42'")).exitCode).toBe(42)
  expect((await sh("mergeq sandbox exec -- sh -c 'exit 127'")).exitCode).toBe(127)
  const missing = await sh('mergeq sandbox exec -- no-such-program')
  expect(missing.exitCode).toBe(2)
  expect(missing.stderr).toMatch(/^mergeq: .*no-such-program/)
})

test('a real token never reaches what runs in a sandbox', async () => {
  const env = { MERGEQ_TOKEN: 'secret-one', TRUNK_API_TOKEN: 'secret-two' }
  const { stdout } = await sh('mergeq sandbox exec -- env', { env })
  expect(stdout).toContain('MERGEQ_TOKEN=sandbox')
  expect(stdout).not.toMatch(/secret/)
})

test('a reader that leaves ends the program quietly', async () => {
  const { stderr, stdout, exitCode } = await sh(
    "mergeq sandbox exec -- sh -c 'mergeq flaky list --since 30d -o ndjson -q | head -n 1'",
  )
  expect({ exitCode, stderr, lines: String(stdout).split('\n').length }).toEqual({
    exitCode: 0,
    stderr: '',
    lines: 1,
  })
})

test('a full disk is reported, with 16', async () => {
  const { stderr, exitCode } = await sh('mergeq help formatting > /dev/full')
  expect(exitCode).toBe(16)
  expect(stderr).toMatch(/^mergeq: Standard output could not be written/)
})

test('errors are one JSON object on standard error with --json', async () => {
  const { stdout, stderr, exitCode } = await sh('mergeq pr get 7 --json -R acme/web -b main')
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 4 })
  expect(JSON.parse(String(stderr))).toMatchObject({ error: { kind: 'auth', exit: 4 } })
})

test('SIGTERM ends a sandbox within a second, with 143', async () => {
  const sandbox = execa(launcher, ['sandbox', 'start'], {
    reject: false,
    env: bareEnvironment(home),
    extendEnv: false,
  })
  const [line] = await once(sandbox.stdout, 'data')
  expect(JSON.parse(String(line))).toEqual({
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    token: 'sandbox',
  })
  const asked = Date.now()
  sandbox.kill('SIGTERM')
  const { exitCode } = await sandbox
  expect(exitCode).toBe(143)
  expect(Date.now() - asked).toBeLessThan(1_000)
})
