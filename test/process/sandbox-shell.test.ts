import { chmodSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { launcher, testWith } from '../support/programs.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { openTmuxScreen } from '../support/tmux-screen.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())
/** A prompt without colors, and the path of mergeq as a variable. */
const variables = { PS1: 'in> ', M: launcher, TRUNK_API_TOKEN: 'tok_real', MERGEQ_BASE_URL: undefined }

/** Opens `sandbox shell` in a terminal and waits for its first lines. */
async function openShell(shell: string, words: readonly string[] = []) {
  const screen = kept(
    openTmuxScreen(home, ['sandbox', 'shell', ...words], {
      env: { ...variables, SHELL: shell },
      terminal: 120,
    }),
  )
  await screen.waitForLine(/To leave the shell, type: exit$/)
  const baseUrl = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(screen.lines().join('\n'))?.[0] ?? ''
  const type = async (line: string, due: RegExp) => {
    screen.press(line, 'Enter')
    await screen.waitForLine(due)
  }
  return { screen, baseUrl, type }
}

const isServing = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  )

describe('`sandbox shell` in a real terminal', () => {
  testWith('tmux')('opens the shell of the user in the sandbox, and ends with its exit code', async () => {
    const { screen, baseUrl, type } = await openShell('/bin/sh', ['--scenario', 'failure'])
    expect(screen.lines()[0]).toBe(
      `This shell uses a sandbox at ${baseUrl}. The queues in it are simulated. To leave the shell, type: exit`,
    )
    await type(
      'echo "<$MERGEQ_BASE_URL $MERGEQ_TOKEN $MERGEQ_REPO $MERGEQ_TARGET_BRANCH $TRUNK_API_TOKEN>"',
      /^</,
    )
    expect(screen.lines().at(-2)).toBe(`<${baseUrl} sandbox github.com/acme/web main >`)
    await type('$M pr submit 7', /[Ss]ubmitted #7/)
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
    expect(await isServing(baseUrl)).toBe(true)
    await type('no-such-command; exit', /^code 127$/)
    expect(screen.lines().at(-2)).toMatch(/The sandbox was stopped\.$/)
    screen.close()
  })

  testWith('tmux')('Ctrl-C is left to a shell without job control', async () => {
    const shell = home.path('plain-shell')
    writeFileSync(shell, '#!/bin/sh\ntrap "echo caught" INT\necho ready\nuntil read a; do :; done\nexit 3\n')
    chmodSync(shell, 0o755)
    const { screen, baseUrl, type } = await openShell(shell)
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
  test('runs the commands of standard input', async () => {
    const { code, out, err } = await home.run(['sandbox', 'shell', '-q'], {
      input: 'echo "$MERGEQ_TOKEN"; exit 9\n',
      env: { ...variables, SHELL: '/bin/sh' },
    })
    expect({ code, out, err }).toEqual({ code: 9, out: 'sandbox\n', err: '' })
  })

  test('a shell that cannot be started is a usage error', async () => {
    const { code, out, err } = await home.run(['sandbox', 'shell', '-q'], {
      env: { ...variables, SHELL: '/no/such/shell' },
    })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe(
      'mergeq: The shell could not be started: /no/such/shell.\n  Set SHELL to the path of your shell, such as /bin/sh.\n',
    )
  })

  test('SIGTERM ends the shell and the sandbox', async () => {
    const running = home.start(['sandbox', 'shell'], {
      stdinOpen: true,
      env: { ...variables, SHELL: '/bin/sh' },
    })
    await running.waitForOutput(/type: exit/)
    running.kill('SIGTERM')
    expect((await running.done).code).toBe(143)
  })
})

describe('`sandbox start`', () => {
  const open = (env: Readonly<Record<string, string>> = {}, more: readonly string[] = []) =>
    kept(openTmuxScreen(home, ['sandbox', 'start', ...more], { env: { ...variables, ...env } }))

  testWith('tmux')('prints lines to paste on a terminal, which work there, and how it stops', async () => {
    const screen = open()
    await screen.waitForLine(/^To stop the sandbox, press Ctrl-C/)
    const lines = screen.lines()
    const baseUrl = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(lines[0] ?? '')?.[0] ?? ''
    expect(lines).toEqual([
      `The sandbox is ready at ${baseUrl}.`,
      'In another terminal, paste these lines to use the sandbox:',
      `export MERGEQ_BASE_URL=${baseUrl}`,
      'export MERGEQ_TOKEN=sandbox',
      'export MERGEQ_REPO=github.com/acme/web',
      'export MERGEQ_TARGET_BRANCH=main',
      expect.stringMatching(/^export MERGEQ_ORG=\w+$/),
      'To stop the sandbox, press Ctrl-C or close this terminal.',
    ])
    const pasted = lines.filter(line => line.startsWith('export')).join('\n')
    const { code, out } = await home.run(['queue', 'get', '--json'], { shell: `${pasted}\n"$@"` })
    expect({ code, state: JSON.parse(out).state }).toEqual({ code: 0, state: 'RUNNING' })
    screen.press('C-c')
    await screen.waitForLine(/^code 130$/)
    expect(await isServing(baseUrl)).toBe(false)
    screen.close()
  })

  testWith('tmux')('prints lines for PowerShell if PowerShell started it, and JSON with --json', async () => {
    const screen = open({ PSModulePath: '/home/ann/.local/share/powershell/Modules' })
    await screen.waitForLine(/^\$env:MERGEQ_TOKEN = 'sandbox'$/)
    screen.close()
    const json = open({}, ['--json'])
    await json.waitForLine(/^\{"baseUrl":"http:\/\/127\.0\.0\.1:\d+\/v1","token":"sandbox"\}$/)
    expect(json.lines()).toHaveLength(1)
    json.close()
  })
})
