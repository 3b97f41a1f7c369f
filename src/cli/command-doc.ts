import { isChange, type Operation, operationMethod, operationName } from '../api/operation.ts'
import { type ErrorKind, exitCodeList } from '../errors.ts'
import type { OutputDoc, RegisteredCommand } from './command.ts'
import { formatArgument, isOption, type OptionDefinition } from './inputs.ts'

export interface OptionDoc {
  readonly name: string
  readonly short?: string
  readonly value?: string
  readonly summary: string
  readonly choices?: readonly string[]
  readonly default?: string
  readonly required?: boolean
  readonly repeatable?: boolean
}

interface Example {
  readonly line: string
  readonly exit: number
  readonly why?: string
}

export interface CommandDoc {
  readonly command: string
  readonly alias?: string
  readonly summary: string
  readonly usage: string
  readonly arguments: readonly OptionDoc[]
  readonly flags: readonly OptionDoc[]
  readonly sends: readonly string[]
  readonly prints: OutputDoc
  readonly examples: readonly Example[]
  readonly exitCodes?: readonly number[]
}

export function documentOption(definition: OptionDefinition): OptionDoc {
  const { name, short, value, summary, choices, required = false, variadic, defaultText } = definition
  const defaultValue = definition.default ?? defaultText
  return {
    name,
    ...(short === undefined ? {} : { short }),
    ...(value === undefined ? {} : { value }),
    summary,
    ...(choices === undefined ? {} : { choices }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    ...(isOption(definition) ? {} : { required }),
    ...(variadic === true ? { repeatable: true } : {}),
  }
}

const commonExitKinds: readonly ErrorKind[] = ['ok', 'internal', 'usage', 'output', 'interrupted']
const requestExitKinds: readonly ErrorKind[] = ['auth', 'not-found', 'refused', 'unavailable', 'bad-answer']

/**
 * Returns every kind of exit code that a command can have. The kinds follow from the operations of the
 * command (whether it sends any, and whether they change something or have pages) and from `exitKinds`.
 */
function listExitKinds({
  operations,
  exitKinds = [],
  toleratesErrors,
}: RegisteredCommand): ReadonlySet<ErrorKind> {
  const isAny = operations === 'any'
  const known = isAny ? [] : operations
  const ofRequests = (isAny || known.length > 0) && toleratesErrors !== true ? requestExitKinds : []
  const ofChanges: readonly ErrorKind[] = isAny || known.some(isChange) ? ['unknown-outcome'] : []
  const ofPages: readonly ErrorKind[] = known.some(({ pagination }) => pagination !== undefined)
    ? ['incomplete']
    : []
  return new Set([...commonExitKinds, ...ofRequests, ...ofChanges, ...ofPages, ...exitKinds])
}

const formatRequest = ({ route }: Operation): string => `${operationMethod(route)} /${operationName(route)}`

function documentOutput({ operations, output }: RegisteredCommand): OutputDoc {
  const [operation] = operations === 'any' ? [] : operations
  if (output !== undefined || operation === undefined) return output ?? 'nothing'
  if (operation.pagination !== undefined)
    return {
      table: 'one row per record',
      json: 'one document from the service with all records, and the time range covered',
      ndjson: 'one record per line, as it arrives',
    }
  if (operation.decoder.expects === 'text')
    return {
      table: 'a summary on a terminal; on a pipe, the unchanged text from the service',
      json: 'a list of {"name","type","labels","value"}',
      ndjson: 'one sample per line',
    }
  if (operation.decoder.expects === 'json')
    return {
      table: 'a table on a terminal; on a pipe, tab-separated rows',
      json: 'the document from the service, one per request',
      ndjson: 'one document per line',
    }
  return {
    table: 'one sentence; on a pipe, a row with pr, ok, delivery, message',
    json: 'a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}',
    ndjson: 'the same, on one line',
  }
}

function parseExample(example: string): Example {
  const [line = '', exit, why] = example.split(/ +# exits with (\d+) /)
  return exit === undefined ? { line, exit: 0 } : { line, exit: Number(exit), why: why ?? '' }
}

export function documentCommand(documented: RegisteredCommand): CommandDoc {
  const { command, alias, summary, operations, examples, propagatesExitCode } = documented
  const definitions = documented.definitions.filter(({ hidden }) => hidden !== true)
  const commandArguments = definitions.filter(definition => !isOption(definition))
  const exitKinds = listExitKinds(documented)
  return {
    command,
    ...(alias === undefined ? {} : { alias: command.replace(/\S+$/, alias) }),
    summary,
    usage: `mergeq ${command} [flags]${commandArguments.map(definition => ` ${formatArgument(definition)}`).join('')}`,
    arguments: commandArguments.map(documentOption),
    flags: definitions.filter(isOption).map(documentOption),
    sends:
      operations === 'any' ? ['the operation that you name'] : [...new Set(operations.map(formatRequest))],
    prints: documentOutput(documented),
    examples: examples.map(parseExample),
    ...(propagatesExitCode === true
      ? {}
      : { exitCodes: exitCodeList.filter(({ kind }) => exitKinds.has(kind)).map(({ code }) => code) }),
  }
}
