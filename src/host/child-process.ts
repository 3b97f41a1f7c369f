import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, statSync, constants as systemModes } from 'node:fs'
import { constants } from 'node:os'
import { dirname, posix, win32 } from 'node:path'
import {
  type CapturedResult,
  type Environment,
  type GitOptions,
  type LineOptions,
  windowsEnvironment,
} from './host.ts'

const maxErrorLength = 64 * 1024

/**
 * How long the output of a program is read after it has ended, in milliseconds: all that it printed is there, but what it
 * left running, such as a shared ssh connection or an agent, may keep it open.
 */
const outputGrace = 100

export const notStarted = 127

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
 * libuv search first. A name with a directory only gets its ending.
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
  if ((isWindows ? /[\\/]|^[A-Za-z]:/ : /\//).test(name)) return names.find(exists)
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
export const startOf = (path: string, args: readonly string[]) =>
  process.platform !== 'win32' || /\.(?:exe|com)$/i.test(path)
    ? { file: path, words: [...args], shell: false }
    : { file: scriptLine(path, args), words: [], shell: systemProgram('cmd.exe') }

/** Ends a program with what it started: its group, or on Windows all that descend from it. */
export function endProgram(child: ChildProcess, signal: NodeJS.Signals, hasOwnGroup: boolean): void {
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
export const exitCodeOfProcess = (
  code: number | null | undefined,
  signal: NodeJS.Signals | null | undefined,
): number => code ?? 128 + (signal ? constants.signals[signal] : 0)

export const runGit = (args: readonly string[], options: GitOptions): Promise<CapturedResult> =>
  capture(findProgram('git', options.env, process.platform), args, options)

/** Runs a program in its own directory, in a group of its own, with nothing to read. */
async function capture(
  path: string | undefined,
  args: readonly string[],
  options: GitOptions & Partial<LineOptions>,
): Promise<CapturedResult> {
  if (path === undefined) return { code: notStarted, out: '', startError: 'ENOENT' }
  try {
    const { file, words, shell } = startOf(path, args)
    const child = spawn(file, words, {
      env: { ...options.env },
      cwd: dirname(path),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      shell,
      windowsHide: true,
    })
    return await readOutput(child, options)
  } catch (error) {
    // Node throws some errors of the system instead of reporting them, such as E2BIG.
    const startError = error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'
    return { code: notStarted, out: '', startError }
  }
}

/**
 * Resolves to what a program prints, when it has ended or was ended after `timeout` milliseconds. What it left running
 * goes on, without its output; when the time is over, it ends with the program.
 */
const readOutput = (
  child: ChildProcess,
  {
    timeout,
    maxBytes = Number.POSITIVE_INFINITY,
    interrupted,
  }: Omit<GitOptions & Partial<LineOptions>, 'env'>,
): Promise<CapturedResult> =>
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
      interrupted?.removeEventListener('abort', kill)
    }
    const closeOutput = () => {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    process.once('exit', kill)
    if (interrupted?.aborted === true) kill()
    interrupted?.addEventListener('abort', kill, { once: true })
    child.stdout?.setEncoding('utf8').on('data', piece => {
      if (out.length < maxBytes) out += piece
    })
    child.stderr?.setEncoding('utf8').on('data', piece => {
      err = (err + piece).slice(0, maxErrorLength)
    })
    child.once('exit', () => setTimeout(closeOutput, outputGrace).unref())
    child.once('error', error => {
      stopWatching()
      reject(error)
    })
    child.once('close', (code, signal) => {
      stopWatching()
      resolve({ code: exitCodeOfProcess(code, signal), out, err, timedOut })
    })
  })

/** The lines that programs printed, by the program and its arguments, with the time when each was started. */
const lines = new Map<string, { readonly startedAt: number; readonly result: Promise<CapturedResult> }>()

/** Runs a program, or returns the line that it printed before; see `ServiceHost.readLine`. */
export async function readLineOnce(words: readonly string[], options: LineOptions): Promise<CapturedResult> {
  const { after = Number.NEGATIVE_INFINITY } = options
  const key = JSON.stringify(words)
  const known = lines.get(key)
  if (known !== undefined && known.startedAt > after) return known.result
  const started = { startedAt: Date.now(), result: readLine(words, options) }
  lines.set(key, started)
  const result = await started.result
  // A program that failed may succeed the next time.
  if (result.code !== 0 && lines.get(key) === started) lines.delete(key)
  return result
}

/** A shorter word cannot be hidden: it may be a part of any other. */
const minHiddenLength = 4

const withoutWords = (text: string, words: readonly string[]): string =>
  words
    .map(word => word.trim())
    .filter(({ length }) => length >= minHiddenLength)
    .reduce((rest, word) => rest.replaceAll(word, '[REDACTED]'), text)

async function readLine(
  [name = '', ...args]: readonly string[],
  options: LineOptions,
): Promise<CapturedResult> {
  const result = await capture(findProgram(name, options.env, process.platform), args, options)
  const printed = result.out.split('\n')
  return { ...result, out: printed[0] ?? '', err: withoutWords(result.err ?? '', [...args, ...printed]) }
}
