import type { ParsedArgs } from '../config/args.ts'
import { createParseContext, type ResolveOptions } from '../config/config.ts'
import type { Host } from '../host/host.ts'
import type { CommandDefinition, CommandRunner, OperationCommand, RequestDefinition } from './command.ts'
import { type CommandContext, createContext, type SecretOutput } from './context.ts'
import { readInputs } from './invocation.ts'
import { runOperation } from './run-operation.ts'

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
    ? withContext(args, host, secrets, purposeOf(command.request, command.changesSettings), async context =>
        command.run(
          await readInputs(command.inputs, args, createParseContext(context.settings, context)),
          context,
          runner,
        ),
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
