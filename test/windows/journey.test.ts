import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { execa, type Options } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtVersion } from '../support/built-version.ts'

// These tests run on Windows, with the package as a user installs it: `mergeq` is the mergeq.cmd of npm.
const place = mkdtempSync(join(tmpdir(), 'mergeq journey '))
const installed = join(place, 'npm global')
const profile = join(place, 'profile')
const work = join(place, 'work')
const tools = join(place, 'tools & more')
const local = join(profile, 'AppData', 'Local')
const settingsFile = join(local, 'mergeq', 'config.json')
const token = 'tok_4f2a9c1e77d0b6aa'
const bom = '\uFEFF'

/** The search path with directories before it, and without its own. */
const searchPath = (...directories: readonly string[]): string =>
  [...directories, installed, dirname(process.execPath), process.env.PATH ?? ''].join(';')

/** Runs mergeq in the working directory of these tests. */
async function mergeq(words: readonly string[], { env, ...options }: Options = {}) {
  const { exitCode, stdout, stderr } = await execa('mergeq', words, {
    cwd: work,
    reject: false,
    input: '',
    timeout: 60_000,
    env: {
      PATH: searchPath(),
      USERPROFILE: profile,
      LOCALAPPDATA: local,
      MERGEQ_REPO: 'acme/web',
      MERGEQ_TARGET_BRANCH: 'main',
      ...env,
    },
    ...options,
  })
  return { code: exitCode, out: String(stdout), err: String(stderr) }
}

/** Writes a file below the place of these tests and returns its path. */
function write(path: string, text: string | Uint8Array): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** A program that prints its arguments as JSON, behind a .cmd file in a directory with a space and a `&`. */
const echo = join(tools, 'echo words.cmd')

beforeAll(async () => {
  for (const directory of [installed, local, work, tools]) mkdirSync(directory, { recursive: true })
  const { stdout } = await execa('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', place])
  const options = ['--global', '--offline', '--no-audit', '--no-fund', '--prefix', installed]
  await execa('npm', ['install', ...options, join(place, stdout.trim())])
  write(join(tools, 'echo.mjs'), 'console.log(JSON.stringify(process.argv.slice(2)))')
  write(echo, '@node "%~dp0echo.mjs" %*\r\n')
}, 300_000)
afterAll(() => rmSync(place, { recursive: true, force: true, maxRetries: 10 }))

test('npm installs commands for every shell, and mergeq starts', async () => {
  expect(readdirSync(installed)).toEqual(expect.arrayContaining(['mergeq', 'mergeq.cmd', 'mergeq.ps1']))
  expect(await mergeq(['--version'])).toEqual({ code: 0, out: expect.stringMatching(builtVersion), err: '' })
})

test('the tour runs', async () => {
  const { code, out } = await mergeq(['sandbox', 'tour', '--speed', '8'])
  expect(code).toBe(0)
  expect(out).toContain('merged')
})

describe('settings', () => {
  test('a token on standard input is stored in the profile, with a byte order mark before it', async () => {
    const login = ['auth', 'login', '--with-token', '--no-verify']
    expect(await mergeq(login, { input: `${bom}${token}\r\n` })).toEqual({
      code: 0,
      out: '',
      err: 'Stored the token for https://api.trunk.io without verifying it.',
    })
    expect(JSON.parse(readFileSync(settingsFile, 'utf8'))).toEqual({
      tokens: { 'https://api.trunk.io': token },
    })
    expect(await mergeq(['config', 'path'])).toMatchObject({ code: 0, out: settingsFile })
  })

  test('a read-only file is named, and stays as it is', async () => {
    const directory = join(profile, 'read-only')
    const file = write(join(directory, 'config.json'), '{}')
    await execa('attrib', ['+r', file])
    const { code, err } = await mergeq(['config', 'set', 'timeout', '9s'], {
      env: { MERGEQ_CONFIG_DIR: directory },
    })
    expect(code).toBe(16)
    expect(err).toContain(`The settings file ${file} could not be written`)
    expect([readFileSync(file, 'utf8'), readdirSync(directory)]).toEqual(['{}', ['config.json']])
  })

  test('a project file may have a byte order mark; UTF-16 is named, with the path as Windows writes it', async () => {
    const checkout = join(work, 'checkout')
    const file = write(join(checkout, '.mergeq.json'), `${bom}{"targetBranch":"release"}`)
    mkdirSync(join(checkout, '.git'), { recursive: true })
    const env = { MERGEQ_TARGET_BRANCH: '' }
    const read = ['queue', 'get', '--dry-run']
    expect(await mergeq(read, { cwd: checkout, env })).toMatchObject({
      code: 0,
      out: expect.stringContaining('release'),
    })
    write(file, Buffer.from(`${bom}{"targetBranch":"release"}`, 'utf16le'))
    const { code, err } = await mergeq(read, { cwd: checkout, env })
    expect(code).toBe(2)
    expect(err).toContain(`${file} `)
    expect(err).toContain('UTF-16')
    rmSync(checkout, { recursive: true })
  })
})

