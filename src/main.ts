import { MergeqError, signalExitCodes } from './base/errors.ts'
import { runMergeq } from './cli/program.ts'
import { commandGroups } from './commands/index.ts'
import { createInterruption, createNodeHost } from './host/node-host.ts'

declare const MERGEQ_VERSION: string

/** Runs the command line of this process and sets the exit code of the process. */
export async function main(): Promise<void> {
  const interrupted = interruptionOf(process)
  // With this listener, a write beyond the file size limit (`ulimit -f`) fails with EFBIG. Otherwise, the
  // listener of proper-lockfile (signal-exit) would end the program.
  process.on('SIGXFSZ', () => undefined)
  const host = {
    ...createNodeHost(process, MERGEQ_VERSION, interrupted),
    beforeRequests: limitWebAssemblyCompilation,
  }
  process.exitCode = await runMergeq(host, commandGroups)
  // All output was awaited. What is left would keep the process alive: connections, DNS lookups after their time
  // limit, and, after a signal, output that nobody reads.
  process.exit()
}

/** The signal of Ctrl-Break, which only Windows has. */
const controlBreak = { signal: 'SIGBREAK', code: 149 } as const

/**
 * Returns a signal that is aborted by the first SIGHUP, SIGINT, SIGTERM or Ctrl-Break of a process. Its
 * reason is a MergeqError with the exit code. A second one, of any kind, ends the process. Under nohup, SIGHUP is ignored.
 *
 * The listeners stay: where a library listens, too, it would send the first signal again if no other listener were left
 * (signal-exit does so, for execa while a child runs and for proper-lockfile while a file is locked).
 */
export function interruptionOf(proc: Pick<NodeJS.Process, 'env' | 'exit' | 'on'>): AbortSignal {
  const interruption = createInterruption()
  // Node.js resets the signals that its parent ignores before any script runs. What is left of nohup is its name,
  // which bash and zsh put into the environment.
  const isNohup = /(?:^|\/)nohup$/.test(proc.env._ ?? '')
  if (isNohup) proc.on('SIGHUP', () => undefined)
  const signals = signalExitCodes.filter(({ signal }) => !(isNohup && signal === 'SIGHUP'))
  for (const { signal, code: exit } of [...signals, controlBreak])
    proc.on(signal, () => {
      if (interruption.signal.aborted) proc.exit(exit)
      interruption.abort(new MergeqError('interrupted', `stopped by ${signal}.`, { exit }))
    })
  return interruption.signal
}

/**
 * Keeps V8 11 (Node 20) from compiling WebAssembly in the background, which would keep the process alive for
 * 65 to 95 ms after the response. The parser of undici is WebAssembly, and small enough to need none. Only the
 * command line does this: a library must not change the V8 flags of its host.
 */
async function limitWebAssemblyCompilation(): Promise<void> {
  if (!process.versions.v8.startsWith('11.')) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  setFlagsFromString('--wasm-tiering-budget=100000000')
  // The code cache is saved at the end, and V8 rejects code that was cached under other flags.
  process.prependOnceListener('exit', () => setFlagsFromString('--wasm-tiering-budget=1800000'))
}
