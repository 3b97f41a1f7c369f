import type { Spawned, SpawnOptions } from './host.ts'

const signalNumbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** Runs a program without a shell, as its options say. */
export async function spawn(
  command: string,
  args: readonly string[],
  { env, cwd, output, timeout, until }: SpawnOptions,
): Promise<Spawned> {
  const { spawn: start } = await import('node:child_process')
  return new Promise(resolve => {
    const capture = output === 'capture'
    // In a group of its own, so that what it started ends with it: git leaves its helpers behind. Not at a terminal, whose
    // signals and input would no longer reach it.
    const isGroup = process.platform !== 'win32' && (capture || (until !== undefined && !process.stdin.isTTY))
    const signal = (name: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined) process.kill(isGroup ? -child.pid : child.pid, name)
      } catch {
        // It has ended by itself.
      }
    }
    const child = start(command, [...args], {
      env: { ...env },
      stdio: capture ? ['ignore', 'pipe', 'ignore'] : 'inherit',
      detached: isGroup,
      ...(cwd === undefined ? {} : { cwd }),
    })
    const end = () => signal('SIGKILL')
    const timer = timeout === undefined ? undefined : setTimeout(end, timeout)
    if (capture) process.once('exit', end)
    // From a terminal the signal came to both: who handles it needs no second one.
    const stop = () => {
      setTimeout(() => signal('SIGTERM'), isGroup ? 0 : 300).unref()
      setTimeout(end, 700).unref()
    }
    until?.addEventListener('abort', stop, { once: true })
    child.once('close', () => {
      clearTimeout(timer)
      process.off('exit', end)
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
}
