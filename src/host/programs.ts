import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, statSync, constants as systemModes } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, posix, win32 } from 'node:path'
import {
  type Environment,
  type GitOptions,
  type GitResult,
  type ProgramOptions,
  type ProgramResult,
  windowsEnvironment,
} from './host.ts'

const maxErrorLength = 64 * 1024

/**
 * How long standard error may stay open after git has ended, in milliseconds: a helper that git left running,
 * such as a shared ssh connection, may keep it.
 */
const errorGrace = 100

const notStarted = 127

/** Returns the entries of PATH that name a directory whatever the working directory is. */
export function absoluteEntries(env: Environment, platform: string): readonly string[] {
  if (platform !== 'win32')
    return (env.PATH ?? '/usr/bin:/bin').split(':').filter(entry => entry.startsWith('/'))
  return (windowsEnvironment(env).PATH ?? '')
    .split(';')
    .map(entry => entry.replace(/^"(.*)"$/, '$1'))
    .filter(entry => /^(?:[A-Za-z]:[\\/]|[\\/]{2}[^\\/])/.test(entry))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, systemModes.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * Returns the path of a program, or undefined when there is none. Its name is looked up in the absolute entries
 * of PATH, on Windows with the endings of PATHEXT, and never in the working directory, which both cmd.exe and
 * libuv search first. On Windows a name with a directory only gets its ending.
 */
export function findProgram(
  name: string,
  env: Environment,
  platform: string,
  exists = isProgram,
): string | undefined {
  const isWindows = platform === 'win32'
  const { join } = isWindows ? win32 : posix
  const endings = isWindows
    ? (windowsEnvironment(env).PATHEXT || '.COM;.EXE;.BAT;.CMD').split(';').filter(ending => ending !== '')
    : ['']
  const isComplete = endings.some(ending => name.toLowerCase().endsWith(ending.toLowerCase()))
  const names = [...(isComplete ? [name] : []), ...endings.map(ending => `${name}${ending.toLowerCase()}`)]
  if (isWindows && /[\\/]|^[A-Za-z]:/.test(name)) return names.find(exists)
  return absoluteEntries(env, platform)
    .flatMap(directory => names.map(file => join(directory, file)))
    .find(exists)
}

const systemProgram = (name: string): string =>
  win32.join(process.env.SystemRoot || 'C:\\Windows', 'System32', name)

/** Escapes the characters that mean something to cmd.exe. */
const escapeForCmd = (text: string): string => text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&')

export function scriptLine(script: string, args: readonly string[]): string {
  const path = script.replaceAll('/', '\\')
  // The cmd.exe of Wine reads no escaped space in a path. Quotes do not keep cmd.exe from expanding variables.
  const command = /[%!]/.test(path) ? escapeForCmd(path) : `"${path}"`
  // The scripts that npm writes pass their arguments to another program, so cmd.exe reads them twice.
  const isReadTwice = /\\node_modules\\\.bin\\[^\\]+\.cmd$/i.test(path)
  const words = args.map(text => {
    // A program reads a backslash as an escape only before a quote.
    const quoted = `"${text.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
    return isReadTwice ? escapeForCmd(escapeForCmd(quoted)) : escapeForCmd(quoted)
  })
  return [command, ...words].join(' ')
}

/** What starts a program: on Windows cmd.exe runs every file except `.exe` and `.com` files. */
const startOf = (path: string, args: readonly string[]) =>
  process.platform !== 'win32' || /\.(?:exe|com)$/i.test(path)
    ? { file: path, words: [...args], shell: false }
    : { file: scriptLine(path, args), words: [], shell: systemProgram('cmd.exe') }

/**
 * Ends a program with what it started: its process group, or on Windows, which has no groups, all that
 * descend from it.
 */
function endProgram(child: ChildProcess, signal: NodeJS.Signals, hasOwnGroup: boolean): void {
  const { pid } = child
  if (pid === undefined) return
  if (process.platform === 'win32') {
    if (child.exitCode !== null) return
    // What ends the program must outlive this process.
    const options = { stdio: 'ignore', detached: true } as const
    const args = ['/PID', String(pid), '/T', '/F']
    spawn(systemProgram('taskkill.exe'), args, options).on('error', () => child.kill())
    return
  }
  try {
    process.kill(hasOwnGroup ? -pid : pid, signal)
  } catch {
    // The program has ended already.
  }
}

/** 128 plus the number of the signal, if one ended the program. */
const exitCodeOf = (code: number | null | undefined, signal: NodeJS.Signals | null | undefined): number =>
  code ?? 128 + (signal ? constants.signals[signal] : 0)

export async function runGit(
  args: readonly string[],
  { env, timeout }: GitOptions,
): Promise<Required<GitResult>> {
  const path = findProgram('git', env, process.platform)
  try {
    if (path === undefined) throw new Error('git was not found')
    const { file, words, shell } = startOf(path, args)
    const child = spawn(file, words, {
      env: { ...env },
      cwd: dirname(path),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      shell,
    })
    return await readOutput(child, timeout)
  } catch {
    // Node throws some errors of the system instead of reporting them, such as E2BIG.
    return { code: notStarted, out: '', err: '', timedOut: false }
  }
}

/** Resolves to what a program prints, when it has ended or was ended after `timeout` milliseconds. */
const readOutput = (child: ChildProcess, timeout: number): Promise<Required<GitResult>> =>
  new Promise((resolve, reject) => {
    let [out, err] = ['', '']
    let timedOut = false
    // git leaves helpers running, which end with its group.
    const kill = () => endProgram(child, 'SIGKILL', process.platform !== 'win32')
    const timer = setTimeout(() => {
      timedOut = true
      kill()
    }, timeout)
    const stopWatching = () => {
      clearTimeout(timer)
      process.off('exit', kill)
    }
    process.once('exit', kill)
    child.stdout?.setEncoding('utf8').on('data', piece => {
      out += piece
    })
    child.stderr?.setEncoding('utf8').on('data', piece => {
      err = (err + piece).slice(0, maxErrorLength)
    })
    child.once('exit', () => setTimeout(() => child.stderr?.destroy(), errorGrace).unref())
    child.once('error', error => {
      stopWatching()
      reject(error)
    })
    child.once('close', (code, signal) => {
      stopWatching()
      resolve({ code: exitCodeOf(code, signal), out, err, timedOut })
    })
  })

/** Ignores SIGINT until the returned function is called; then each listener gets one more SIGINT. */
function ignoreInterrupts(): () => void {
  const listeners = process.rawListeners('SIGINT')
  const ignore = () => undefined
  process.removeAllListeners('SIGINT').on('SIGINT', ignore)
  return () => {
    process.off('SIGINT', ignore)
    for (const listener of listeners) process.once('SIGINT', signal => listener.call(process, signal))
  }
}

/** Returns the working directory, which execa requires; another directory if it was removed. */
function existingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    return dirname(process.execPath)
  }
}

export async function runProgram(
  program: string,
  args: readonly string[],
  { env, until, handlesInterrupt = false }: ProgramOptions,
): Promise<ProgramResult> {
  const { execa } = await import('execa')
  const isWindows = process.platform === 'win32'
  // On Windows execa would find a program in the working directory, and cmd.exe would open any file.
  const path = isWindows ? findProgram(program, env, process.platform) : program
  if (path === undefined) return { code: notStarted, startError: 'ENOENT' }
  // The program gets its own process group, so that its children end with it. On a terminal the group is
  // shared, because another group would not get its signals and input.
  const hasOwnGroup = !isWindows && !process.stdin.isTTY
  const listenAgain = handlesInterrupt ? ignoreInterrupts() : () => undefined
  const { file, words, shell } = startOf(path, args)
  const child = execa(file, words, {
    env: { ...env },
    extendEnv: false,
    cwd: existingDirectory(),
    stdio: 'inherit',
    detached: hasOwnGroup,
    shell,
    windowsHide: false,
    reject: false,
    // execa would listen for signals, and end this process on the first.
    cleanup: false,
  })
  // A terminal sends the signal to the program too, so it gets time to handle the signal first.
  const stop = () => {
    setTimeout(() => endProgram(child, 'SIGTERM', hasOwnGroup), hasOwnGroup ? 0 : 300).unref()
    setTimeout(() => endProgram(child, 'SIGKILL', hasOwnGroup), 700).unref()
  }
  until.addEventListener('abort', stop, { once: true })
  const { exitCode, signal, code } = await child
  until.removeEventListener('abort', stop)
  listenAgain()
  if (exitCode === undefined && signal === undefined)
    return { code: notStarted, startError: code ?? 'UNKNOWN' }
  return { code: exitCodeOf(exitCode, signal) }
}

/** Opens a URL in the browser; see `Host.openUrl`. */
export async function openUrl(url: string): Promise<void> {
  const { default: open } = await import('open')
  // The programs that open a URL are looked up on PATH.
  if (process.env.PATH !== undefined)
    process.env.PATH = absoluteEntries(process.env, process.platform).join(delimiter)
  const child = await open(url)
  await new Promise<void>((resolve, reject) => {
    // A browser that is still running after this time was started.
    const timer = setTimeout(resolve, 1_000)
    child.once('error', reject)
    child.once('exit', code => {
      clearTimeout(timer)
      if (code === 0 || code === null) resolve()
      else reject(new Error(`the browser ended with exit code ${code}`))
    })
  })
}
