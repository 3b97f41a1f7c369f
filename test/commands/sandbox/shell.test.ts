import { expect, test } from 'vitest'
import { detectShell, formatVariable } from '../../../src/commands/sandbox/shared/shell-kind.ts'
import { userShell } from '../../../src/commands/sandbox/shell.ts'

const system =
  'C:\\Program Files\\WindowsPowerShell\\Modules;C:\\Windows\\system32\\WindowsPowerShell\\v1.0\\Modules'
const windowsPowerShell = `C:\\Users\\ann\\Documents\\WindowsPowerShell\\Modules;${system}`
const powerShell7 = `C:\\Users\\ann\\OneDrive\\Documents\\PowerShell\\Modules;C:\\Program Files\\PowerShell\\Modules;${system}`

test.each([
  ['linux', {}, 'posix', '/bin/sh', []],
  ['linux', { SHELL: '/usr/bin/fish' }, 'posix', '/usr/bin/fish', []],
  [
    'darwin',
    { SHELL: '/bin/zsh', PSModulePath: '/Users/ann/.local/share/powershell/Modules' },
    'powershell',
    '/bin/zsh',
    [],
  ],
  [
    'win32',
    { PSModulePath: system, ComSpec: 'C:\\Windows\\system32\\cmd.exe' },
    'cmd',
    'C:\\Windows\\system32\\cmd.exe',
    [],
  ],
  ['win32', {}, 'cmd', 'cmd.exe', []],
  ['win32', { PSModulePath: windowsPowerShell }, 'powershell', 'powershell.exe', ['-NoLogo']],
  ['win32', { PSModulePath: powerShell7 }, 'powershell', 'pwsh.exe', ['-NoLogo']],
  ['win32', { PSModulePath: system, SHELL: '/usr/bin/bash' }, 'posix', 'cmd.exe', []],
] as const)('on %s with %j the shell is %s, and %s is started', (platform, env, kind, program, args) => {
  expect(detectShell(env, platform)).toBe(kind)
  expect(userShell(env, platform)).toEqual({ program, args })
})

test.each([
  ['posix', 'main', 'export NAME=main'],
  ['posix', "it's", "export NAME='it'\\''s'"],
  ['powershell', 'main', "$env:NAME = 'main'"],
  ['powershell', "it's", "$env:NAME = 'it''s'"],
  ['cmd', 'main', 'set "NAME=main"'],
] as const)('a variable in %s: %s', (kind, value, line) => {
  expect(formatVariable(kind, 'NAME', value)).toBe(line)
})
