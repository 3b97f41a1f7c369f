import { runProgram } from './cli/program.ts'
import { MergeqError } from './errors.ts'
import { createNodeHost } from './host/node-host.ts'

declare const MERGEQ_VERSION: string

const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** Runs the command line of this process and sets its exit code. */
export async function main(): Promise<void> {
  const stop = new AbortController()
  for (const [signal, exit] of Object.entries(signals))
    process.once(signal, () => stop.abort(new MergeqError('interrupted', `stopped by ${signal}.`, { exit })))
  // A file over the limit of the process (`ulimit -f`) fails with EFBIG instead. Without a listener here, the one that
  // proper-lockfile brings (signal-exit) would end the program. Where there is no such signal, nothing calls it.
  process.on('SIGXFSZ', () => undefined)
  process.exitCode = await runProgram(createNodeHost(process, MERGEQ_VERSION, stop.signal))
  // What is still to be handed to a reader who does not read would hold the program for ever.
  if (stop.signal.aborted) process.exit()
}
