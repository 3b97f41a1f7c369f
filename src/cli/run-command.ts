import { isChange, type Params } from '../api/operation.ts'
import { createParseContext, type ParsedArgs } from '../config/settings.ts'
import { isMergeqError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { Command, CommandRunner } from './command.ts'
import { confirm, printDryRun } from './confirm.ts'
import { type CommandContext, createContext, type SecretOutput } from './context.ts'
import { fieldsOf } from './fields.ts'
import type { Inputs } from './inputs.ts'
import { readInputs, readRequests } from './requests.ts'
import { executeAll, explainOutage, runRequests } from './run-requests.ts'

/**
 * Runs a command and returns its exit code. Rejects with the error that ended the command.
 *
 * @param runCommandLine runs further command lines in this process
 */
export async function runCommand(
  command: Command,
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  runCommandLine: CommandRunner,
): Promise<number> {
  const { operation, changesSettings = false } = command
  const purpose = { changes: operation !== undefined && isChange(operation), changesSettings }
  const context = await createContext(args, host, secrets, purpose, fieldsOf(command, args))
  try {
    if (command.run === undefined) return await runOperation(command, context)
    const values = await readInputs(
      command.options ?? {},
      args,
      createParseContext(context.settings, context),
    )
    const requests = () => readRequests(command, context, args, values)
    return await command.run(values, {
      ...context,
      requests,
      async request() {
        const [request] = await requests()
        if (request === undefined) throw new Error(`mergeq ${command.command} has no request`)
        return request
      },
      send: (requests, options) => runRequests(command, requests, context, options),
      execute: (requests, options) => executeAll(command, requests, context, options),
      runCommandLine,
    })
  } catch (error) {
    if (!isMergeqError(error) || error.kind !== 'unavailable') throw error
    throw await explainOutage(error, context)
  } finally {
    await context.close()
  }
}

/**
 * Runs the operation of a command: reads its requests from what was typed or from other `args`, asks for
 * confirmation where that is necessary, sends the requests and prints the responses. Returns the exit code.
 */
export async function runOperation<P extends Params, I extends Inputs, X extends Inputs>(
  command: Command<P, I, X>,
  context: CommandContext,
  args: ParsedArgs = context.args,
): Promise<number> {
  const requests = await readRequests(command, context, args)
  if (context.options.dryRun && command.operation !== undefined)
    return printDryRun(command.operation, requests, context)
  await confirm(command.command, command.confirm?.(requests.map(({ values }) => values)), context)
  return runRequests(command, requests, context)
}
