import { setMaxListeners } from 'node:events'
import { MergeqError, signalExitCodes } from '../errors.ts'

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
