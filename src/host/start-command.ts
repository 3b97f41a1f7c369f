// @ts-expect-error cross-spawn brings no types for its functions that escape.
import cmdEscape from 'cross-spawn/lib/util/escape.js'
import { readVariable } from './find-program.ts'
import type { Environment } from './host.ts'

/** A program as the operating system starts it. */
export interface StartCommand {
  readonly file: string
  readonly args: readonly string[]
  /** Whether the arguments are already written as Windows reads them. */
  readonly windowsVerbatimArguments: boolean
}

/** The functions of cross-spawn that escape for cmd.exe. */
const {
  command: escapeCommand,
  argument: escapeArgument,
}: {
  command(path: string): string
  argument(text: string, twice: boolean): string
} = cmdEscape

/** The scripts that npm writes pass their arguments to another program, so cmd.exe reads them twice. */
const packageScript = /[\\/]node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i

const systemProgram = (name: string, env: Environment): string =>
  `${readVariable('SystemRoot', env, 'win32') || 'C:\\Windows'}\\System32\\${name}`

/** Returns the program of Windows that ends a process with all processes that it started. */
export const endCommand = (pid: number, env: Environment): StartCommand => ({
  file: systemProgram('taskkill.exe', env),
  args: ['/PID', String(pid), '/T', '/F'],
  windowsVerbatimArguments: false,
})

/**
 * Returns how a program is started on Windows, which starts `.exe` and `.com` files only: any other file goes
 * through `cmd.exe`, each argument escaped.
 */
export function startCommand(file: string, args: readonly string[], env: Environment): StartCommand {
  if (/\.(?:exe|com)$/i.test(file)) return { file, args, windowsVerbatimArguments: false }
  const path = escapeCommand(file.replaceAll('/', '\\'))
  const words = args.map(text => escapeArgument(text, packageScript.test(file)))
  return {
    file: systemProgram('cmd.exe', env),
    args: ['/d', '/s', '/c', `"${[path, ...words].join(' ')}"`],
    windowsVerbatimArguments: true,
  }
}
