import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { execa, type Options } from 'execa'
import { afterEach, describe, expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { openTmuxScreen } from '../support/tmux-screen.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())

const mergeq = (words: readonly string[], options: Options = {}) =>
  execa(launcher, words, {
    reject: false,
    env: bareEnvironment(home.folder),
    extendEnv: false,
    cwd: home.folder,
    stdin: 'ignore',
    ...options,
  })

const open: ReturnType<typeof mergeq>[] = []
afterEach(async () => {
  for (const child of open.splice(0)) {
    child.kill('SIGKILL')
    await child
  }
})

/** Starts the built program and waits for its first line. */
async function start(...words: readonly string[]) {
  const child = mergeq(['sandbox', ...words])
  open.push(child)
  if (child.stdout === null) throw new Error('no standard output')
  const [line] = await once(child.stdout, 'data')
  return { child, line: String(line) }
}

/** Starts `sandbox start`. */
async function startServer() {
  const { child, line } = await start('start')
  const { baseUrl }: { baseUrl: string } = JSON.parse(line)
  return { child, port: Number(new URL(baseUrl).port), baseUrl }
}

const isServing = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  )

test('`sandbox start` listens on loopback only', async () => {
  const { port } = await startServer()
  const others = Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
  for (const { address } of others) {
    const socket = connect(port, address)
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'connected'),
      once(socket, 'error').then(() => 'refused'),
    ]).catch(() => 'refused')
    socket.destroy()
    expect([address, outcome]).toEqual([address, 'refused'])
  }
})

// That Ctrl-C ends it with 130 is below; which signal has which exit code is in test/host/signals.test.ts.
test('SIGTERM ends `sandbox start` and frees the port', async () => {
  const { child, port, baseUrl } = await startServer()
  const held = connect(port, '127.0.0.1')
  await once(held, 'connect')
  held.on('error', () => undefined)
  child.kill('SIGTERM')
  expect((await child).exitCode).toBe(143)
  held.destroy()
  expect(await isServing(baseUrl)).toBe(false)
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  other.close()
})

test('SIGTERM ends `sandbox exec` and its command', async () => {
  const { child, line } = await start('exec', '--', 'sh', '-c', 'echo $$; exec sleep 60')
  child.kill('SIGTERM')
  expect((await child).exitCode).toBe(143)
  expect(() => process.kill(Number(line), 0)).toThrow('ESRCH')
})

test.each([
  ['exit 42', 42],
  ['exit 127', 127],
  ['kill -SEGV $$', 139],
])('`sandbox exec` of a command that does `%s` exits with %i and prints nothing', async (script, code) => {
  const { exitCode, stdout, stderr } = await mergeq(['sandbox', 'exec', '--', 'sh', '-c', script])
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: code, stdout: '', stderr: '' })
})

/** A prompt without colors, and the path of mergeq as a variable. */
const variables = { PS1: 'in> ', M: launcher, TRUNK_API_TOKEN: 'tok_real', MERGEQ_BASE_URL: undefined }
const loopback = /http:\/\/127\.0\.0\.1:\d+\/v1/

