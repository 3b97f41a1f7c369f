import type { ParsedArgs } from '../config/args.ts'
import { createParseContext } from '../config/config.ts'
import type { CommandDefinition, CommandRunner, OperationCommand } from './command.ts'
import type { CommandContext } from './context.ts'
import { readInputs, readInvocations } from './invocation.ts'
import { printDryRun } from './preview.ts'
import { confirm } from './prompt.ts'
import { runForEach } from './run-operation.ts'

/**
 * Runs a command: reads its inputs and requests, honours --dry-run, asks for confirmation, and calls `run`.
 * Returns the exit code.
 */
export async function runWithPrelude(
  command: CommandDefinition,
  context: CommandContext,
  runner: CommandRunner,
): Promise<number> {
  const { request } = command
  const values = await readInputs(command.inputs, context.args, createParseContext(context.settings, context))
  command.validate?.(values, context)
  const invocations =
    request === undefined || command.readsRequests ? [] : await readInvocations(request, context)
  if (context.options.dryRun) {
    if (command.dryRun !== undefined) return command.dryRun(values, context, invocations)
    if (request !== undefined) return printDryRun(request.operation, invocations, context)
  }
  const runs = invocations.map(invocation => invocation.values)
  await confirm(command.command, await command.confirm?.(runs, values, context), context)
  return command.run(values, context, invocations, runner)
}

/**
 * Runs a command that is one operation: reads its requests from what was typed or from other `args`, sends
 * them and prints the responses. Returns the exit code.
 */
export async function runOperation(
  command: OperationCommand,
  context: CommandContext,
  args: ParsedArgs = context.args,
): Promise<number> {
  const invocations = await readInvocations(command, context, args)
  if (context.options.dryRun) return printDryRun(command.operation, invocations, context)
  const runs = invocations.map(({ values }) => values)
  await confirm(command.command, command.confirm?.(runs), context)
  return runForEach(command, invocations, context)
}
