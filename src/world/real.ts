import { spawn as start } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { Failure } from '../failure.ts'
import { files } from './files.ts'
import type { Clock, Input, Output, Spawned, SpawnOptions, World } from './world.ts'

/** The real world, made from the process. The token is taken out of the environment that children inherit. */
export function realWorld(proc: NodeJS.Process, version: string, interrupted: AbortSignal): World {
  return {
    argv: proc.argv.slice(2),
    env: { ...proc.env },
    cwd: proc.cwd(),
    runtime: { version, node: proc.versions.node, v8: proc.versions.v8, platform: proc.platform },
    clock,
    random: Math.random,
    input: inputFrom(proc),
    out: outputTo(proc, 'stdout'),
    err: outputTo(proc, 'stderr'),
    files,
    interrupted,
    spawn,
  }
}

const clock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal === undefined ? {} : { signal }).catch(error => {
      throw signal?.aborted ? signal.reason : error
    })
  },
}

const inputFrom = (proc: NodeJS.Process): Input => ({
  get terminal() {
    return proc.stdin.isTTY === true
  },
  read: () => proc.stdin,
  async ask(question, hidden = false) {
    const { createInterface } = await import('node:readline/promises')
    const { Writable } = await import('node:stream')
    proc.stderr.write(question)
    // What is typed is echoed by readline: nothing of it when it is hidden.
    const echo = new Writable({
      write: (piece, _, done) => (hidden ? done() : proc.stderr.write(piece, () => done())),
    })
    const lines = createInterface({ input: proc.stdin, output: echo, terminal: true })
    const closed = new Promise<undefined>(resolve => lines.once('close', () => resolve(undefined)))
    lines.once('SIGINT', () => proc.kill(proc.pid, 'SIGINT'))
    try {
      return await Promise.race([lines.question(''), closed])
    } finally {
      lines.close()
      if (hidden) proc.stderr.write('\n')
    }
  },
})

/** A reader that has gone is no failure: what it did not want is dropped. Anything else that cannot be written is. */
const outputTo = (proc: NodeJS.Process, name: 'stdout' | 'stderr'): Output => ({
  get terminal() {
    return proc[name].isTTY === true
  },
  get columns() {
    return proc[name].columns || 80
  },
  write: text =>
    new Promise((resolve, reject) => {
      const stream = proc[name]
      if (stream.destroyed || text.length === 0) {
        resolve()
        return
      }
      stream.write(text, error => {
        if (error === null || error === undefined || isGone(error)) resolve()
        else reject(new Failure('output', `standard output could not be written: ${error.message}`))
      })
    }),
})

const isGone = (error: NodeJS.ErrnoException): boolean =>
  error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'

const signalNumbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

const spawn = (
  command: string,
  args: readonly string[],
  { env, cwd, output, timeout }: SpawnOptions,
): Promise<Spawned> =>
  new Promise(resolve => {
    const child = start(command, [...args], {
      env: { ...env },
      stdio: output === 'inherit' ? 'inherit' : ['ignore', 'pipe', 'ignore'],
      ...(cwd === undefined ? {} : { cwd }),
      ...(timeout === undefined ? {} : { timeout, killSignal: 'SIGKILL' as const }),
    })
    let out = ''
    child.stdout?.setEncoding('utf8').on('data', piece => {
      out += piece
    })
    child.once('error', () => resolve({ code: 127, out }))
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 128 + (signalNumbers[signal ?? ''] ?? 0), out }),
    )
  })
