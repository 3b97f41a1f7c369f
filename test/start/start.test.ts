// A short look at the built program. test/process/ looks at all of it.
import { execa } from 'execa'
import { expect, test, vi } from 'vitest'
import { builtVersion } from '../support/built-version.ts'
import { bareEnvironment, launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// A busy machine starts each process late.
vi.setConfig({ testTimeout: 60_000 })

const home = temporaryFolder('mergeq-start-')

/** Runs the built program. */
async function run(line: string, { before = [] as readonly string[], input = '' } = {}) {
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    [launcher, ...before, ...line.split(' ')],
    {
      cwd: home,
      env: bareEnvironment(home),
      extendEnv: false,
      reject: false,
      input,
    },
  )
  return { code: exitCode, out: stdout, err: stderr }
}

/** Runs the built program in `sandbox exec`. */
const runInSandbox = (scenario: string, line: string) =>
  run(line, {
    before: ['sandbox', 'exec', '--speed', '2', '--scenario', scenario, '--', process.execPath, launcher],
  })

test('the version, and the help of the program and of a command', async () => {
  expect(await run('--version')).toEqual({ code: 0, out: expect.stringMatching(builtVersion), err: '' })
  const shows = (text: string) => ({ code: 0, out: expect.stringContaining(text), err: '' })
  expect(await run('--help --color never')).toEqual(shows('pr '))
  // The launcher has it as a file.
  expect(await run('--help')).toEqual(await run('--help --color never'))
  expect(await run('pr submit --help')).toEqual(shows('mergeq pr submit 123 --wait'))
})

test.each([
  ['happy', 'merged', 0],
  ['failure', 'failed', 3],
])(
  'in the sandbox with the scenario %s a pull request is %s, which is exit code %i',
  async (scenario, outcome, exit) => {
    const { code, out, err } = await runInSandbox(scenario, 'pr submit 9 --wait --interval 1s --json')
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: exit, type: 'result', pr: 9, outcome, exit })
    expect(err).toMatch(/^#9 [A-Z]/m)
  },
)

test.each([
  ['no-such-command', 2, run],
  ['queue get -R acme/web -b main', 4, run],
  ['pr get 9', 5, (line: string) => runInSandbox('happy', line)],
])('`%s` ends with %i, and only standard error has the reason', async (line, code, runs) => {
  expect(await runs(line)).toEqual({ code, out: '', err: expect.stringMatching(/^mergeq: /m) })
})

test('a token from standard input is stored, and never printed', async () => {
  const login = await run('auth login --with-token --no-verify', { input: 'tok_4f2a9c1e77d0' })
  expect(login.code).toBe(0)
  const { code, out, err } = await run('queue get -R acme/web -b main --dry-run')
  expect(code).toBe(0)
  expect(login.out + login.err + out + err).not.toContain('tok_4f2a9c1e77d0')
})

test('the package has its files and no others', async () => {
  const { stdout } = await execa(process.execPath, ['scripts/check-release.mjs', '--only', 'contents'])
  expect(stdout).toBe('ok    contents')
})
