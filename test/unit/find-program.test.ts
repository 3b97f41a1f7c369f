import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { absoluteEntries, findProgram } from '../../src/host/find-program.ts'
import { spawn } from '../../src/host/spawn.ts'
import { endCommand, startCommand } from '../../src/host/start-command.ts'

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
    'C:\\scripts\\run.me.exe',
  ]
  const find = (name: string, env: Readonly<Record<string, string>>) =>
    findProgram(name, { env, platform: 'win32', allowsRelative: true }, path => programs.includes(path))

  test.each([
    ['git', '.;\\;tools;C:;C:\\Program Files\\Git\\cmd', 'C:\\Program Files\\Git\\cmd\\git.exe'],
    ['git', '.;\\;tools;C:;;', undefined],
    ['git', '', undefined],
    ['git', '"C:\\Program Files\\Git\\cmd"', 'C:\\Program Files\\Git\\cmd\\git.exe'],
    ['npm', 'C:\\Program Files\\nodejs\\', 'C:\\Program Files\\nodejs\\npm.cmd'],
    ['NODE.EXE', 'C:\\Program Files\\nodejs', undefined],
    ['node.exe', 'C:\\Program Files\\nodejs', 'C:\\Program Files\\nodejs\\node.exe'],
    ['tool', 'C:\\both', 'C:\\both\\tool.exe'],
    ['far', '\\\\server\\share', '\\\\server\\share\\far.exe'],
    ['run.me', 'C:\\scripts', 'C:\\scripts\\run.me.exe'],
    ['.\\build', 'C:\\scripts', '.\\build.bat'],
    ['C:\\both\\tool', '', 'C:\\both\\tool.exe'],
    ['C:\\both\\none', '', undefined],
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

describe('a program outside Windows', () => {
  const programs = ['git', './git', 'tools/git', '/usr/bin/git']
  const find = (env: Readonly<Record<string, string>>, allowsRelative = false) =>
    findProgram('git', { env, platform: 'darwin', allowsRelative }, path => programs.includes(path))

  test('of ours is looked up in the absolute entries of PATH', () => {
    expect(find({ PATH: '.:tools::/usr/bin' })).toBe('/usr/bin/git')
    expect(find({ PATH: '.:tools:' })).toBeUndefined()
    expect(find({})).toBe('/usr/bin/git')
  })

  test('of the user is looked up by the system', () => {
    expect(find({ PATH: '.' }, true)).toBe('git')
  })

  test('that opens a URL is looked up without relative entries', () => {
    expect(absoluteEntries('.:/usr/bin::bin:/bin', 'linux')).toEqual(['/usr/bin', '/bin'])
  })
})

describe('how Windows starts a program', () => {
  const env = { SYSTEMROOT: 'D:\\Windows' }

  test('an .exe file is started directly', () => {
    expect(startCommand('C:\\a b\\git.EXE', ['%PATH%', 'a "b"'], env)).toEqual({
      file: 'C:\\a b\\git.EXE',
      args: ['%PATH%', 'a "b"'],
      windowsVerbatimArguments: false,
    })
  })

  test('a .cmd file is started by the cmd.exe of Windows, with escaped words', () => {
    expect(
      startCommand('C:/Program Files/nodejs/npm.cmd', ['test', 'a b', '%X%&calc', 'say "hi"\\'], env),
    ).toEqual({
      file: 'D:\\Windows\\System32\\cmd.exe',
      args: [
        '/d',
        '/s',
        '/c',
        '"C:\\Program^ Files\\nodejs\\npm.cmd ^"test^" ^"a^ b^" ^"^%X^%^&calc^" ^"say^ \\^"hi\\^"\\\\^""',
      ],
      windowsVerbatimArguments: true,
    })
  })

  test('the arguments of a script of npm are escaped twice, because it passes them on', () => {
    const { args } = startCommand('C:\\x\\node_modules\\.bin\\vitest.cmd', ['a&b'], {})
    expect(args[3]).toBe('"C:\\x\\node_modules\\.bin\\vitest.cmd ^^^"a^^^&b^^^""')
  })
})

test('Windows ends a program with what it started by its own taskkill.exe', () => {
  expect(endCommand(42, { systemroot: 'D:\\Windows' })).toEqual({
    file: 'D:\\Windows\\System32\\taskkill.exe',
    args: ['/PID', '42', '/T', '/F'],
    windowsVerbatimArguments: false,
  })
})

describe('starting a program', () => {
  let place = ''
  beforeAll(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-find-')))
    mkdirSync(join(place, 'bin'))
    for (const [name, text] of [
      ['bin/planted', 'echo right; pwd'],
      ['planted', 'echo wrong'],
    ] as const) {
      writeFileSync(join(place, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(place, name), 0o755)
    }
    writeFileSync(join(place, 'text'), 'not a program')
  })
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  test('a program of ours runs in its own directory, by its absolute path', async () => {
    const relative = join('..', '..', '..', place).replace(/^(?:\.\.\/)+/, '../../../../../../../../')
    const env = { PATH: `${relative}:${place}/bin` }
    const options = { env, output: 'capture', ownDirectory: true } as const
    expect(await spawn('planted', [], options)).toMatchObject({ code: 0, out: `right\n${place}/bin\n` })
    expect(await spawn('planted', [], { ...options, env: { PATH: relative } })).toEqual({
      code: 127,
      out: '',
      err: '',
      notFound: true,
      startError: 'ENOENT',
    })
  })

  test.each([
    ['ENOENT', 'no-such-program', []],
    ['EACCES', 'text', []],
    ['ENOTDIR', 'text/program', []],
    ['ENAMETOOLONG', 'x'.repeat(5_000), []],
    ['E2BIG', 'planted', ['x'.repeat(4_000_000)]],
    ['ERR_INVALID_ARG_VALUE', 'planted', ['a\0b']],
  ])('%s is reported, not thrown', async (startError, name, args) => {
    const result = await spawn(join(place, name), args, { env: {}, output: 'capture' })
    expect(result).toEqual({ code: 127, out: '', err: '', notFound: true, startError })
  })
})
