import { exitCodeList } from '../../errors.ts'
import type { OutputDoc } from '../command.ts'
import type { CommandDoc, OptionDoc } from './command-doc.ts'
import { alignColumns, indentText, wrapText } from './text-layout.ts'
import { topics } from './topics.ts'

export interface HelpLayout {
  readonly width: number
  heading(text: string): string
}

export interface HelpGroup {
  readonly name: string
  readonly summary: string
  readonly isCommand?: boolean
}

interface CommandSummary extends Pick<CommandDoc, 'command' | 'summary'> {
  readonly examples: readonly string[]
}

export interface ProgramDoc {
  readonly summary: string
  readonly groups: readonly HelpGroup[]
  readonly commands: readonly CommandSummary[]
  readonly flags: readonly OptionDoc[]
}

export const renderParagraph = (text: string, { width }: HelpLayout): string =>
  `${wrapText(text, width).join('\n')}\n`

export const renderSection = (title: string, body: string, layout: HelpLayout): readonly string[] =>
  body === '' ? [] : [`${layout.heading(`${title}:`)}\n${body}`]

export const joinSections = (sections: readonly string[]): string => sections.join('\n')

export function describeOption({ name, summary, choices = [], repeatable, ...doc }: OptionDoc): string {
  const isNamed = choices.every(choice => summary.includes(choice))
  const additions = [
    ...(isNamed ? [] : [choices.join(', ')]),
    ...(doc.default === undefined ? [] : [`default: ${doc.default}`]),
    ...(repeatable === true && name.startsWith('-') ? ['repeatable'] : []),
  ]
  return additions.length === 0 ? summary : `${summary} (${additions.join('; ')})`
}

export const formatPlaceholder = (value: string): string => `<${value}>`

const formatOptionSyntax = ({ name, short, value }: OptionDoc): string =>
  [
    `${short === undefined ? '    ' : `${short}, `}${name}`,
    ...(value === undefined ? [] : [formatPlaceholder(value)]),
  ].join(' ')

/**
 * Returns arguments or options with their summaries in two columns.
 *
 * @param isCut whether summaries are cut at the end of their line instead of wrapped
 */
export const renderOptions = (options: readonly OptionDoc[], { width }: HelpLayout, isCut = false): string =>
  alignColumns(
    options.map(option => [
      option.name.startsWith('-') ? formatOptionSyntax(option) : option.name,
      describeOption(option),
    ]),
    width,
    isCut,
  )

const helpOption: OptionDoc = {
  name: '--help',
  short: '-h',
  summary: 'Show short (-h) or complete help (--help); with --json, print it as JSON',
}

function renderOutputDoc(prints: OutputDoc, { width }: HelpLayout): string {
  if (typeof prints === 'string') return indentText(prints, width)
  const { table, json, ndjson } = prints
  return alignColumns(
    [
      ['table', table],
      ['json', json],
      ['ndjson', ndjson],
    ],
    width,
  )
}

/** Returns the exit codes in a line, grouped by kind: `0 ok, 2 usage, 129/130/143 interrupted`. */
function formatExitCodes(exitCodes: readonly number[] | undefined): string {
  if (exitCodes === undefined) return 'the exit code of the command, or 2 if it cannot be started'
  const kinds = [
    ...new Set(exitCodeList.filter(({ code }) => exitCodes.includes(code)).map(({ kind }) => kind)),
  ]
  return kinds
    .map(kind => {
      const codes = exitCodeList.filter(exitCode => exitCode.kind === kind).map(({ code }) => String(code))
      // A no-break space keeps a code and its kind on the same line.
      return `${codes.join('/')}\u00A0${kind}`
    })
    .join(', ')
}

export const renderSubcommands = (
  name: string,
  commands: ProgramDoc['commands'],
  { width }: HelpLayout,
): string =>
  alignColumns(
    commands
      .filter(({ command }) => command.startsWith(`${name} `))
      .map(({ command, summary }) => [command.slice(name.length + 1), summary]),
    width,
  )

