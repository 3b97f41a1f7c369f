import { isChange, type Operation, operationMethod, operationName } from '../api/operation.ts'
import { type ErrorKind, exitCodeList } from '../base/errors.ts'
import type { RegisteredCommand } from '../command/command.ts'
import { type Definition, formatArgument, isOption } from '../command/inputs.ts'

/** An argument or option as help, the manual page and `help --json` describe it. */
export const documentOption = (definition: Definition) => ({
  name: definition.name,
  short: definition.short,
  value: definition.value,
  summary: definition.summary,
  choices: definition.choices,
  range: definition.range,
  default: definition.default ?? definition.defaultText,
  required: isOption(definition) ? undefined : definition.required === true,
  repeatable: definition.variadic === true ? true : undefined,
  advanced: definition.advanced,
})

export type OptionDoc = ReturnType<typeof documentOption>

const commonExitKinds: readonly ErrorKind[] = ['ok', 'internal', 'usage', 'output', 'interrupted']
const requestExitKinds: readonly ErrorKind[] = ['auth', 'not-found', 'refused', 'unavailable', 'bad-answer']

/** Returns the kinds of exit codes of a command: they follow from its operations and from `exits`. */
function listExitKinds({
  operations,
  exits = [],
  toleratesErrors,
}: RegisteredCommand): ReadonlySet<ErrorKind> {
  const isAny = operations === 'any'
  const known = isAny ? [] : operations
  const ofRequests = (isAny || known.length > 0) && toleratesErrors !== true ? requestExitKinds : []
  const ofChanges: readonly ErrorKind[] = isAny || known.some(isChange) ? ['unknown-outcome'] : []
  const ofPages: readonly ErrorKind[] = known.some(({ pages }) => pages !== undefined) ? ['incomplete'] : []
  return new Set([...commonExitKinds, ...ofRequests, ...ofChanges, ...ofPages, ...exits])
}

const formatRequest = ({ route }: Operation): string => `${operationMethod(route)} /${operationName(route)}`

/** Splits `<line>  # exits with <code> <why>`; an example without a comment exits with 0. */
function parseExample(example: string): { line: string; exit: number; why?: string } {
  const [line = '', exit, why] = example.split(/ +# exits with (\d+) /)
  return exit === undefined ? { line, exit: 0 } : { line, exit: Number(exit), why: why ?? '' }
}

/** A command as help, the manual page and `help --json` describe it. */
export function documentCommand(documented: RegisteredCommand) {
  const { command, alias, summary, operations, examples, propagatesExitCode } = documented
  const definitions = documented.definitions.filter(({ hidden }) => hidden !== true)
  const commandArguments = definitions.filter(definition => !isOption(definition))
  const exitKinds = listExitKinds(documented)
  return {
    command,
    alias: alias === undefined ? undefined : command.replace(/\S+$/, alias),
    summary,
    usage: ['mergeq', command, '[flags]', ...commandArguments.map(formatArgument)].join(' '),
    arguments: commandArguments.map(documentOption),
    flags: definitions.filter(isOption).map(documentOption),
    sends:
      operations === 'any' ? ['the operation that you name'] : [...new Set(operations.map(formatRequest))],
    prints: documented.output,
    /** Undefined for a command that ends with the exit code of another program. */
    exitCodes:
      propagatesExitCode === true
        ? undefined
        : exitCodeList.filter(({ kind }) => exitKinds.has(kind)).map(({ code }): number => code),
    examples: examples.map(parseExample),
  }
}

export type CommandDoc = ReturnType<typeof documentCommand>

export const programSummary = 'Work with merge queues and flaky tests from the command line'

/** The environment variables that give no setting. */
export const otherVariables: readonly (readonly [names: string, description: string])[] = [
  ['MERGEQ_TOKEN', 'API token; an empty value counts as unset'],
  ['MERGEQ_TOKEN_FILE', 'File with the API token, if MERGEQ_TOKEN is not set'],
  ['TRUNK_API_TOKEN', 'API token if none of these is set, for the default base URL only'],
  ['MERGEQ_READ_ONLY', '`1` refuses every change of the service, except in a dry run and in a sandbox'],
  ['MERGEQ_GUARD', '`off` disables the `mergeq guard` pre-push hook'],
  [
    'MERGEQ_SANDBOX_SHELL',
    '`1` omits the notice of a sandbox; `mergeq sandbox shell` sets it, and what `sandbox start` prints',
  ],
  ['MERGEQ_DEBUG', '`1` also prints the stack trace of an error on standard error'],
  ['MERGEQ_PROJECT_FILE', '`off` ignores the project file `.mergeq.json`'],
  ['MERGEQ_MACHINE_CONFIG', '`off` ignores the settings of the machine, `/etc/mergeq/config.json`'],
  ['MERGEQ_CONFIG_DIR', 'Configuration directory (default: depends on the platform)'],
  ['XDG_CONFIG_HOME, XDG_CACHE_HOME', 'Base directories for configuration (Linux, macOS) and cache (Linux)'],
  ['CI', 'If set, mergeq never prompts; repository, branch and pull request default to those of the CI job'],
  [
    'HTTPS_PROXY, NO_PROXY',
    'Proxy for HTTPS, and hosts to reach without it; the names can be in upper or lower case',
  ],
  ['NODE_EXTRA_CA_CERTS', 'File with additional certificate authorities, like MERGEQ_CA_FILE'],
  [
    'SSL_CERT_FILE',
    'File with additional certificate authorities, if neither --ca-file nor MERGEQ_CA_FILE gives one',
  ],
  ['NODE_DISABLE_COMPILE_CACHE', 'If set, compiled code is not cached'],
  [
    'NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR, TERM',
    'Color output, unless --color is given; TERM=dumb disables it',
  ],
  ['LC_ALL, LC_CTYPE, LANG', 'Character set of the terminal; without UTF-8, mergeq prints ASCII signs'],
]
