import type { Environment } from '../../../host/host.ts'
import { shellWord } from '../../../values/suggested-command.ts'

type ShellKind = 'posix' | 'powershell' | 'cmd'

/** The modules of a user in `PSModulePath`: PowerShell adds their directory, cmd does not. */
export const userModules = /[\\/]Documents[\\/]((?:Windows)?PowerShell)[\\/]Modules/i

/**
 * Returns the kind of the shell from which the process was started. Outside Windows only PowerShell sets
 * `PSModulePath`. On Windows it is always set, PowerShell adds the modules of the user, and POSIX shells such
 * as Git Bash set `SHELL`.
 */
export function detectShell({ PSModulePath = '', SHELL = '' }: Environment, platform: string): ShellKind {
  if (platform !== 'win32') return PSModulePath === '' ? 'posix' : 'powershell'
  if (SHELL !== '') return 'posix'
  return userModules.test(PSModulePath) ? 'powershell' : 'cmd'
}

/** Returns the line that sets an environment variable in a shell; the value has no line breaks. */
export function formatVariable(shell: ShellKind, name: string, value: string): string {
  if (shell === 'powershell') return `$env:${name} = '${value.replaceAll("'", "''")}'`
  return shell === 'cmd' ? `set "${name}=${value}"` : `export ${name}=${shellWord(value)}`
}
