import { setMaxListeners } from 'node:events'
import { fstatSync, statSync, writeSync } from 'node:fs'
import { MergeqError } from '../base/errors.ts'
import { files } from './files.ts'
import { isInForeground } from './foreground.ts'
import {
  type Clock,
  type Host,
  interrupt,
  type Output,
  type ServiceHost,
  type StandardInput,
  windowsEnvironment,
} from './host.ts'

/** What child processes and libraries must not see: tokens, and the switch against certificate checks. */
const hiddenVariables = [
  'MERGEQ_TOKEN',
  'MERGEQ_TOKEN_FILE',
  'MERGEQ_TOKEN_COMMAND',
  'TRUNK_API_TOKEN',
  'NODE_TLS_REJECT_UNAUTHORIZED',
]

/** Returns a controller for `Host.interrupted`: any number of requests may listen to its signal. */
export function createInterruption(): AbortController {
  const interruption = new AbortController()
  // From the 11th listener on, Node would print a warning.
  setMaxListeners(0, interruption.signal)
  return interruption
}

/**
 * Creates what the library has of a Node process. Removes the tokens from the environment that child processes
 * inherit. `interrupted` is aborted by signals.
 */
export function createServiceHost(
  proc: NodeJS.Process,
  version: string,
  interrupted: AbortSignal,
): ServiceHost {
  const env = { ...proc.env }
  for (const name of hiddenVariables) delete proc.env[name]
  return {
    env: proc.platform === 'win32' ? windowsEnvironment(env) : env,
    cwd: workingDirectory(proc),
    runtime: {
      version,
      node: proc.versions.node,
      platform: proc.platform,
      nullDevice: proc.platform === 'win32' ? '\\\\.\\nul' : '/dev/null',
    },
    clock,
    random: Math.random,
    files,
    machineFile: proc.platform === 'win32' ? undefined : '/etc/mergeq/config.json',
    interrupted,
    git: async (args, options) => (await import('./child-process.ts')).runGit(args, options),
    readLine: async (words, options) => (await import('./child-process.ts')).readLineOnce(words, options),
  }
}

/** Creates the host of a Node process, with its streams and what can be started from it. */
export function createNodeHost(proc: NodeJS.Process, version: string, interrupted: AbortSignal): Host {
  const host = createServiceHost(proc, version, interrupted)
  return {
    ...host,
    argv: proc.argv.slice(2),
    input: createInput(proc, interrupted),
    watchTerminal: async events => (await import('./terminal.ts')).watchTerminal(proc, events),
    out: createOutput(proc, 'stdout', interrupted),
    err: createOutput(proc, 'stderr', interrupted),
    runProgram: async (program, args, options) =>
      (await loadPrograms()).runProgram(program, args, options, host.cwd),
    lock: async (path, stale) => (await import('./lock.ts')).lockPath(path, stale),
    openUrl: async url => (await loadPrograms()).openUrl(url),
  }
}

const loadPrograms = () => import('./programs.ts')

function workingDirectory(proc: NodeJS.Process): string | undefined {
  try {
    return proc.cwd()
  } catch {
    return undefined
  }
}

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => process.uptime() * 1_000,
  async sleep(ms, signal) {
    signal?.throwIfAborted()
    const { setTimeout: pause } = process.getBuiltinModule('node:timers/promises')
    await pause(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
  },
}

const createInput = (proc: NodeJS.Process, interrupted: AbortSignal): StandardInput => ({
  get terminal() {
    return proc.stdin.isTTY === true
  },
  get isStream() {
    try {
      return !fstatSync(0).isCharacterDevice()
    } catch (error) {
      return !(error instanceof Error && 'code' in error && error.code === 'EBADF')
    }
  },
  async *read(limit) {
    // A pending read would keep the process alive after a signal, and after the time limit.
    if (fstatSync(0).isDirectory()) throw new Error('it is a directory')
    const stop = () => proc.stdin.destroy(interrupted.reason)
    interrupted.addEventListener('abort', stop, { once: true })
    const timer = limit && setTimeout(() => proc.stdin.destroy(limit.over()), limit.time)
    try {
      yield* proc.stdin
    } finally {
      clearTimeout(timer)
      interrupted.removeEventListener('abort', stop)
    }
  },
  async ask(question, hidden = false, limit) {
    const { createInterface } = proc.getBuiltinModule('node:readline/promises')
    const { Writable } = proc.getBuiltinModule('node:stream')
    // readline echoes what the user types; a hidden line has no echo.
    const echo = new Writable({
      write: (piece, _, done) => (hidden ? done() : proc.stderr.write(piece, () => done())),
    })
    if (hidden) proc.stderr.write(question)
    const lines = createInterface({ input: proc.stdin, output: echo, terminal: true })
    const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
    lines.once('SIGINT', () => interrupt(proc))
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<never>((_, reject) => {
      timer = limit && setTimeout(() => reject(limit.over()), limit.time)
    })
    try {
      const answer = lines.question(hidden ? '' : question, { signal: interrupted })
      return await Promise.race([answer, closed, over])
    } catch (error) {
      throw interrupted.aborted ? interrupted.reason : error
    } finally {
      clearTimeout(timer)
      lines.close()
      if (hidden) proc.stderr.write('\n')
    }
  },
})

