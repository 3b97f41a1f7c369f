import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, serveScript, splitWords } from '../support/harness.ts'
import { bareEnvironment, launcher, runProgram } from '../support/programs.ts'
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
function runInRemoved(line: string, env: Readonly<Record<string, string>> = {}) {
  const cwd = join(place, 'removed')
  mkdirSync(cwd, { recursive: true })
  const shell = ['sh', '-c', 'rmdir "$PWD" && exec "$@"', '-', process.execPath, launcher]
  return runProgram([...shell, ...splitWords(line)], {
    cwd,
    env: {
      ...bareEnvironment(join(place, 'home')),
      MERGEQ_TOKEN: 'tok_4f2a9c1e77d0',
      MERGEQ_BASE_URL: service.baseUrl,
      ...env,
    },
    timeout: 15_000,
  })
}

describe('in a working folder that was removed', () => {
  const where = '-R acme/web -b main'
  const lines: readonly (readonly [line: string, code: number, says: string])[] = [
    ['completion bash', 0, ''],
    ['config set org acme', 0, ''],
    [`doctor ${where} --org acme`, 0, ''],
    [`pr submit 7 ${where}`, 0, ''],
    // A wait that asks once.
    [`pr wait 7 ${where} --timeout 0 --until testing`, 8, ''],
    ['guard -- origin https://example.com/acme/web.git', 0, ''],
    ['sandbox exec -- true', 0, ''],
    ['pr get 7', 2, 'No repository was given.'],
    [`pr targets 7 //a ${where}`, 2, 'No head commit was given.'],
    [`queue apply -f queue.yaml ${where}`, 2, 'queue.yaml cannot be read: no such file or directory.'],
    ['guard --install', 2, 'The working directory is not in a git checkout.'],
  ]
  test.each(lines)('`mergeq %s` ends with %i and says why', async (line, expected, says) => {
    const { code, out, err } = await runInRemoved(line)
    expect({ line, code, err }).toEqual({ line, code: expected, err: expect.stringContaining(says) })
    expect(out + err).not.toMatch(/uv_cwd|^\s+at /m)
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
