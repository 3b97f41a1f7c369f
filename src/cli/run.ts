import { requireWritable } from '../api/service-client.ts'
import type { ParsedArgs } from '../config/settings.ts'
import type { RegisteredCommand } from '../run/command.ts'
import { inputContext, readInputs } from '../run/requests.ts'
import { createContext, type Program, sendsChange } from './context.ts'

/** Runs a command and returns its exit code. Rejects with the error that ended the command. */
export async function runCommand(
  command: RegisteredCommand,
  args: ParsedArgs,
  program: Program,
): Promise<number> {
  const cli = await createContext(command, args, program)
  try {
    // A change is refused before the command reads anything or asks.
    if (sendsChange(command) && !cli.options.dryRun) await requireWritable(cli.client())
    const values = await readInputs(command.inputs, args, inputContext(cli))
    return await command.run(values, cli)
  } finally {
    // Closing takes 1.5 ms, and the end of the process closes the connections, too.
    setImmediate(cli.close)
  }
}