/** Opens `sandbox shell` in a terminal and waits for its prompt, as a person does before each line that is typed. */
async function openShell(shell: string, words: readonly string[] = [], prompt = /(?:in>|[#$])$/) {
  const env = { ...variables, SHELL: shell }
  const screen = kept(openTmuxScreen(home, ['sandbox', 'shell', ...words], { env, terminal: 120 }))
  await screen.waitForLine(/To leave the shell, type: exit$/)
  const baseUrl = loopback.exec(screen.lines().join('\n'))?.[0] ?? ''
  const type = async (line: string, due: RegExp) => {
    await expect.poll(() => screen.lines().at(-1), { timeout: 10_000 }).toMatch(prompt)
    screen.press(line, 'Enter')
    await screen.waitForLine(due)
  }
  return { screen, baseUrl, type }
}

describe('`sandbox shell` in a real terminal', () => {
  testWith('tmux')('opens the shell of the user in the sandbox, and ends with its exit code', async () => {
    const { screen, baseUrl, type } = await openShell('/bin/sh', ['--scenario', 'failure'])
    expect(screen.lines().slice(0, 6)).toEqual([
      expect.stringMatching(
        `^This shell uses a sandbox of mergeq \\S+ at ${baseUrl}\\. The queues in it are simulated\\.$`,
      ),
      'Three pull requests are in the queue, and wait for your first command that submits or waits. Any other number works,',
      'too.',
      'For a start, type: mergeq queue get',
      'Then type: mergeq pr submit 7 --wait',
      'To leave the shell, type: exit',
    ])
    await type('echo "<$MERGEQ_BASE_URL $MERGEQ_TOKEN $TRUNK_API_TOKEN>"', /^</)
    expect(screen.lines().at(-2)).toBe(`<${baseUrl} sandbox >`)
    await type('"$M" pr submit 7', /[Ss]ubmitted #7/)
    expect(screen.lines()).toContain('(sandbox) in> "$M" pr submit 7')
    await type('exit 5', /^code 5$/)
    expect(screen.lines().at(-2)).toMatch(/The sandbox was stopped\.$/)
    expect(await isServing(baseUrl)).toBe(false)
    screen.close()
  })

  testWith('tmux')('Ctrl-C ends what runs in the shell, and neither the shell nor the sandbox', async () => {
    const { screen, baseUrl, type } = await openShell('/bin/bash')
    // The terminal throws away what is typed just after Ctrl-C: each key waits for the prompt before it.
    const prompts = () => screen.lines().filter(line => /(?:in>|[#$])$/.test(line)).length
    await type('sh -c \'echo run"ning"; exec sleep 60\'; echo "ended with $?"', /^running$/)
    for (const due of [1, 2]) {
      screen.press('C-c')
      await expect.poll(prompts, { timeout: 10_000 }).toBe(due)
    }
    await type('echo still "here"', /^still here$/)
    // Before the prompt that the files of bash set, once.
    expect(screen.lines().findLast(line => line.includes('echo still'))).toMatch(/^\(sandbox\) (?!\(sandbox)/)
    expect(await isServing(baseUrl)).toBe(true)
    await type('no-such-command; exit', /^code 127$/)
    expect(screen.lines().at(-2)).toMatch(/The sandbox was stopped\.$/)
    screen.close()
  })

  testWith('tmux')('Ctrl-C is left to a shell without job control', async () => {
    const shell = home.path('plain-shell')
    writeFileSync(shell, '#!/bin/sh\ntrap "echo caught" INT\necho ready\nuntil read a; do :; done\nexit 3\n')
    chmodSync(shell, 0o755)
    const { screen, baseUrl, type } = await openShell(shell, [], /./)
    await screen.waitForLine(/^ready$/)
    screen.press('C-c')
    await screen.waitForLine(/^caught$/)
    screen.press('C-c')
    expect(await isServing(baseUrl)).toBe(true)
    await type('', /^code 3$/)
    screen.close()
  })
})

describe('`sandbox shell` without a terminal', () => {
  const env = { ...variables, SHELL: '/bin/sh' }

  test('runs the commands of standard input', async () => {
    const input = 'echo "$MERGEQ_TOKEN"; exit 9\n'
    const { code, out, err } = await home.run(['sandbox', 'shell', '-q'], { input, env })
    expect({ code, out, err }).toEqual({ code: 9, out: 'sandbox\n', err: '' })
  })

  test('is ended by SIGTERM, with the sandbox', async () => {
    const running = home.start(['sandbox', 'shell'], { stdinOpen: true, env })
    await running.waitForOutput(/type: exit/)
    running.kill('SIGTERM')
    expect((await running.done).code).toBe(143)
  })
})

testWith('tmux')('`sandbox start` prints lines to paste on a terminal, which work there', async () => {
  const screen = kept(openTmuxScreen(home, ['sandbox', 'start'], { env: variables }))
  await screen.waitForLine(/^To stop the sandbox, press Ctrl-C/)
  const lines = screen.lines()
  const baseUrl = loopback.exec(lines[0] ?? '')?.[0] ?? ''
  const pasted = lines.filter(line => line.startsWith('export')).join('\n')
  const { code, out } = await home.run(['queue', 'get', '--json'], { shell: `${pasted}\n"$@"` })
  expect({ code, state: JSON.parse(out).state }).toEqual({ code: 0, state: 'RUNNING' })
  screen.press('C-c')
  await screen.waitForLine(/^code 130$/)
  expect(await isServing(baseUrl)).toBe(false)
  screen.close()
})
