import { fstatSync } from 'node:fs'
import type { StandardInput } from './host.ts'
import type { Terminal } from './terminal.ts'

/** Matches a key: the sequence of a terminal, such as `ESC [ A` for the up arrow, or a character. */
const keys = /\u001B(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])|./gsu

/** Creates the standard input of a process. */
export const createInput = (
  proc: NodeJS.Process,
  terminal: Terminal,
  interrupted: AbortSignal,
): StandardInput => ({
  get terminal() {
    return proc.stdin.isTTY === true
  },
  async *read() {
    // A pending read would keep the process alive after a signal.
    if (fstatSync(0).isDirectory()) throw new Error('it is a directory')
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
    // readline echoes what the user types; a hidden line has no echo.
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
      for (const [key] of piece.toString().matchAll(keys)) {
        // In raw mode the terminal sends no signals: Ctrl-C and Ctrl-Z arrive as characters.
        if (key === '\u0003') proc.kill(proc.pid, 'SIGINT')
        else if (key === '\u001A') terminal.suspend()
        else press(key)
      }
    }
    // A terminal that is closed also sends a signal.
    stdin.on('error', () => undefined)
    stdin.setRawMode(true)
    stdin.on('data', take)
    const unwatch = terminal.watch({
      suspend: async () => void stdin.setRawMode(false),
      resume: () => void stdin.setRawMode(true),
    })
    return () => {
      unwatch()
      stdin.off('data', take).pause()
      stdin.setRawMode(false)
    }
  },
})
