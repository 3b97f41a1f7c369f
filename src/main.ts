import { runProgram } from './cli/program.ts'
import { commandGroups } from './commands/index.ts'
import { createNodeHost } from './host/node-host.ts'
import { interruptionOf, limitWebAssemblyCompilation } from './host/node-process.ts'

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
  process.exitCode = await runProgram(host, commandGroups)
  // A reader that stopped reading leaves output pending, which would keep the process alive. So would a DNS
  // lookup after its time limit: the shell waits for the end of a completion.
  if (interrupted.aborted || host.argv[0] === '__complete') process.exit()
}
