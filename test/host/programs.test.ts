import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { withoutTokens } from '../../src/config/token-program.ts'
import { findProgram, runGit, scriptLine } from '../../src/host/child-process.ts'
import { windowsEnvironment } from '../../src/host/host.ts'
import { runProgram } from '../../src/host/programs.ts'
import { testOnPosix } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('a program on Windows', () => {
  const programs = [
    'git.exe',
    '\\git.exe',
    'tools\\git.exe',
    'C:git.exe',
    'C:\\Program Files\\Git\\cmd\\git.exe',
    'C:\\Program Files\\nodejs\\npm.cmd',
    'C:\\Program Files\\nodejs\\npm',
    'C:\\Program Files\\nodejs\\node.exe',
    'C:\\both\\tool.cmd',
    'C:\\both\\tool.exe',
    '\\\\server\\share\\far.exe',
    '.\\build.bat',
  ]
  const find = (name: string, env: Readonly<Record<string, string>>) =>
    findProgram(name, env, 'win32', path => programs.includes(path))

  test.each([
    ['git', '.;\\;tools;C:;C:\\Program Files\\Git\\cmd', 'C:\\Program Files\\Git\\cmd\\git.exe'],
    ['git', '.;\\;tools;C:;;', undefined],
    ['git', '"C:\\Program Files\\Git\\cmd"', 'C:\\Program Files\\Git\\cmd\\git.exe'],
    ['npm', 'C:\\Program Files\\nodejs\\', 'C:\\Program Files\\nodejs\\npm.cmd'],
    ['node.exe', 'C:\\Program Files\\nodejs', 'C:\\Program Files\\nodejs\\node.exe'],
    ['tool', 'C:\\both', 'C:\\both\\tool.exe'],
    ['far', '\\\\server\\share', '\\\\server\\share\\far.exe'],
    ['.\\build', 'C:\\scripts', '.\\build.bat'],
    ['C:\\both\\tool', '', 'C:\\both\\tool.exe'],
  ])('%s with the PATH %s', (name, path, found) => {
    expect(find(name, { PATH: path })).toBe(found)
  })

  test('the names of PATH and PATHEXT are written in any case', () => {
    expect(find('tool', { Path: 'C:\\both', PathExt: '.CMD;.EXE' })).toBe('C:\\both\\tool.cmd')
  })

  test('a program without PATH is not found, and no directory is the default', () => {
    expect(find('git', {})).toBeUndefined()
  })
})

describe('a script on Windows', () => {
  test('is started with escaped words', () => {
    expect(scriptLine('C:/Program Files/nodejs/npm.cmd', ['test', 'a b', '%X%&calc', 'say "hi"\\'])).toBe(
      '"C:\\Program Files\\nodejs\\npm.cmd" ^"test^" ^"a^ b^" ^"^%X^%^&calc^" ^"say^ \\^"hi\\^"\\\\^"',
    )
  })

  test('that has a variable in its path is started without expanding it', () => {
    expect(scriptLine('C:\\100%PATH%\\a b.cmd', [])).toBe('C:\\100^%PATH^%\\a^ b.cmd')
  })

  test('of npm gets arguments that are escaped twice, because it passes them on', () => {
    expect(scriptLine('C:\\x\\node_modules\\.bin\\vitest.cmd', ['a&b'])).toBe(
      '"C:\\x\\node_modules\\.bin\\vitest.cmd" ^^^"a^^^&b^^^"',
    )
  })
})

describe('a program outside Windows', () => {
  const programs = ['git', './git', 'tools/git', '/usr/bin/git']
  const find = (env: Readonly<Record<string, string>>) =>
    findProgram('git', env, 'darwin', path => programs.includes(path))

  test('is looked up in the absolute entries of PATH', () => {
    expect(find({ PATH: '.:tools::/usr/bin' })).toBe('/usr/bin/git')
    expect(find({ PATH: '.:tools:' })).toBeUndefined()
    expect(find({})).toBe('/usr/bin/git')
  })
})

describe('starting a program', () => {
  const place = temporaryFolder('mergeq-find-')
  beforeAll(() => {
    mkdirSync(join(place, 'bin'))
    for (const [name, text] of [
      ['bin/git', 'echo right; pwd'],
      ['git', 'echo wrong'],
    ] as const)
      writeFileSync(join(place, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
    writeFileSync(join(place, 'text'), 'not a program')
  })

  testOnPosix('git runs in its own directory, by its absolute path', async () => {
    const relative = join('..', '..', '..', place).replace(/^(?:\.\.\/)+/, '../../../../')
    const look = (PATH: string) => runGit([], { env: { PATH }, timeout: 5_000 })
    expect(await look(`${relative}:${place}/bin`)).toMatchObject({ code: 0, out: `right\n${place}/bin\n` })
    expect(await look(relative)).toEqual({ code: 127, out: '', startError: 'ENOENT' })
  })

  testOnPosix.each([
    ['EACCES', 'text', []],
    ['ENOTDIR', 'text/program', []],
    ['E2BIG', 'git', ['x'.repeat(4_000_000)]],
  ])('%s is reported, not thrown', async (startError, name, args) => {
    const until = new AbortController().signal
    const result = await runProgram(join(place, name), args, { env: {}, until })
    expect(result).toEqual({ code: 127, startError })
  })
})

describe('the environment on Windows', () => {
  const env = windowsEnvironment({ Path: 'C:\\Windows', mergeq_token: 'secret', Empty: '' })

  test('has names in any case', () => {
    expect([env.PATH, env.path, env.MERGEQ_TOKEN, env.EMPTY, env.HOME]).toEqual([
      'C:\\Windows',
      'C:\\Windows',
      'secret',
      '',
      undefined,
    ])
    expect(Object.keys(env)).toEqual(['Path', 'mergeq_token', 'Empty'])
  })

  test('is passed to child processes without tokens, however they are written', () => {
    expect(withoutTokens(env)).toEqual({ Path: 'C:\\Windows', Empty: '' })
  })
})
