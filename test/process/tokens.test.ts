import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { execa } from 'execa'
import { expect } from 'vitest'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { openHome } from '../support/settings-sources.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { encodingsFound, token } from '../support/tokens.ts'

const root = temporaryFolder('mergeq-tokens-')

testWith('script')('what is typed at the prompt of a real terminal is stored and not shown', async () => {
  const { home, read } = openHome(root)
  const child = execa('script', ['-qec', `tty; exec '${launcher}' auth login --no-verify`, '/dev/null'], {
    env: { ...bareEnvironment(home), MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1', SHELL: '/bin/sh' },
    extendEnv: false,
    reject: false,
    stdin: 'pipe',
  })
  let shown = ''
  child.stdout.on('data', piece => {
    shown += piece
  })
  const isRunning = () => child.exitCode === null
  while (isRunning() && !shown.includes('(not shown)')) await pause(10)
  // The prompt is written just before the echo goes off.
  const terminal = /\/dev\/\S+/.exec(shown)?.[0] ?? ''
  const modes = () => execFileSync('stty', ['-F', terminal, '-a'], { encoding: 'utf8' })
  while (isRunning() && !/ -echo\b/.test(modes())) await pause(10)
  child.stdin.write(`${token}\r`)
  const { stdout, exitCode } = await child
  expect(encodingsFound(stdout, token)).toEqual([])
  expect({ exitCode, stored: read() }).toEqual({
    exitCode: 0,
    stored: { tokens: { 'http://127.0.0.1:9': token } },
  })
})