export function renderCommandHelp(
  doc: CommandDoc,
  { commands, flags }: Pick<ProgramDoc, 'commands' | 'flags'>,
  layout: HelpLayout,
): string {
  const { width } = layout
  const names = flags.map(({ name, short }) => (short === undefined ? name : `${short}/${name}`))
  return joinSections([
    renderParagraph(doc.summary, layout),
    [
      renderParagraph(`Usage: ${doc.usage}`, layout),
      ...(doc.alias === undefined ? [] : [`Alias: mergeq ${doc.alias}\n`]),
    ].join(''),
    ...renderSection('Commands', renderSubcommands(doc.command, commands, layout), layout),
    ...renderSection('Arguments', renderOptions(doc.arguments, layout), layout),
    ...renderSection('Flags', renderOptions([...doc.flags, helpOption], layout), layout),
    ...renderSection('Global flags', indentText(names.join(', '), width), layout),
    ...renderSection('Requests', doc.sends.map(request => `  ${request}\n`).join(''), layout),
    ...renderSection('Output', renderOutputDoc(doc.prints, layout), layout),
    ...renderSection(
      'Examples',
      doc.examples
        .map(
          ({ line, exit, why }) => `  ${line}${why === undefined ? '' : `  # exits with ${exit} ${why}`}\n`,
        )
        .join(''),
      layout,
    ),
    ...renderSection(
      'Exit codes',
      indentText(formatExitCodes(doc.exitCodes), width).replaceAll('\u00A0', ' '),
      layout,
    ),
    ...renderSection(
      'Learn more',
      indentText(
        'Run `mergeq --help` for the global flags, `mergeq help exit-codes` for the exit codes, and `mergeq help formatting` for the output formats.',
        width,
      ),
      layout,
    ),
  ])
}

export const groupExamples = (name: string, commands: ProgramDoc['commands']): readonly string[] =>
  commands
    .filter(({ command }) => command.startsWith(`${name} `))
    .flatMap(({ examples: [example = ''] }) => example.replace(/ +# exits with .*/, ''))

export const renderLines = (lines: readonly string[]): string => lines.map(line => `  ${line}\n`).join('')

export const rootExamples: readonly string[] = [
  'mergeq pr submit 123 --wait',
  'mergeq pr explain 123',
  'mergeq queue watch',
  'mergeq sandbox tour',
]

export function renderGroupHelp(name: string, { groups, commands }: ProgramDoc, layout: HelpLayout): string {
  return joinSections([
    renderParagraph(groups.find(group => group.name === name)?.summary ?? '', layout),
    `Usage: mergeq ${name} <command> [flags]\n`,
    ...renderSection('Commands', renderSubcommands(name, commands, layout), layout),
    ...renderSection('Examples', renderLines(groupExamples(name, commands)), layout),
    ...renderSection(
      'Learn more',
      indentText(
        `Run \`mergeq ${name} <command> --help\` for a command, and \`mergeq --help\` for the global flags.`,
        layout.width,
      ),
      layout,
    ),
  ])
}

export function renderRootHelp({ summary, groups, flags }: ProgramDoc, layout: HelpLayout): string {
  const rows = groups.map(({ name, summary }) => [name, summary])
  const versionOption: OptionDoc = { name: '--version', summary: 'Print the version' }
  return joinSections([
    renderParagraph(summary, layout),
    'Usage: mergeq <command> [flags]\n',
    ...renderSection('Commands', alignColumns(rows, layout.width), layout),
    ...renderSection('Global flags', renderOptions([...flags, versionOption, helpOption], layout), layout),
    ...renderSection('Examples', renderLines(rootExamples), layout),
    ...renderSection(
      'Learn more',
      indentText(
        `Run \`mergeq <command> --help\` for a command, \`mergeq help <topic>\` for a topic (${Object.keys(topics).join(', ')}), and \`man mergeq\` for the manual.`,
        layout.width,
      ),
      layout,
    ),
  ])
}
