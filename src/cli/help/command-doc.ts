import { type Operation, operationMethod, operationName, type Route } from '../../api/operation.ts'
import { type ErrorKind, exitCodeList } from '../../errors.ts'
import type { CommandDefinition, CommandDescription, OutputDoc } from '../command.ts'
import { type OptionDefinition, optionName } from '../inputs.ts'

/** What a leaf of the tree tells of itself. */
export interface DocumentedCommand
  extends CommandDescription,
    Pick<CommandDefinition, 'toleratesErrors' | 'propagatesExitCode' | 'output'> {
  readonly words: readonly OptionDefinition[]
  readonly operations: readonly Operation[] | 'any'
  /** The operation, where it is exactly one. */
  readonly route?: Route
}

/** An argument or a flag. */
export interface OptionDoc {
  /** `--repo`, `-R` of it, and its value `<[host/]owner/name>`; an argument has its name alone. */
  readonly name: string
  readonly short?: string
  readonly value?: string
  readonly summary: string
  /** The only words that may stand there. */
  readonly choices?: readonly string[]
  readonly default?: string
  readonly required?: boolean
  readonly repeatable?: boolean
}

/** A command line that works, and the exit code that it promises. */
export interface Example {
  readonly line: string
  readonly exit: number
  /** When it does not exit with 0: why. */
  readonly why?: string
}

/** All that is known of a command, in the order in which its help tells it. */
export interface CommandDoc {
  readonly command: string
  readonly alias?: string
  readonly summary: string
  readonly usage: string
  readonly arguments: readonly OptionDoc[]
  readonly flags: readonly OptionDoc[]
  /** Method and path of what it sends, in the order of its work. */
  readonly sends: readonly string[]
  readonly prints: OutputDoc
  readonly examples: readonly Example[]
  /** The exit codes that it can give; undefined where they are those of the program that it runs. */
  readonly exitCodes?: readonly number[]
}

export const isOption = ({ syntax }: OptionDefinition): boolean => syntax.startsWith('-')

/** A default stands once, in the summary: `(default 24h)`, or `merged (the default)`. */
const defaultOf = (summary: string): string | undefined => {
  const [, behind, before] = /\(default ([^),]+)[),]|(\S+) \(the default\)/.exec(summary) ?? []
  return behind ?? before?.replaceAll('"', '')
}

/** A word as it is told; `fallback` is its default where the summary does not say it. */
export function optionDoc(word: OptionDefinition, fallback?: string): OptionDoc {
  const { syntax, summary, choices, variadic } = word
  const [, short] = /^(-\w), /.exec(syntax) ?? []
  const [, value] = /--[a-z-]+ (.+)$/.exec(syntax) ?? []
  const told = defaultOf(summary) ?? fallback
  return {
    name: isOption(word) ? optionName(syntax) : syntax.replace(/[[\]<>]|\.\.\./g, ''),
    ...(short === undefined ? {} : { short }),
    ...(value === undefined ? {} : { value }),
    summary,
    ...(choices === undefined ? {} : { choices }),
    ...(told === undefined ? {} : { default: told }),
    ...(isOption(word) ? {} : { required: syntax.startsWith('<') }),
    ...(variadic === true || syntax.includes('...') ? { repeatable: true } : {}),
  }
}

/** The kinds in which any command can end, and those that a request adds. */
const always: readonly ErrorKind[] = ['ok', 'internal', 'usage', 'output', 'interrupted']
const ofRequests: readonly ErrorKind[] = ['auth', 'not-found', 'refused', 'unavailable', 'bad-answer']

/** Every kind in which a command can end: from what it sends, whether that changes anything or has pages, and its own. */
function kindsOf({ operations, exitKinds = [], toleratesErrors }: DocumentedCommand): ReadonlySet<ErrorKind> {
  const isAny = operations === 'any'
  const rows = isAny ? [] : operations
  const sent = (isAny || rows.length > 0) && toleratesErrors !== true ? ofRequests : []
  const changes: readonly ErrorKind[] =
    isAny || rows.some(({ effect }) => effect !== false) ? ['unknown-outcome'] : []
  const paged: readonly ErrorKind[] = rows.some(({ pagination }) => pagination !== undefined)
    ? ['incomplete']
    : []
  return new Set([...always, ...sent, ...changes, ...paged, ...exitKinds])
}

const requestOf = ({ route }: Operation): string => `${operationMethod(route)} /${operationName(route)}`

/** What the operation itself prints. */
function printed(told: DocumentedCommand): OutputDoc {
  const [row] = told.operations === 'any' ? [] : told.operations
  if (told.output !== undefined || row === undefined) return told.output ?? 'nothing'
  if (row.pagination !== undefined)
    return {
      table: 'a row for each record',
      json: "the service's document with all records in it, and the window that was covered",
      ndjson: 'one record a line, as it arrives',
    }
  if (row.decoder.expects === 'text')
    return {
      table: "a table on a terminal; on a pipe the service's text, byte for byte",
      json: 'a list of {"name","type","labels","value"}',
      ndjson: 'one sample a line',
    }
  if (row.decoder.expects === 'json')
    return {
      table: 'a table on a terminal; on a pipe its rows, separated by tabs',
      json: "the service's own document, one for each that was asked for",
      ndjson: 'one document a line',
    }
  return {
    table: 'a sentence; on a pipe the row pr, ok, delivery, message',
    json: 'a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}',
    ndjson: 'the same on one line',
  }
}

/** An example and its promise: `mergeq ...  # exits with 8, ...`. */
function exampleOf(example: string): Example {
  const [line = '', exit, why] = example.split(/ +# exits with (\d+), /)
  return exit === undefined ? { line, exit: 0 } : { line, exit: Number(exit), why: why ?? '' }
}

/** The name of a command's alias, as it is typed: `pr status` of `pr get`. */
export const withAlias = (command: string, alias: string): string => command.replace(/\S+$/, alias)

/** The page of a command. */
export function commandDoc(told: DocumentedCommand): CommandDoc {
  const { command, alias, summary, operations } = told
  const words = told.words.filter(({ hidden }) => hidden !== true)
  const typed = words.filter(word => !isOption(word)).map(({ syntax }) => ` ${syntax}`)
  const kinds = kindsOf(told)
  return {
    command,
    ...(alias === undefined ? {} : { alias: withAlias(command, alias) }),
    summary,
    usage: `mergeq ${command} [flags]${typed.join('')}`,
    arguments: words.filter(word => !isOption(word)).map(word => optionDoc(word)),
    flags: words.filter(isOption).map(word => optionDoc(word)),
    sends: operations === 'any' ? ['the operation that is named'] : [...new Set(operations.map(requestOf))],
    prints: printed(told),
    examples: told.examples.map(exampleOf),
    ...(told.propagatesExitCode === true
      ? {}
      : { exitCodes: exitCodeList.filter(({ kind }) => kinds.has(kind)).map(({ code }) => code) }),
  }
}
