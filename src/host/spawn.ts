import type { Spawned, SpawnOptions } from './host.ts'

const signalNumbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** Runs a program without a shell and resolves when it has ended or could not be started. */
export async function spawn(
  command: string,
  args: readonly string[],
  { env, cwd, output, timeout, until }: SpawnOptions,
): Promise<Spawned> {
  const { spawn: start } = await import('node:child_process')
  return new Promise(resolve => {
    const capture = output === 'capture'
    // The program gets its own process group, so that its children end with it: git leaves helpers running.
    // On a terminal the group is shared, because another group would not get its signals and input.
    const hasOwnGroup =
      process.platform !== 'win32' && (capture || (until !== undefined && !process.stdin.isTTY))
    const sendSignal = (name: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined) process.kill(hasOwnGroup ? -child.pid : child.pid, name)
      } catch {
        // The program has ended already.
      }
    }
    const child = start(command, [...args], {
      env: { ...env },
      stdio: capture ? ['ignore', 'pipe', 'ignore'] : 'inherit',
      detached: hasOwnGroup,
      ...(cwd === undefined ? {} : { cwd }),
    })
    const kill = () => sendSignal('SIGKILL')
    const timer = timeout === undefined ? undefined : setTimeout(kill, timeout)
    if (capture) process.once('exit', kill)
    // A terminal sends the signal to the program too, so it gets time to handle the signal first.
    const stop = () => {
      setTimeout(() => sendSignal('SIGTERM'), hasOwnGroup ? 0 : 300).unref()
      setTimeout(kill, 700).unref()
    }
    until?.addEventListener('abort', stop, { once: true })
    child.once('close', () => {
      clearTimeout(timer)
      process.off('exit', kill)
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
