import { isChange, type Operation, operationMethod, type Route } from '../api/operation.ts'
import type { ErrorKind } from '../errors.ts'
import type { Cli } from './cli.ts'
import { type CommandDescription, type OldCommand, type OutputDoc, requestInputs } from './define-command.ts'
import type { FieldsDefinition } from './fields.ts'
import { type OptionDefinition, type Options, type OptionValues, optionInputs } from './inputs.ts'
import { setOption } from './requests.ts'

/** A command: what help, completion and the parser need, and the function that runs it. */
export interface Command<X extends Options = Options> {
  /** The command as it is typed: `pr submit`. */
  readonly name: string
  readonly alias?: string
  readonly summary: string
  /** Command lines that work. A line that exits with another code than 0 ends with `# exits with 8 if ...`. */
  readonly examples: readonly string[]
  /** The operation of the requests that are typed, if the command does nothing else than its operation. */
  readonly operation?: Operation
  /** Further operations that it sends, in the order of its work; `any` is an operation that the user names. */
  readonly alsoSends?: readonly Operation[] | 'any'
  /** The options and arguments, in the order of help. */
  readonly options?: X
  /** What `--fields` can select; by default the fields of receipts, for a change. */
  readonly fields?: FieldsDefinition
  /** The kinds of exit code in addition to those of every command and of its operations. */
  readonly exits?: readonly ErrorKind[]
  /** What it prints, if that is not what its operation returns. */
  readonly prints?: OutputDoc
  /** Whether it destroys something: a misspelt command is never corrected to it. */
  readonly destructive?: boolean
  /** Whether a failed request is a part of the result instead of the end of the command. */
  readonly toleratesErrors?: boolean
  /** Whether it ends with the exit code of a program that it runs. */
  readonly propagatesExitCode?: boolean
  /**
   * What it does with the settings, other than to use them: a command that changes them does not read them first, and
   * wrong ones must not keep a command from running for which only options count.
   */
  readonly settings?: 'changed' | 'not needed'
  /** Runs the command, and returns its exit code. `values` are those of `options`. */
  run(values: OptionValues<X>, cli: Cli): Promise<number>
}

/** Defines a command; the values of `run` are typed from its options. */
export const command = <const X extends Options = Record<never, never>>(definition: Command<X>): Command =>
  definition as unknown as Command

/** A command of either kind. */
export type AnyCommand = Command | OldCommand

/** A command as help, completion and the parser need it. */
export interface RegisteredCommand extends CommandDescription {
  readonly definitions: readonly OptionDefinition[]
  readonly operations: readonly Operation[] | 'any'
  readonly route?: Route
  /** What runs. */
  readonly definition: AnyCommand
}

/** The commands that share their first word. Their code is loaded when a command line has this word. */
export interface CommandGroup {
  /** The first word of the commands: `pr`, or `doctor`. */
  readonly name: string
  readonly summary: string
  /** Whether the word alone is a command: `mergeq doctor`. Otherwise, the word alone prints help. */
  readonly isCommand?: boolean
  /** Loads the commands, in the order in which help lists them. */
  load(): Promise<readonly AnyCommand[]>
}

export const loadCommands = async (groups: readonly CommandGroup[]): Promise<readonly RegisteredCommand[]> =>
  (await Promise.all(groups.map(group => group.load())))
    .flat()
    .map(definition => ('name' in definition ? register(definition) : registerOld(definition)))

function register(definition: Command): RegisteredCommand {
  const { name, operation, alsoSends = [], options = {}, exits = [], prints, ...rest } = definition
  let definitions: readonly OptionDefinition[] | undefined
  return {
    ...rest,
    command: name,
    summary: summaryOf(definition),
    exitKinds: exits,
    ...(prints === undefined ? {} : { output: prints }),
    // Made when they are asked for: most runs need them of one command.
    get definitions() {
      definitions ??= lastSet(Object.values(optionInputs(options)).flatMap(each => each.definitions))
      return definitions
    },
    operations: alsoSends === 'any' ? 'any' : [...(operation === undefined ? [] : [operation]), ...alsoSends],
    ...(operation === undefined ? {} : { route: operation.route }),
    definition,
  }
}

const summaryOf = ({ summary, operation }: Pick<Command, 'summary' | 'operation'>): string =>
  operation?.isHostedOnly === true ? `${summary} (hosted service only)` : summary

/** Help lists `--set` behind the options that a command has of its own. */
function lastSet(definitions: readonly OptionDefinition[]): readonly OptionDefinition[] {
  const isSet = ({ name }: OptionDefinition) => name === '--set'
  return [...definitions.filter(each => !isSet(each)), ...definitions.filter(isSet)]
}

function registerOld(command: OldCommand): RegisteredCommand {
  const { summary, operation, operations = [], isComposition } = command
  const isOwn = operation !== undefined && isComposition !== true
  const sendsBody = operation !== undefined && operationMethod(operation.route) === 'POST'
  let definitions: readonly OptionDefinition[] | undefined
  return {
    ...command,
    summary: isOwn && operation.isHostedOnly === true ? `${summary} (hosted service only)` : summary,
    // Made when they are asked for: most runs need them of one command.
    get definitions() {
      definitions ??= [
        ...Object.values(requestInputs(command)).flatMap(each => each.definitions),
        ...(sendsBody
          ? setOption.definitions.map(each => ({ ...each, advanced: !isChange(operation) }))
          : []),
      ]
      return definitions
    },
    operations:
      operations === 'any' ? 'any' : [...(operation === undefined ? [] : [operation]), ...operations],
    ...(isOwn ? { route: operation.route } : {}),
    definition: command,
  }
}
