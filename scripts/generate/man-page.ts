import { Help } from 'commander'
import type { CommandDoc, OptionDoc } from '../../src/cli/command-doc.ts'
import { describeOption } from '../../src/cli/help-layout.ts'

/** What `mergeq help --json` prints. */
export interface ProgramHelp {
  readonly summary: string
  readonly groups: readonly { readonly name: string; readonly summary: string }[]
  readonly globalFlags: readonly OptionDoc[]
  readonly commands: readonly CommandDoc[]
  readonly environment: readonly {
    readonly names: readonly string[]
    readonly flag?: string
    readonly summary: string
    readonly default?: string
  }[]
  readonly formats: readonly { readonly name: string; readonly summary: string }[]
  readonly exitCodes: readonly { readonly code: number; readonly kind: string; readonly when: string }[]
}

const roffEscapes: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  '`': '\\(ga',
  "'": '\\(aq',
  '^': '\\(ha',
  '~': '\\(ti',
  '"': '\\(dq',
}

/** Returns a text that roff prints as it is, without requests and escapes. */
const escapeRoff = (text: string): string =>
  text.replace(/[\\\-`'^~"]/g, character => roffEscapes[character] ?? character).replace(/^\./, '\\&.')

/** Returns a text for roff with the parts between backquotes in bold. */
const formatProse = (text: string): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? escapeRoff(part) : formatBold(part)))
    .join('')

/** Returns a paragraph for roff in source lines of at most about 80 columns. */
const formatParagraph = (text: string): string =>
  new Help()
    .boxWrap(formatProse(text), 78)
    .split('\n')
    .map(line => line.replace(/^\./, '\\&.'))
    .join('\n')

const formatBold = (text: string): string => `\\fB${escapeRoff(text)}\\fR`
const formatItalic = (text: string): string => `\\fI${escapeRoff(text)}\\fR`

const formatSection = (title: string, ...lines: readonly string[]): readonly string[] => [
  `.SH ${title}`,
  ...lines,
]

/** Returns a term and, indented below the term, its description. */
const formatItem = (term: string, description: string): readonly string[] => [
  '.TP',
  term,
  formatParagraph(description),
]

/** Returns a text with a full stop where it has no final punctuation. */
const toSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

const formatOptionSyntax = ({ name, short, value }: OptionDoc): string =>
  [
    [...(short === undefined ? [] : [formatBold(short)]), formatBold(name)].join(', '),
    ...(value === undefined ? [] : [formatItalic(value.replace(/^<|>$/g, ''))]),
  ].join(' ')

const formatOption = (option: OptionDoc): readonly string[] =>
  formatItem(formatOptionSyntax(option), toSentence(describeOption(option)))

/** Returns the exit codes that all commands can have, apart from those that pass on an exit code. */
const findCommonExitCodes = ({ exitCodes, commands }: ProgramHelp): readonly number[] =>
  exitCodes
    .map(({ code }) => code)
    .filter(code => commands.every(command => command.exitCodes?.includes(code) !== false))

function formatExitCodes(
  exitCodes: readonly number[] | undefined,
  common: readonly number[],
): readonly string[] {
  if (exitCodes === undefined) return ['Exit status: the exit code of the command.']
  const additional = exitCodes.filter(code => !common.includes(code))
  return additional.length === 0 ? [] : [`Additional exit codes: ${additional.join(', ')}.`]
}

function formatCommand(
  { usage, alias, summary, arguments: argumentDocs, flags, sends, exitCodes, examples }: CommandDoc,
  commonExitCodes: readonly number[],
) {
  const paragraphs = [
    toSentence(summary),
    ...(alias === undefined ? [] : [`Alias: \`mergeq ${alias}\`.`]),
    ...(sends.length === 0 ? [] : [`Requests: ${sends.join(', ')}.`]),
    ...formatExitCodes(exitCodes, commonExitCodes),
  ]
  return [
    `.SS ${escapeRoff(usage)}`,
    ...paragraphs.map(formatParagraph),
    ...argumentDocs.flatMap(({ name, summary }) => formatItem(formatItalic(name), toSentence(summary))),
    ...flags.flatMap(formatOption),
    ...(examples.length === 0 ? [] : ['.PP', 'Examples:', '.PP', '.nf', '.RS']),
    ...examples.map(({ line }) => escapeRoff(line)),
    ...(examples.length === 0 ? [] : ['.RE', '.fi']),
  ]
}

const formatVariable = ({ names, flag, summary, ...variable }: ProgramHelp['environment'][number]) => {
  const option = flag === undefined ? '' : `${flag}: `
  const defaultNote = variable.default === undefined ? '' : ` (default: ${variable.default})`
  return formatItem(formatBold(names.join(', ')), toSentence(`${option}${summary}${defaultNote}`))
}

/**
 * Returns the manual page `mergeq.1`: what `mergeq help --json` prints, but the outputs of the commands. So the
 * committed page is also the reference for that document.
 */
export function renderManPage(help: ProgramHelp): string {
  const commonExitCodes = findCommonExitCodes(help)
  return `${[
    '.\\" Generated from the commands of mergeq by `npm run generate`.',
    '.TH MERGEQ 1 "" "mergeq" "mergeq manual"',
    // Lines are not stretched: names of operations are too long for that.
    '.ad l',
    ...formatSection(
      'NAME',
      `mergeq \\- ${escapeRoff(help.summary.replace(/^./, first => first.toLowerCase()))}`,
    ),
    ...formatSection(
      'SYNOPSIS',
      `${formatBold('mergeq')} ${formatItalic('command')} [${formatItalic('flags')}]`,
    ),
    ...formatSection(
      'DESCRIPTION',
      formatParagraph(
        'Submits pull requests to a merge queue, waits for them to merge, and reads queues, metrics and failing tests. The exit status shows scripts what happened.',
      ),
      formatParagraph('`mergeq help` prints the same information; `mergeq help --json` prints it as JSON.'),
    ),
    ...formatSection(
      'GLOBAL FLAGS',
      'Global flags are accepted before and after the command.',
      ...help.globalFlags.flatMap(formatOption),
    ),
    ...formatSection(
      'COMMANDS',
      ...help.commands.flatMap(command => formatCommand(command, commonExitCodes)),
    ),
    ...formatSection(
      'FORMATS',
      ...help.formats.flatMap(({ name, summary }) => formatItem(formatBold(name), toSentence(summary))),
    ),
    ...formatSection('ENVIRONMENT', ...help.environment.flatMap(formatVariable)),
    ...formatSection(
      'EXIT STATUS',
      formatParagraph(
        `Every command can exit with ${commonExitCodes.join(', ')}. COMMANDS lists the additional codes of each command.`,
      ),
      ...help.exitCodes.flatMap(({ code, kind, when }) =>
        formatItem(formatBold(String(code)), toSentence(`${kind}: ${when}`)),
      ),
    ),
  ].join('\n')}\n`
}
