import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bareEnvironment, launcher, runProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const place = temporaryFolder('mergeq-working-folder-')
const onGitHub = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/web', GITHUB_BASE_REF: 'main' }

test.each([
  ['config set org acme', {}, 0, ''],
  ['pr get 7 -R acme/web -b main --dry-run', {}, 0, ''],
  ['pr get 7 --dry-run', onGitHub, 0, ''],
  ['guard hook -- origin https://example.com/acme/web.git', {}, 0, ''],
  ['sandbox exec -- true', {}, 0, ''],
  ['pr get 7', {}, 2, 'No repository was given.'],
  ['pr targets 7 //a -R acme/web -b main', {}, 2, 'No head commit of #7 was found.'],
  ['queue apply -f queue.yaml', {}, 2, 'queue.yaml cannot be read: no such file or directory.'],
  ['guard install', {}, 2, 'The working directory is not in a git checkout.'],
])(
  '`mergeq %s` (%j) in a folder that was removed ends with %i and says why',
  async (line, job, exit, says) => {
    const cwd = join(place, 'removed')
    mkdirSync(cwd)
    const shell = ['sh', '-c', 'rmdir "$PWD" && exec "$@"', '-', launcher]
    const env = { ...bareEnvironment(place), MERGEQ_TOKEN: 'tok_4f2a9c1e77d0', ...job }
    const { code, out, err } = await runProgram([...shell, ...line.split(' ')], { cwd, env })
    expect({ code, err }).toEqual({ code: exit, err: expect.stringContaining(says) })
    expect(out + err).not.toMatch(/uv_cwd|^\s+at /m)
  },
)
