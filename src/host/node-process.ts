import { setMaxListeners } from 'node:events'
import { MergeqError, signalExitCodes } from '../errors.ts'
import type { Environment } from './host.ts'

/** The signal of Ctrl-Break, which only Windows has. */
const controlBreak = { signal: 'SIGBREAK', code: 149 } as const

/** Returns a controller for `Host.interrupted`: any number of requests may listen to its signal. */
export function createInterruption(): AbortController {
  const interruption = new AbortController()
  // From the 11th listener on, Node would print a warning.
  setMaxListeners(0, interruption.signal)
  return interruption
}

/**
 * Returns a signal that is aborted by the first SIGHUP, SIGINT, SIGTERM or Ctrl-Break of a process. Its
 * reason is a MergeqError with the exit code. A second one ends the process, as it does by default.
 */
export function interruptionOf(proc: Pick<NodeJS.Process, 'once'>): AbortSignal {
  const interruption = createInterruption()
  for (const { signal, code: exit } of [...signalExitCodes, controlBreak])
    proc.once(signal, () =>
      interruption.abort(new MergeqError('interrupted', `stopped by ${signal}.`, { exit })),
    )
  return interruption.signal
}

/**
 * Handles a Ctrl-C that arrives as a character as the signal is handled. No signal is sent: on Windows it
 * would end the process at once.
 */
export function interrupt(proc: Pick<NodeJS.Process, 'emit' | 'exit'>): void {
  if (!proc.emit('SIGINT', 'SIGINT')) proc.exit(130)
}

/**
 * Returns environment variables as Windows reads them: their names are the same in upper and lower case. A
 * list of the variables has the names as they were written.
 */
export const windowsEnvironment = (env: Environment): Environment =>
  new Proxy(env, {
    get(variables, name) {
      if (typeof name !== 'string' || variables[name] !== undefined) return Reflect.get(variables, name)
      const upperCase = name.toUpperCase()
      const written = Object.keys(variables).find(key => key.toUpperCase() === upperCase)
      return written === undefined ? undefined : variables[written]
    },
  })

/**
 * Keeps V8 11 (Node 20) from compiling WebAssembly in the background, which would keep the process alive for
 * 65 to 95 ms after the response. The parser of undici is WebAssembly, and small enough to need none. Only the
 * command line does this: a library must not change the V8 flags of its host.
 */
export async function limitWebAssemblyCompilation(): Promise<void> {
  if (!process.versions.v8.startsWith('11.')) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  setFlagsFromString('--wasm-tiering-budget=100000000')
  // The code cache is saved at the end, and V8 rejects code that was cached under other flags.
  process.prependOnceListener('exit', () => setFlagsFromString('--wasm-tiering-budget=1800000'))
}
