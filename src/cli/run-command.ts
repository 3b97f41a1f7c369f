import type { ParsedArgs } from '../config/args.ts'
import type { ResolveOptions } from '../config/config.ts'
import type { Host } from '../host/host.ts'
import type { CommandDefinition, CommandRunner, OperationCommand } from './command.ts'
import { type CommandContext, createContext, type SecretOutput } from './context.ts'
import type { RequestDefinition } from './invocation.ts'
import { runOperation, runWithPrelude } from './prelude.ts'

/**
 * Runs a command and returns its exit code. Rejects with the error that ended the command.
 *
 * @param runner runs further command lines in this process
 */
export const runCommand = (
  command: OperationCommand | CommandDefinition,
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  runner: CommandRunner,
): Promise<number> =>
  'run' in command
    ? withContext(args, host, secrets, purposeOf(command.request, command.changesSettings), context =>
        runWithPrelude(command, context, runner),
      )
    : withContext(args, host, secrets, purposeOf(command), context => runOperation(command, context))

const purposeOf = (request: RequestDefinition | undefined, changesSettings = false) => ({
  changes: request !== undefined && request.operation.effect !== false,
  changesSettings,
})

async function withContext(
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  purpose: Omit<ResolveOptions, 'notify'>,
  work: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const context = await createContext(args, host, secrets, purpose)
  try {
    return await work(context)
  } finally {
    await context.close()
  }
}
