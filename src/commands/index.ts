import { type CommandDescription, type Operation, operationMethod } from '../api/operation.ts'
import { operationCommands } from '../api/operations/index.ts'
import type { CommandDefinition, CommandRunner } from '../cli/command.ts'
import { type CommandContext, createContext, type SecretOutput } from '../cli/context.ts'
import type { OptionDefinition } from '../cli/inputs.ts'
import { readInputs } from '../cli/invocation.ts'
import { runOperation } from '../cli/run-operation.ts'
import type { ParsedArgs } from '../config/args.ts'
import { createParseContext, type ResolveOptions } from '../config/config.ts'
import type { Host } from '../host/host.ts'
import { customCommands } from './custom-commands.ts'

const setOption: OptionDefinition = {
  syntax: '--set <path=value>',
  summary: 'Add a field to the body: JSON or text, dots make nesting (repeatable)',
  variadic: true,
}

/** One leaf of the tree: what is typed for it, and what it does. */
export interface RegisteredCommand
  extends CommandDescription,
    Pick<CommandDefinition, 'toleratesErrors' | 'propagatesExitCode' | 'output'> {
  readonly words: readonly OptionDefinition[]
  /** What it sends: an operation's one, a hand-written command's in the order of its work. */
  readonly operations: readonly Operation[] | 'any'
  run(args: ParsedArgs, host: Host, secrets: SecretOutput, runner: CommandRunner): Promise<number>
}

const wordsOf = ({ inputs }: CommandDescription): readonly OptionDefinition[] =>
  Object.values(inputs).flatMap(({ definitions }) => definitions)

const sends = ({ route }: Operation): readonly OptionDefinition[] =>
  operationMethod(route) === 'POST' ? [setOption] : []

const operationCommand = (row: Operation): RegisteredCommand => ({
  ...row,
  words: [...wordsOf(row), ...sends(row)],
  operations: [row],
  run: (args, host, secrets) =>
    withContext(args, host, secrets, { changes: row.effect !== false, changesSettings: false }, context =>
      runOperation(row, context),
    ),
})

const customCommand = (command: CommandDefinition): RegisteredCommand => ({
  ...command,
  words: [
    ...(command.operation === undefined ? [] : wordsOf(command.operation)),
    ...wordsOf(command),
    ...(command.operation === undefined ? [] : sends(command.operation)),
  ],
  operations:
    command.operations === 'any'
      ? 'any'
      : [...(command.operation ? [command.operation] : []), ...(command.operations ?? [])],
  run: (args, host, secrets, runner) =>
    withContext(args, host, secrets, purposeOf(command), async context =>
      command.run(
        await readInputs(command.inputs, args, createParseContext(context.settings, context)),
        context,
        runner,
      ),
    ),
})

const purposeOf = ({ operation, changesSettings = false }: CommandDefinition) => ({
  changes: (operation?.effect ?? false) !== false,
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

const firstWord = ({ command }: CommandDescription): string => command.split(' ')[0] ?? ''

/** Every command, group by group: the rows, and those written by hand, which take a row's place where they bear its name. */
export const allCommands: readonly RegisteredCommand[] = groupedCommands([
  ...operationCommands.map(row => {
    const instead = customCommands.find(({ command }) => command === row.command)
    return instead === undefined ? operationCommand(row) : customCommand(instead)
  }),
  ...customCommands
    .filter(({ command }) => operationCommands.every(row => row.command !== command))
    .map(customCommand),
])

function groupedCommands(all: readonly RegisteredCommand[]): readonly RegisteredCommand[] {
  const groupsInOrder = [...new Set(all.map(firstWord))]
  return groupsInOrder.flatMap(group => all.filter(leaf => firstWord(leaf) === group))
}
