import { dirname } from 'node:path'
import { findProgram } from './find-program.ts'
import type { Spawned, SpawnOptions } from './host.ts'

const signalNumbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** The characters of standard error that are kept. */
const maxErrorLength = 64 * 1024

/**
 * How long standard error may stay open after a program has ended, in milliseconds: a helper that the program
 * left running, such as a shared ssh connection, may keep it.
 */
const errorGrace = 100

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

/** Returns the error of the system with which a program could not be started. */
const startErrorOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN'

/** Runs a program without a shell and resolves when it has ended or could not be started. */
export async function spawn(
  command: string,
  args: readonly string[],
  { env, ownDirectory = false, output, timeout, until, handlesInterrupt = false }: SpawnOptions,
): Promise<Spawned> {
  const { platform } = process
  const path = findProgram(command, { env, platform, allowsRelative: !ownDirectory })
  if (path === undefined) return { code: 127, out: '', err: '', notFound: true, startError: 'ENOENT' }
  const { spawn: start } = await import('node:child_process')
  const windows = platform === 'win32' ? await import('./start-command.ts') : undefined
  const { file, args: words, ...verbatim } = windows?.startCommand(path, args, env) ?? { file: path, args }
  const listenAgain = handlesInterrupt ? ignoreInterrupts() : () => undefined
  const failure = (error: unknown, out = '', err = ''): Spawned => ({
    code: 127,
    out,
    err,
    notFound: true,
    startError: startErrorOf(error),
  })
  const result = await new Promise<Spawned>(resolve => {
    const capture = output === 'capture'
    // The program gets its own process group, so that its children end with it: git leaves helpers running.
    // On a terminal the group is shared, because another group would not get its signals and input.
    const hasOwnGroup = platform !== 'win32' && (capture || (until !== undefined && !process.stdin.isTTY))
    const sendSignal = (name: NodeJS.Signals) => {
      try {
        if (child.pid === undefined) return
        if (windows === undefined) process.kill(hasOwnGroup ? -child.pid : child.pid, name)
        else if (child.exitCode === null) {
          // Windows has no process groups. What ends the program must outlive this process.
          const end = windows.endCommand(child.pid, env)
          start(end.file, [...end.args], { stdio: 'ignore', detached: true }).on('error', () => child.kill())
        }
      } catch {
        // The program has ended already.
      }
    }
    const child = start(file, [...words], {
      ...verbatim,
      env: { ...env },
      stdio: capture ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      detached: hasOwnGroup,
      ...(ownDirectory ? { cwd: dirname(path) } : {}),
    })
    const kill = () => sendSignal('SIGKILL')
    let timedOut = false
    const expire = () => {
      timedOut = true
      kill()
    }
    const timer = timeout === undefined ? undefined : setTimeout(expire, timeout)
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
    let [out, err] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', piece => {
      out += piece
    })
    child.stderr?.setEncoding('utf8').on('data', piece => {
      err = (err + piece).slice(0, maxErrorLength)
    })
    child.once('exit', () => setTimeout(() => child.stderr?.destroy(), errorGrace).unref())
    child.once('error', error => resolve(failure(error, out, err)))
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 128 + (signalNumbers[signal ?? ''] ?? 0), out, err, timedOut }),
    )
    // Node throws some errors of the system instead of reporting them, such as ENOTDIR and E2BIG.
  }).catch(failure)
  listenAgain()
  return result
}
