import type { ChildProcess } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import {
  absoluteEntries,
  endProgram,
  exitCodeOfProcess,
  findProgram,
  notStarted,
  startOf,
} from './child-process.ts'
import type { ProgramOptions, ProgramOutput, ProgramResult } from './host.ts'

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

export async function runProgram(
  program: string,
  args: readonly string[],
  { env, until, handlesInterrupt = false, output, limit }: ProgramOptions,
  cwd = dirname(process.execPath),
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
    cwd,
    stdin: output === undefined ? 'inherit' : 'ignore',
    stdout: output === undefined ? 'inherit' : 'pipe',
    stderr: output?.line === undefined ? 'inherit' : 'pipe',
    buffer: false,
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
  let isOver = false
  const expire = () => {
    isOver = true
    stop()
  }
  const timer = limit && setTimeout(expire, limit.time)
  const [{ exitCode, signal, code }] = await Promise.all([child, output && readStreams(child, output)])
  until.removeEventListener('abort', stop)
  clearTimeout(timer)
  listenAgain()
  if (limit !== undefined && isOver) throw limit.over()
  if (exitCode === undefined && signal === undefined)
    return { code: notStarted, startError: code ?? 'UNKNOWN' }
  return { code: exitCodeOfProcess(exitCode, signal) }
}

async function readStreams(
  { stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>,
  { read, line }: ProgramOutput,
): Promise<void> {
  const readLines = async () => {
    if (stderr === null || line === undefined) return
    const { createInterface } = process.getBuiltinModule('node:readline')
    for await (const text of createInterface({ input: stderr })) await line(text)
  }
  const readOut = async () => {
    if (stdout === null) return
    // The program goes on to its end, however much of its output is read.
    await read(stdout.iterator({ destroyOnReturn: false }))
    stdout.resume()
  }
  await Promise.all([readOut(), readLines()])
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
