import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { bareEnvironment, launcher, testOnPosix } from '../support/programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'mergeq-input-'))
const env = {
  ...bareEnvironment(folder),
  MERGEQ_TOKEN: 'qj7-token',
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
}
writeFileSync(join(folder, 'list'), '')

/** Runs a change that names no pull request, outside a checkout, with a redirection of a shell. */
const submit = (line: string) =>
  spawnSync('sh', ['-c', line.replace('mergeq', `"${process.execPath}" "${launcher}" pr submit`)], {
    cwd: folder,
    env,
    encoding: 'utf8',
  }).stderr

const guesses = 'No pull request was given.'
const refuses = 'standard input is not read without -.'

testOnPosix.each([
  ['/dev/null', 'mergeq </dev/null', guesses],
  ['closed', 'mergeq <&-', guesses],
  ['an empty pipe', ': | mergeq', refuses],
  ['a pipe', 'echo 5 | mergeq', refuses],
  ['a file', 'mergeq < list', refuses],
])('a change without a pull request, standard input is %s', (_, line, said) => {
  expect(submit(line)).toContain(said)
})

testOnPosix('a change without a pull request, standard input is a socket', async () => {
  const path = join(folder, 'socket')
  const server = createServer().listen(path)
  await once(server, 'listening')
  const client = connect(path)
  const [socket] = await once(server, 'connection')
  const child = spawn(process.execPath, [launcher, 'pr', 'submit'], {
    cwd: folder,
    env,
    stdio: [socket, 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr?.on('data', piece => {
    said += piece
  })
  const [code] = await once(child, 'close')
  client.destroy()
  socket.destroy()
  server.close()
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining(refuses) })
})