/**
 * Creates an output. A reader that has closed the pipe is not an error: later writes are dropped. Any other
 * failed write is an output error. Pipes and files are written to directly, because creating a stream takes
 * longer than all writes.
 */
function createOutput(proc: NodeJS.Process, name: 'stdout' | 'stderr', interrupted: AbortSignal): Output {
  const descriptor = name === 'stdout' ? 1 : 2
  const limit = directLimit(descriptor, proc)
  let directBytes = limit
  let isClosed = false
  let openedStream: NodeJS.WriteStream | undefined
  /** Returns the stream. Its errors are reported to the writer, so the listener ignores them. */
  const stream = () => {
    openedStream ??= proc[name].on('error', () => undefined)
    return openedStream
  }
  /** Writes as many bytes as possible, and returns the rest when the reader is slow. */
  const writeNow = (bytes: Uint8Array): Uint8Array => {
    let remaining = bytes
    try {
      while (remaining.length > 0) remaining = remaining.subarray(writeSync(descriptor, remaining))
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return remaining
      if (!isClosedError(error)) throw writeError(error)
      isClosed = true
    }
    return new Uint8Array(0)
  }
  const terminal = () => (limit === 0 && proc[name].isTTY ? proc[name] : undefined)
  return {
    get terminal() {
      return terminal() !== undefined
    },
    get columns() {
      return terminal()?.columns || 80
    },
    get rows() {
      return terminal()?.rows || 24
    },
    get isClosed() {
      return isClosed
    },
    get canRedraw() {
      // A terminal without a width, as in some runners, does not support cursor movement: ora would count
      // lines endlessly.
      return Boolean(terminal()?.columns) && isInForeground(proc)
    },
    async hasLinks() {
      const stream = terminal()
      if (stream === undefined) return false
      const { createSupportsHyperlinks } = await import('supports-hyperlinks')
      return createSupportsHyperlinks(stream)
    },
    async write(text) {
      let remaining = typeof text === 'string' ? Buffer.from(text) : text
      directBytes -= remaining.length
      if (!isClosed && directBytes >= 0) remaining = writeNow(remaining)
      if (remaining.length === 0 || isClosed) return
      directBytes = -1
      await writeToStream(stream(), remaining, interrupted)
    },
  }
}

/**
 * Returns how many bytes are written directly: all to a file and to the null device, and none to a terminal. A
 * pipe, and a socket of macOS (8 KiB), gets less than it can buffer: when full it would block the whole process,
 * signals included.
 */
function directLimit(descriptor: number, { platform }: NodeJS.Process): number {
  try {
    const stat = fstatSync(descriptor)
    if (stat.isFile()) return Number.POSITIVE_INFINITY
    if (stat.isFIFO()) return 48 * 1024
    if (stat.isSocket()) return 4 * 1024
    // On Windows, devices have no numbers to compare.
    const isNullDevice = platform !== 'win32' && stat.rdev === statSync('/dev/null').rdev
    return stat.isCharacterDevice() && isNullDevice ? Number.POSITIVE_INFINITY : 0
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** The time for pending writes after a signal, in milliseconds. */
const flushTimeout = 250

/** Writes bytes to a reader that may be slow. After a signal it rejects when the reader does not read. */
const writeToStream = (
  stream: NodeJS.WriteStream,
  bytes: Uint8Array,
  interrupted: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    if (stream.destroyed) {
      resolve()
      return
    }
    let timer: NodeJS.Timeout | undefined
    const stop = () => {
      timer = setTimeout(() => reject(interrupted.reason), flushTimeout)
    }
    if (interrupted.aborted) stop()
    else interrupted.addEventListener('abort', stop, { once: true })
    stream.write(bytes, error => {
      clearTimeout(timer)
      interrupted.removeEventListener('abort', stop)
      if (error === null || error === undefined || isClosedError(error)) resolve()
      else reject(writeError(error))
    })
  })

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

const writeError = (error: unknown): MergeqError =>
  new MergeqError(
    'output',
    `Standard output could not be written: ${error instanceof Error ? error.message : error}.`,
    { hint: 'Check the output file and the free disk space.' },
  )

const isClosedError = (error: unknown): boolean =>
  ['EPIPE', 'EBADF', 'ERR_STREAM_DESTROYED'].includes(codeOf(error) ?? '')
