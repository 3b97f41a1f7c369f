import { type Operation, operationMethod, type Route } from '../api/operation.ts'
import type { ParsedArgs } from '../config/args.ts'
import type { Host } from '../host/host.ts'
import type { CommandDefinition, CommandDescription, CommandRunner, OperationCommand } from './command.ts'
import type { SecretOutput } from './context.ts'
import type { Inputs, OptionDefinition } from './inputs.ts'
import { setOption } from './read-overrides.ts'

export interface DocumentedCommand
  extends CommandDescription,
    Pick<CommandDefinition, 'toleratesErrors' | 'propagatesExitCode' | 'output'> {
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

export type CommandModule = OperationCommand | CommandDefinition | DocumentationCommand

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

const definitionsOf = (inputs: Inputs): readonly OptionDefinition[] =>
  Object.values(inputs).flatMap(({ definitions }) => definitions)

const setOptionOf = ({ route }: Operation): readonly OptionDefinition[] =>
  operationMethod(route) === 'POST' ? setOption.definitions : []

/** The summary of a command; it says so where only the hosted service has its operation. */
const summaryOf = (summary: string, operation: Operation | undefined): string =>
  operation?.isHostedOnly === true ? `${summary} (hosted service only)` : summary

const describeOperationCommand = (command: OperationCommand): DocumentedCommand => ({
  ...command,
  summary: summaryOf(command.summary, command.operation),
  definitions: [...definitionsOf(command.inputs), ...setOptionOf(command.operation)],
  operations: [command.operation],
  route: command.operation.route,
})

const describeCustomCommand = (command: CommandDefinition): DocumentedCommand => {
  const { operation, operations = [], request, inputs } = command
  return {
    ...command,
    definitions: [
      ...definitionsOf(request?.inputs ?? {}),
      ...definitionsOf(inputs),
      ...(request === undefined ? [] : setOptionOf(request.operation)),
    ],
    operations:
      operations === 'any' ? 'any' : [...(request === undefined ? [] : [request.operation]), ...operations],
    ...(operation === undefined ? {} : { route: operation.route }),
  }
}

const register = (command: CommandModule): RegisteredCommand =>
  'documentation' in command
    ? command
    : {
        ...('run' in command ? describeCustomCommand(command) : describeOperationCommand(command)),
        run: async (...call) => (await import('./run-command.ts')).runCommand(command, ...call),
      }
