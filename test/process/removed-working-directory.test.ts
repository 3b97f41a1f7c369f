import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, serveScript, splitWords } from '../support/harness.ts'
import { bareEnvironment, launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const place = temporaryFolder('mergeq-working-folder-')
let service: Service
beforeAll(async () => {
  mkdirSync(join(place, 'home'))
  service = await serveScript(({ path }) => ({
    body: path.includes('Metrics')
      ? ''
      : path.includes('flaky')
        ? '{"tests":[],"page":{}}'
        : '{"state":"RUNNING","enqueuedPullRequests":[]}',
  }))
})
afterAll(async () => {
  await service.close()
})

/** Runs the program in a folder that is removed before it starts. */
async function runInRemoved(line: string, env: Readonly<Record<string, string>> = {}) {
  const cwd = join(place, 'removed')
  mkdirSync(cwd, { recursive: true })
  const { exitCode, stdout, stderr } = await execa(
    'sh',
    ['-c', 'rmdir "$PWD" && exec "$@"', '-', process.execPath, launcher, ...splitWords(line)],
    {
      cwd,
      env: {
        ...bareEnvironment(join(place, 'home')),
        MERGEQ_TOKEN: 'tok_4f2a9c1e77d0',
        MERGEQ_BASE_URL: service.baseUrl,
        ...env,
      },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: 15_000,
    },
  )
  return { code: exitCode, out: stdout, err: stderr }
}

describe('in a working folder that was removed', () => {
  const where = '-R acme/web -b main'
  const working: readonly string[] = [
    '--version',
    '--help',
    'pr submit --help',
    'help environment',
    'completion bash',
    'config list --show-origin',
    'config set org acme',
    'config get org',
    'config unset org',
    'auth status',
    'auth logout',
    `doctor ${where} --org acme`,
    `pr get 7 ${where}`,
    `pr submit 7 ${where}`,
    `pr submit 7 ${where} --dry-run`,
    `pr targets 7 //a ${where} --no-sha`,
    `pr wait 7 ${where} --timeout 0 --until testing`,
    `queue get ${where} -o table`,
    `queue export ${where}`,
    `queue watch ${where} --once`,
    'metrics',
    `flaky list --org acme ${where}`,
    `api getQueue ${where}`,
    'guard -- origin https://example.com/acme/web.git',
    'sandbox exec -- true',
  ]
  test.each(working)('`mergeq %s` does not need it', async line => {
    const { code, out, err } = await runInRemoved(line)
    // A wait that asks once, and a check that warns, end with codes of their own.
    expect({ line, code, err }).toEqual({
      line,
      code: /^pr wait/.test(line) ? 8 : 0,
      err: expect.any(String),
    })
    expect(out + err).not.toMatch(/uv_cwd|^\s+at /m)
  })

  const failing: readonly (readonly [line: string, code: number, says: string])[] = [
    ['pr get 7', 2, 'No repository was given.'],
    [`pr get ${where}`, 2, 'No pull request was given.'],
    [`pr targets 7 //a ${where}`, 2, 'No head commit was given.'],
    [`pr targets 7 --from list.txt --no-sha ${where}`, 2, 'list.txt cannot be read'],
    [`queue apply -f queue.yaml ${where}`, 2, 'queue.yaml cannot be read: no such file or directory.'],
    ['guard --install', 2, 'The working directory is not in a git checkout.'],
    ['guard --uninstall', 2, 'The working directory is not in a git checkout.'],
  ]
  test.each(failing)('`mergeq %s` ends with %i and says why', async (line, code, says) => {
    const ran = await runInRemoved(line)
    expect({ line, code: ran.code, err: ran.err }).toEqual({ line, code, err: expect.stringContaining(says) })
    expect(ran.err).not.toMatch(/uv_cwd|^\s+at /m)
  })

  test('nothing there is needed in a CI job either', async () => {
    const ran = await runInRemoved('pr get 7', {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/web',
      GITHUB_BASE_REF: 'main',
    })
    expect(ran).toMatchObject({ code: 0, err: '' })
  })
})
