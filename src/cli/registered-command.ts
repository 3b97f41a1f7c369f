import { type Operation, operationMethod, type Route } from '../api/operation.ts'
import type { ParsedArgs } from '../config/settings.ts'
import type { Host } from '../host/host.ts'
import type { Command, CommandDescription, CommandRunner } from './command.ts'
import type { SecretOutput } from './context.ts'
import type { OptionDefinition } from './inputs.ts'
import { requestInputs, setOption } from './request-inputs.ts'

export interface DocumentedCommand extends CommandDescription {
  readonly definitions: readonly OptionDefinition[]
  readonly operations: readonly Operation[] | 'any'
  readonly route?: Route
}

export interface RunnableCommand extends DocumentedCommand {
  /**
   * Runs the command and returns its exit code. Rejects with the error that ended the command.
   *
   * @param runner runs further command lines in this process
   */
  run(args: ParsedArgs, host: Host, secrets: SecretOutput, runner: CommandRunner): Promise<number>
}

/** A command that prints documentation about all commands. The program renders it with `cli/help`. */
export interface DocumentationCommand extends DocumentedCommand {
  readonly documentation: 'help' | 'completion'
}

export type RegisteredCommand = RunnableCommand | DocumentationCommand

export type CommandModule = Command | DocumentationCommand

/** The commands that share their first word. Their code is loaded when a command line has this word. */
export interface CommandGroup {
  /** The first word of the commands: `pr`, or `doctor`. */
  readonly name: string
  readonly summary: string
  /** Whether the word alone is a command: `mergeq doctor`. Otherwise, the word alone prints help. */
  readonly isCommand?: boolean
  /** Loads the commands, in the order in which help lists them. */
  load(): Promise<readonly CommandModule[]>
}

export const loadCommands = async (groups: readonly CommandGroup[]): Promise<readonly RegisteredCommand[]> =>
  (await Promise.all(groups.map(group => group.load()))).flat().map(register)

/** `--set`, for a command that sends a body. */
const setOptionOf = (operation: Operation | undefined): readonly OptionDefinition[] =>
  operation !== undefined && operationMethod(operation.route) === 'POST' ? setOption.definitions : []

/** The summary of a command; it says so where only the hosted service has its operation. */
const summaryOf = ({ summary, operation, isComposition }: Command): string =>
  operation?.isHostedOnly === true && isComposition !== true ? `${summary} (hosted service only)` : summary

function register(command: CommandModule): RegisteredCommand {
  if ('documentation' in command) return command
  const { operation, operations = [], isComposition } = command
  return {
    ...command,
    summary: summaryOf(command),
    definitions: [
      ...Object.values(requestInputs(command)).flatMap(({ definitions }) => definitions),
      ...setOptionOf(operation),
    ],
    operations:
      operations === 'any' ? 'any' : [...(operation === undefined ? [] : [operation]), ...operations],
    ...(operation === undefined || isComposition === true ? {} : { route: operation.route }),
    run: async (...call) => (await import('./run-command.ts')).runCommand(command, ...call),
  }
}
