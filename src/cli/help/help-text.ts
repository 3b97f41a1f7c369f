import { exitCodeList } from '../../errors.ts'
import type { OutputDoc } from '../command.ts'
import { topicNames } from './builtin-commands.ts'
import type { CommandDoc, OptionDoc } from './command-doc.ts'
import { alignColumns, indentText, wrapText } from './layout.ts'

/** How a person sees help: so many columns, and headings that may stand out. */
export interface HelpLayout {
  readonly width: number
  heading(text: string): string
}

/** What is told of mergeq as a whole. */
export interface CommandTree {
  readonly summary: string
  readonly commands: readonly Pick<CommandDoc, 'command' | 'summary'>[]
  /** What the first word of a command stands for. */
  readonly groups: Readonly<Record<string, string>>
  readonly flags: readonly OptionDoc[]
}

const paragraph = (text: string, { width }: HelpLayout): string => `${wrapText(text, width).join('\n')}\n`

const section = (title: string, body: string, look: HelpLayout): readonly string[] =>
  body === '' ? [] : [`${look.heading(`${title}:`)}\n${body}`]

const whole = (parts: readonly string[]): string => parts.join('\n')

const isSaid = (summary: string, value: string): boolean =>
  summary.includes(`default ${value}`) || summary.includes('(the default)')

/** What is said of an entry: its summary, and its choices and default where the summary does not say them. */
export function describeOption({ summary, choices = [], default: fallback }: OptionDoc): string {
  const missing = choices.filter(choice => !summary.includes(choice))
  const more = [
    ...(missing.length === 0 ? [] : [choices.join(', ')]),
    ...(fallback === undefined || isSaid(summary, fallback) ? [] : [`default ${fallback}`]),
  ]
  return more.length === 0 ? summary : `${summary} (${more.join('; ')})`
}

const spelled = ({ name, short, value }: OptionDoc): string =>
  [`${short === undefined ? '    ' : `${short}, `}${name}`, ...(value === undefined ? [] : [value])].join(' ')

const table = (entries: readonly OptionDoc[], look: HelpLayout): string =>
  alignColumns(
    entries.map(entry => [entry.name.startsWith('-') ? spelled(entry) : entry.name, describeOption(entry)]),
    look.width,
  )

const helpFlag: OptionDoc = { name: '--help', short: '-h', summary: 'Print this help; with --json as data' }

function printsRows(prints: OutputDoc, { width }: HelpLayout): string {
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

/** The codes on one line, those of one kind together: `0 ok, 2 usage, 129, 130 or 143 interrupted`. */
function codes(exitCodes: readonly number[] | undefined): string {
  if (exitCodes === undefined) return 'that of the command; 2 usage, where it could not be started'
  const kinds = [
    ...new Set(exitCodeList.filter(({ code }) => exitCodes.includes(code)).map(({ kind }) => kind)),
  ]
  return kinds
    .map(kind => {
      const own = exitCodeList.filter(ending => ending.kind === kind).map(({ code }) => String(code))
      // A code and its kind stay on one line.
      return `${own.join('/')}\u00A0${kind}`
    })
    .join(', ')
}

/** The commands whose names go on from this one. */
const below = (name: string, commands: CommandTree['commands'], { width }: HelpLayout): string =>
  alignColumns(
    commands
      .filter(({ command }) => command.startsWith(`${name} `))
      .map(({ command, summary }) => [command.slice(name.length + 1), summary]),
    width,
  )

/** The help of a command: summary, usage, arguments, flags, what it sends and prints, examples, exit codes, more. */
export function commandHelp(
  page: CommandDoc,
  { commands, flags }: Pick<CommandTree, 'commands' | 'flags'>,
  look: HelpLayout,
): string {
  const { width } = look
  const names = flags.map(({ name, short }) => (short === undefined ? name : `${short}/${name}`))
  return whole([
    paragraph(page.summary, look),
    [
      paragraph(`Usage: ${page.usage}`, look),
      ...(page.alias === undefined ? [] : [`Alias: mergeq ${page.alias}\n`]),
    ].join(''),
    ...section('Commands', below(page.command, commands, look), look),
    ...section('Arguments', table(page.arguments, look), look),
    ...section('Flags', table([...page.flags, helpFlag], look), look),
    ...section('Global flags', indentText(names.join(', '), width), look),
    ...section('Sends', page.sends.map(request => `  ${request}\n`).join(''), look),
    ...section('Prints', printsRows(page.prints, look), look),
    ...section(
      'Examples',
      page.examples
        .map(
          ({ line, exit, why }) => `  ${line}${why === undefined ? '' : `  # exits with ${exit}, ${why}`}\n`,
        )
        .join(''),
      look,
    ),
    ...section('Exit codes', indentText(codes(page.exitCodes), width).replaceAll('\u00A0', ' '), look),
    ...section(
      'More',
      indentText(
        '`mergeq --help` explains the global flags, `mergeq help exit-codes` and `mergeq help formatting` the rest.',
        width,
      ),
      look,
    ),
  ])
}

/** The help of a group: its commands. */
export function groupHelp(name: string, { groups, commands }: CommandTree, look: HelpLayout): string {
  return whole([
    paragraph(groups[name] ?? '', look),
    `Usage: mergeq ${name} <command> [flags]\n`,
    ...section('Commands', below(name, commands, look), look),
    ...section(
      'More',
      indentText(
        `\`mergeq ${name} <command> --help\` tells of each, \`mergeq --help\` of the global flags.`,
        look.width,
      ),
      look,
    ),
  ])
}

/** The help of mergeq itself: groups and commands, the flags of every command, the topics. */
export function rootHelp({ summary, groups, commands, flags }: CommandTree, look: HelpLayout): string {
  const firsts = [...new Set(commands.map(({ command }) => command.split(' ')[0] ?? ''))]
  const rows = firsts.map(first => [
    first,
    groups[first] ?? commands.find(({ command }) => command === first)?.summary ?? '',
  ])
  const version: OptionDoc = { name: '--version', summary: 'Print the version' }
  return whole([
    paragraph(summary, look),
    'Usage: mergeq <command> [flags]\n',
    ...section('Commands', alignColumns(rows, look.width), look),
    ...section('Flags of every command', table([...flags, version, helpFlag], look), look),
    ...section(
      'Examples',
      ['mergeq pr submit 123 --wait', 'mergeq pr explain 123', 'mergeq queue watch', 'mergeq sandbox tour']
        .map(line => `  ${line}\n`)
        .join(''),
      look,
    ),
    ...section(
      'More',
      indentText(
        `\`mergeq <command> --help\` tells of each command; \`mergeq help <topic>\` of ${topicNames.join(', ')}; \`man mergeq\` of everything.`,
        look.width,
      ),
      look,
    ),
  ])
}
