import { fstatSync, writeSync } from 'node:fs'
import { MergeqError } from '../errors.ts'
import { files } from './files.ts'
import type { Clock, Host, Input, Output } from './host.ts'
import { spawn } from './spawn.ts'

/** What neither a child nor a library is to see: tokens, and the switch that would turn certificate checks off. */
const takenOut = ['MERGEQ_TOKEN', 'TRUNK_API_TOKEN', 'NODE_TLS_REJECT_UNAUTHORIZED']

/** The real world, made from the process. The token is taken out of the environment that children inherit. */
export function createNodeHost(proc: NodeJS.Process, version: string, interrupted: AbortSignal): Host {
  const env = { ...proc.env }
  for (const name of takenOut) delete proc.env[name]
  return {
    argv: proc.argv.slice(2),
    env,
    cwd: workingFolder(proc),
    runtime: {
      version,
      node: proc.versions.node,
      v8: proc.versions.v8,
      platform: proc.platform,
      user: proc.getuid?.(),
    },
    clock,
    random: Math.random,
    input: inputFrom(proc, interrupted),
    out: outputTo(proc, 'stdout', interrupted),
    err: outputTo(proc, 'stderr', interrupted),
    files,
    interrupted,
    spawn,
  }
}

/** The working folder; undefined when it was removed. */
function workingFolder(proc: NodeJS.Process): string | undefined {
  try {
    return proc.cwd()
  } catch {
    return undefined
  }
}

const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}

const inputFrom = (proc: NodeJS.Process, interrupted: AbortSignal): Input => ({
  get terminal() {
    return proc.stdin.isTTY === true
  },
  async *read() {
    // A read that waits for input would keep the program alive after a signal.
    if (fstatSync(0).isDirectory()) throw new Error('it is a folder')
    const stop = () => proc.stdin.destroy(interrupted.reason)
    interrupted.addEventListener('abort', stop, { once: true })
    try {
      yield* proc.stdin
    } finally {
      interrupted.removeEventListener('abort', stop)
    }
  },
  async ask(question, hidden = false) {
    const { createInterface } = await import('node:readline/promises')
    const { Writable } = await import('node:stream')
    // What is typed is echoed by readline: nothing of it when it is hidden.
    const echo = new Writable({
      write: (piece, _, done) => (hidden ? done() : proc.stderr.write(piece, () => done())),
    })
    if (hidden) proc.stderr.write(question)
    const lines = createInterface({ input: proc.stdin, output: echo, terminal: true })
    const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
    lines.once('SIGINT', () => proc.kill(proc.pid, 'SIGINT'))
    try {
      return await Promise.race([lines.question(hidden ? '' : question, { signal: interrupted }), closed])
    } catch (error) {
      throw interrupted.aborted ? interrupted.reason : error
    } finally {
      lines.close()
      if (hidden) proc.stderr.write('\n')
    }
  },
  keys(press) {
    const { stdin } = proc
    const take = (piece: Uint8Array) => {
      for (const key of piece.toString()) {
        if (key === '\u0003') proc.kill(proc.pid, 'SIGINT')
        else press(key)
      }
    }
    // A terminal that goes away says so by a signal, too.
    stdin.on('error', () => undefined)
    stdin.setRawMode(true)
    stdin.on('data', take)
    return () => {
      stdin.off('data', take).pause()
      stdin.setRawMode(false)
    }
  },
})

/**
 * A reader that has gone is no failure: what it did not want is dropped. Anything else that cannot be written is.
 * Pipes and files are written to directly: the stream would cost more to make than all that is written to it.
 */
function outputTo(proc: NodeJS.Process, name: 'stdout' | 'stderr', interrupted: AbortSignal): Output {
  const descriptor = name === 'stdout' ? 1 : 2
  const kind = kindOf(descriptor)
  let plain = kind !== 'other'
  /** How much may still be written directly: a full pipe would hold the whole program, signals included. */
  let room = kind === 'pipe' ? pipeRoom : Number.POSITIVE_INFINITY
  let gone = false
  let opened: NodeJS.WriteStream | undefined
  /** The stream; what goes wrong with it is told to whoever writes. */
  const stream = () => {
    opened ??= proc[name].on('error', () => undefined)
    return opened
  }
  /** Writes what can be written at once; what is left when the reader is slow. */
  const writeNow = (bytes: Uint8Array): Uint8Array => {
    let rest = bytes
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return rest
      if (!isGone(error)) throw unwritable(error)
      gone = true
    }
    return new Uint8Array(0)
  }
  return {
    get terminal() {
      return !plain && proc[name].isTTY === true
    },
    get columns() {
      return (plain ? undefined : proc[name].columns) || 80
    },
    get rows() {
      return (plain ? undefined : proc[name].rows) || 24
    },
    get gone() {
      return gone
    },
    get canRedraw() {
      // A terminal of no width, as some runners have, cannot be moved about in: ora would count lines for ever.
      return !plain && proc[name].isTTY === true && Boolean(proc[name].columns)
    },
    async write(text) {
      let rest = typeof text === 'string' ? Buffer.from(text) : text
      room -= rest.length
      if (plain && !gone && room >= 0) rest = writeNow(rest)
      if (rest.length === 0 || gone) return
      plain = false
      await throughStream(stream(), rest, interrupted)
    },
  }
}

/** Less than any pipe holds that nobody has read from yet. */
const pipeRoom = 48 * 1024

function kindOf(descriptor: number): 'file' | 'pipe' | 'other' {
  try {
    const stat = fstatSync(descriptor)
    return stat.isFIFO() || stat.isSocket() ? 'pipe' : stat.isFile() ? 'file' : 'other'
  } catch {
    return 'file'
  }
}

/** After a signal, so many milliseconds are left for what is still to be handed over. */
const lastWait = 250

/** Hands bytes over to a reader who may be slow; a signal ends the waiting for one who does not read at all. */
const throughStream = (
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
      timer = setTimeout(() => reject(interrupted.reason), lastWait)
    }
    if (interrupted.aborted) stop()
    else interrupted.addEventListener('abort', stop, { once: true })
    stream.write(bytes, error => {
      clearTimeout(timer)
      interrupted.removeEventListener('abort', stop)
      if (error === null || error === undefined || isGone(error)) resolve()
      else reject(unwritable(error))
    })
  })

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

const unwritable = (error: unknown): MergeqError =>
  new MergeqError(
    'output',
    `standard output could not be written: ${error instanceof Error ? error.message : error}.`,
    { hint: 'Check the disk and the file that it goes to.' },
  )

const isGone = (error: unknown): boolean => /^(EPIPE|EBADF|ERR_STREAM_DESTROYED)$/.test(codeOf(error) ?? '')
