import type { ParsedArgs } from '../config/args.ts'
import { createParseContext } from '../config/config.ts'
import { isMergeqError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { CommandDefinition, CommandRunner, OperationCommand, OperationRequest } from './command.ts'
import { type CommandContext, type CommandPurpose, createContext, type SecretOutput } from './context.ts'
import type { RecordFields } from './fields/record-fields.ts'
import { type RequestDefinition, readInputs, readInvocations } from './invocation.ts'
import { printDryRun } from './preview.ts'
import { confirm } from './prompt.ts'
import { runInvocations } from './run-invocations.ts'

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
): Promise<number> => {
  const fields = typeof command.fields === 'function' ? command.fields(args) : command.fields
  const [request, changesSettings] =
    'run' in command ? [command.request, command.changesSettings] : [command, false]
  return withContext(args, host, secrets, purposeOf(request, changesSettings, fields), async context =>
    'run' in command ? runCustomCommand(command, context, runner) : runOperationCommand(command, context),
  )
}

const purposeOf = (
  request: RequestDefinition | undefined,
  changesSettings = false,
  fields?: RecordFields,
): CommandPurpose => ({
  changes: request !== undefined && request.operation.effect !== false,
  changesSettings,
  fields,
})

async function withContext(
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  purpose: CommandPurpose,
  work: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const context = await createContext(args, host, secrets, purpose)
  try {
    return await work(context)
  } catch (error) {
    if (!isMergeqError(error) || error.kind !== 'unavailable') throw error
    throw await (await import('./explain-outage.ts')).explainOutage(error, context)
  } finally {
    await context.close()
  }
}

/**
 * Runs a command that is one operation: reads its requests from what was typed or from other `args`, sends
 * them and prints the responses. Returns the exit code.
 */
export async function runOperationCommand(
  command: OperationRequest,
  context: CommandContext,
  args: ParsedArgs = context.args,
): Promise<number> {
  const invocations = await readInvocations(command, context, args)
  if (context.options.dryRun) return printDryRun(command.operation, invocations, context)
  const runs = invocations.map(({ values }) => values)
  await confirm(command.command, command.confirm?.(runs), context)
  return runInvocations(command, invocations, context)
}

/**
 * Runs a command with its own logic: reads its inputs and requests, prints the requests instead if --dry-run
 * is set, asks for confirmation, and calls `run`. Returns the exit code.
 */
async function runCustomCommand(
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