describe('sandbox exec', () => {
  const words = ['a b', '%PATH%', 'x & calc', '"quoted"', '^caret', 'C:\\dir\\', '']
  // A shim of npm for PowerShell drops the first `--`.
  test.each([[['--']], [[]]])('runs a .cmd file in a directory with spaces; %j before it', async marks => {
    expect(await mergeq(['sandbox', 'exec', ...marks, echo, ...words, '--json'])).toMatchObject({
      code: 0,
      out: JSON.stringify([...words, '--json']),
    })
  })

  test('finds npm on PATH by PATHEXT', async () => {
    expect(await mergeq(['sandbox', 'exec', 'npm', '--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\b\d+\.\d+\.\d+$/),
    })
  })

  test.each([['no-such-program'], ['.\\text.txt'], [join(work, 'text.txt', 'program')], ['x'.repeat(5_000)]])(
    '%.40s is a usage error',
    async program => {
      write(join(work, 'text.txt'), 'not a program')
      const { code, out, err } = await mergeq(['sandbox', 'exec', '--', program])
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toMatch(/Command not found|The command cannot be started/)
    },
  )
})

describe('git', () => {
  /** Runs `doctor` with a file that stands in for git; returns what it says of git and its run time. */
  async function doctor(path: string, cwd = work, env: Readonly<Record<string, string>> = {}) {
    const start = Date.now()
    const { out } = await mergeq(['doctor', '--json'], { cwd, env: { PATH: path, ...env } })
    const rows: readonly { check: string; result: string; found: string }[] = JSON.parse(out)
    const { result, found } = rows.find(({ check }) => check === 'git') ?? {}
    return { result, found, milliseconds: Date.now() - start }
  }
  const offline = { MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1', MERGEQ_RETRIES: '0' }

  // It needs a user who may write to the root of the drive, as in CI.
  test('a git.exe of the working directory or of the root of the drive is never run', async () => {
    const checkout = join(work, 'untrusted')
    const planted = [join(checkout, 'git.exe'), join(parse(checkout).root, 'git.exe')]
    mkdirSync(checkout, { recursive: true })
    try {
      for (const file of planted) copyFileSync(process.execPath, file)
      const path = searchPath('.', '', '\\')
      // What Node.js says of the options that come before a command of git.
      const ran = 'bad option: --no-pager'
      expect((await doctor(path, checkout, offline)).found).not.toContain(ran)
      // The same file on PATH is git.
      expect((await doctor(searchPath(checkout), work, offline)).found).toContain(ran)
    } finally {
      for (const file of planted) rmSync(file, { force: true })
    }
  })

  test('gets no token, in whatever case it is written, and no file of a drive for an empty one', async () => {
    const git = join(place, 'git that records')
    write(
      join(git, 'git.mjs'),
      `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('call-' + process.pid + '.json', import.meta.url), JSON.stringify([process.argv.slice(2), process.env]))
console.log('git version 2.0.0')`,
    )
    write(join(git, 'git.cmd'), '@node "%~dp0git.mjs" %*\r\n')
    const env = { Mergeq_Token: token, trunk_api_token: token, MERGEQ_TARGET_BRANCH: '', MERGEQ_REPO: '' }
    expect(await doctor(searchPath(git), work, { ...offline, ...env })).toMatchObject({
      result: 'pass',
      found: 'git version 2.0.0',
    })
    const calls = readdirSync(git).filter(name => name.startsWith('call-'))
    expect(calls.length).toBeGreaterThan(1)
    const texts = calls.map(name => readFileSync(join(git, name), 'utf8'))
    expect(texts.filter(text => text.includes(token) || text.includes('/dev/null'))).toEqual([])
    expect(texts.some(text => text.includes('core.hooksPath=\\\\\\\\.\\\\nul'))).toBe(true)
  })

  test('that hangs is ended in five seconds, with what it started', async () => {
    const git = join(place, 'git that hangs')
    write(
      join(git, 'git.mjs'),
      `import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
appendFileSync(new URL('pids.txt', import.meta.url), process.pid + '\\n')
if (process.argv[2] !== 'helper') spawn(process.execPath, [process.argv[1], 'helper'], { stdio: 'inherit' })
setInterval(() => undefined, 1_000)`,
    )
    write(join(git, 'git.cmd'), '@node "%~dp0git.mjs" %*\r\n')
    const { result, milliseconds } = await doctor(searchPath(git), work, offline)
    expect(result).toBe('warn')
    expect(milliseconds).toBeGreaterThan(4_900)
    await pause(500)
    const pids = readFileSync(join(git, 'pids.txt'), 'utf8').trim().split('\n').map(Number)
    expect(pids.length).toBeGreaterThan(1)
    expect(pids.filter(isRunning)).toEqual([])
  })
})

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('reports', () => {
  const report = (name: string) =>
    `${bom}<testsuite name="s"><testcase classname="c" name="${name}"><failure/></testcase></testsuite>`

  test.each(['reports', 'reports\\'])('flaky match reads %s', async path => {
    write(join(work, 'reports', 'one.xml'), report('first'))
    write(join(work, 'reports', 'TWO.XML'), report('second'))
    write(join(work, 'reports', 'notes.txt'), 'no report')
    const { out } = await mergeq(['sandbox', 'exec', '--', 'mergeq', 'flaky', 'match', path, '--json'])
    expect([out.includes('first'), out.includes('second')]).toEqual([true, true])
  })
})
