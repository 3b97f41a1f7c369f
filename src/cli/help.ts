import { settingDefinitions } from '../config/setting-definitions.ts'
import { type OutputFormat, outputFormats, printsData } from '../domain/output-formats.ts'
import { exitCodeList } from '../errors.ts'
import type { Output } from '../host/host.ts'
import { applyStyle } from '../output/styled-text.ts'
import { wrapLines } from '../output/text-width.ts'
import { type CommandGroup, loadCommands, type RegisteredCommand } from '../run/command.ts'
import { oppositeOf } from '../run/inputs.ts'
import {
  type CommandDoc,
  documentCommand,
  documentOption,
  type OptionDoc,
  otherVariables,
  programSummary,
  renderJson,
} from './command-doc.ts'
import { globalOptions, helpOption, type ParsedCommandLine, versionOption } from './parse.ts'

export interface HelpOptions {
  readonly out: Pick<Output, 'columns' | 'terminal'>
  /** Help is text, except in the formats that print data. */
  readonly format: OutputFormat
  /** Whether headings are bold. */
  readonly hasColor: boolean
  readonly isShort: boolean
  /** The version of mergeq. */
  readonly version: string
}

type Item = readonly [term: string, description: string]

/** The maximum width of a term that has its description beside it. */
const maxTermWidth = 34

/** The texts of a help, wrapped and aligned. */
class Layout {
  readonly width: number
  readonly isShort: boolean
  readonly #isBold: boolean

  constructor({ out, hasColor, isShort }: HelpOptions) {
    this.width = Math.min(out.columns, 100)
    this.isShort = isShort
    this.#isBold = hasColor
  }

  paragraph(text: string): string {
    return `${wrapLines(text, this.width)}\n`
  }

  indented(text: string): string {
    return this.lines(wrapLines(text, this.width - 2).split('\n'))
  }

  /** Indents lines, which are not wrapped. */
  lines(lines: readonly string[]): string {
    return lines.map(line => `  ${line}\n`).join('')
  }

  /**
   * Aligns descriptions, beside their terms or, if a term is wide, below it.
   *
   * @param isCut whether a description is cut at the end of its line, with `…`, instead of wrapped
   */
  items(items: readonly Item[], isCut: (index: number) => boolean = () => false): string {
    const maxWidth = Math.min(maxTermWidth, Math.floor(this.width / 2) - 4)
    const widths = items.map(([term]) => term.length).filter(width => width <= maxWidth)
    const termWidth = Math.max(0, ...widths)
    const room = this.width - termWidth - 4
    const column = ' '.repeat(this.width - room)
    return items
      .map(([term, description], index) => {
        const text =
          isCut(index) && description.length > room
            ? `${wrapLines(description, room - 1).split('\n')[0]}…`
            : wrapLines(description, room).replaceAll('\n', `\n${column}`)
        const start = `  ${term}`.padEnd(column.length)
        return term.length <= termWidth ? `${start}${text}\n` : `${start.trimEnd()}\n${column}${text}\n`
      })
      .join('')
  }

  /** A line that is cut has no room for a range or a default. The choices of an option are never cut. */
  options(options: readonly OptionDoc[], isCut = false): string {
    return this.items(
      options.map(option => [
        formatOption(option),
        describeOption(isCut ? { ...option, range: undefined, default: undefined } : option),
      ]),
      index => isCut && !options.slice(index, index + 1).some(hasChoices),
    )
  }

  /** A section with its heading; nothing without a body. */
  section(title: string, body: string): readonly string[] {
    return body === '' ? [] : [`${applyStyle(`${title}:`, 'bold', this.#isBold)}\n${body}`]
  }

  start(summary: string, usage: string): string {
    const paragraphs = [this.paragraph(summary), this.paragraph(`Usage: ${usage}`)]
    return paragraphs.join(this.isShort ? '' : '\n')
  }

  learnMore(short: string, complete: string): readonly string[] {
    return this.isShort
      ? [this.paragraph(`Learn more: ${short}`)]
      : this.section('Learn more', this.indented(complete))
  }
}

/** Whether only the description of an option lists its values; some are in its summary, behind a colon. */
const hasChoices = ({ choices, summary, value = '' }: OptionDoc): boolean =>
  (choices !== undefined && !value.includes('|')) || /: [\w-]+(?:, [\w-]+)+,? or /.test(summary)

/** Returns the summary of an argument or option with its choices, its range, its default, and whether it can be repeated. */
export function describeOption({ name, summary, choices = [], repeatable, ...doc }: OptionDoc): string {
  const isNamed = choices.every(choice => summary.includes(choice))
  const additions = [
    ...(isNamed ? [] : [choices.join(', ')]),
    ...(doc.range === undefined ? [] : [doc.range]),
    ...(doc.default === undefined ? [] : [`default: ${doc.default}`]),
    ...(repeatable === true && name.startsWith('-') ? ['repeatable'] : []),
  ]
  return additions.length === 0 ? summary : `${summary} (${additions.join('; ')})`
}

function formatOption({ name, short, value }: OptionDoc): string {
  if (!name.startsWith('-')) return name
  const names = `${short === undefined ? '    ' : `${short}, `}${name}`
  return value === undefined ? names : `${names} <${value}>`
}

/** Returns options with each pair of `--batch` and `--no-batch` as one: `--[no-]batch`. */
function joinOpposites(options: readonly OptionDoc[]): readonly OptionDoc[] {
  const names = options.map(({ name }) => name)
  const joined = options
    .filter(({ name }) => name.startsWith('--no-'))
    .map(({ name }) => oppositeOf(name))
    .filter(name => names.includes(name))
  return options
    .filter(({ name }) => !name.startsWith('--no-') || !joined.includes(oppositeOf(name)))
    .map(option =>
      joined.includes(option.name) ? { ...option, name: option.name.replace('--', '--[no-]') } : option,
    )
}

/** Returns the exit codes in a line, grouped by kind: `0 ok, 2 usage, 129/130/143 interrupted`. */
function formatExitCodes(exitCodes: readonly number[] | undefined, layout: Layout): string {
  if (exitCodes === undefined)
    return layout.indented('the exit code of the command, or 2 if it cannot be started')
  const codesByKind = new Map<string, number[]>()
  for (const { code, kind } of exitCodeList)
    if (exitCodes.includes(code)) codesByKind.set(kind, [...(codesByKind.get(kind) ?? []), code])
  // No line ends between a code and its kind.
  const texts = [...codesByKind].map(([kind, codes]) => `${codes.join('/')}_${kind}`)
  return layout.indented(texts.join(', ')).replaceAll('_', ' ')
}

const maxShortExamples = 2

const maxShortLines = 24

/** The rows of the options that many need, or of the advanced ones. */
const flagsOf = ({ flags }: CommandDoc, advanced = false): readonly OptionDoc[] =>
  joinOpposites(flags.filter(flag => (flag.advanced ?? false) === advanced))

function renderCommandHelp(doc: CommandDoc, layout: Layout): string {
  const alias = doc.alias === undefined ? '' : `Alias: mergeq ${doc.alias}\n`
  const globalNames = globalOptions.map(({ name, short }) =>
    short === undefined ? name : `${short}/${name}`,
  )
  const output =
    typeof doc.prints === 'string' ? layout.indented(doc.prints) : layout.items(Object.entries(doc.prints))
  const examples = doc.examples.map(({ line, exit, why }) =>
    why === undefined ? line : `${line}  # exits with ${exit} ${why}`,
  )
  return [
    layout.start(doc.summary, doc.usage) + alias,
    ...layout.section('Arguments', layout.options(doc.arguments)),
    ...layout.section('Flags', layout.options([...flagsOf(doc), documentOption(helpOption)])),
    ...layout.section('Global flags', layout.indented(globalNames.join(', '))),
    ...layout.section('Output', output),
    ...layout.section('Examples', layout.lines(examples)),
    ...layout.section('Exit codes', formatExitCodes(doc.exitCodes, layout)),
    ...layout.section('Advanced', layout.options(flagsOf(doc, true))),
    ...layout.section(
      'Learn more',
      layout.indented(
        'Run `mergeq --help` for the global flags, `mergeq help exit-codes` for the exit codes, and `mergeq help formatting` for the output formats.',
      ),
    ),
  ].join('\n')
}

/** Where the options need more than a screen, each of them has one line. */
function renderShortCommandHelp(doc: CommandDoc, layout: Layout): string {
  const renderWith = (options: string): string =>
    [
      layout.start(doc.summary, doc.usage),
      ...layout.section('Arguments', layout.options(doc.arguments)),
      ...layout.section('Flags', options),
      ...layout.section(
        'Examples',
        layout.lines(doc.examples.slice(0, maxShortExamples).map(({ line }) => line)),
      ),
      layout.paragraph(`Learn more: mergeq ${doc.command} --help`),
    ].join('\n')
  const flags = flagsOf(doc)
  const text = renderWith(layout.options(flags))
  const isScreen = text.trimEnd().split('\n').length <= maxShortLines
  return isScreen ? text : renderWith(layout.options(flags, true))
}

function renderGroupHelp(
  { name, summary }: CommandGroup,
  commands: readonly RegisteredCommand[],
  layout: Layout,
): string {
  const items = commands.map(({ command, summary }): Item => [command.slice(name.length + 1), summary])
  const examples = commands.map(({ examples: [example = ''] }) => example.replace(/ +# exits with .*/, ''))
  return [
    layout.start(summary, `mergeq ${name} <command> [flags]`),
    ...layout.section('Commands', layout.items(items)),
    ...layout.section(
      'Examples',
      layout.lines(layout.isShort ? examples.slice(0, maxShortExamples) : examples),
    ),
    ...layout.learnMore(
      `mergeq ${name} <command> -h, mergeq ${name} --help`,
      `Run \`mergeq ${name} <command> --help\` for a command, and \`mergeq --help\` for the global flags.`,
    ),
  ].join('\n')
}

function renderRootHelp(groups: readonly CommandGroup[], layout: Layout): string {
  const { isShort } = layout
  // The last line of the short help names `help`.
  const listed = groups.filter(({ name }) => !isShort || name !== 'help')
  const flags = isShort ? [] : [...globalOptions, versionOption, helpOption].map(documentOption)
  const examples = [
    'mergeq pr submit 123 --wait',
    'mergeq pr explain 123',
    'mergeq queue watch',
    'mergeq sandbox tour',
  ]
  return [
    layout.start(programSummary, 'mergeq <command> [flags]'),
    ...layout.section('Commands', layout.items(listed.map(({ name, summary }) => [name, summary]))),
    ...layout.section('Global flags', layout.options(flags)),
    ...layout.section('Examples', layout.lines(examples)),
    ...layout.learnMore(
      'mergeq <command> -h, mergeq help <topic>, mergeq --help',
      `Run \`mergeq <command> --help\` for a command, \`mergeq help <topic>\` for a topic (${Object.keys(topics).join(', ')}), and \`man mergeq\` for the manual.`,
    ),
  ].join('\n')
}

/** Returns the help of a command or a group, or of mergeq if neither was read. */
export async function renderHelp(
  { path, command }: ParsedCommandLine,
  groups: readonly CommandGroup[],
  options: HelpOptions,
): Promise<string> {
  const group = groups.find(({ name }) => name === path[0])
  if (printsData(options.format)) {
    const documented =
      command !== undefined ? [command] : await loadCommands(group === undefined ? groups : [group])
    const { format, out, version } = options
    return renderJson(documented, groups, {
      format,
      isPretty: out.terminal,
      version,
      isCommand: command !== undefined,
    })
  }
  const layout = new Layout(options)
  if (command !== undefined) {
    const doc = documentCommand(command)
    return layout.isShort ? renderShortCommandHelp(doc, layout) : renderCommandHelp(doc, layout)
  }
  return group === undefined
    ? renderRootHelp(groups, layout)
    : renderGroupHelp(group, await loadCommands([group]), layout)
}

export const renderTopic = (topic: keyof typeof topics, options: HelpOptions): string =>
  topics[topic](new Layout(options))

export const listSettingVariables = (): readonly Item[] =>
  Object.values(settingDefinitions)
    .filter(({ env }) => env.length > 0)
    .map(({ flag, env, summary, default: value, defaultText = value }) => {
      const option = flag === undefined ? '' : `${flag}: `
      const defaultNote = defaultText === undefined ? '' : ` (default: ${defaultText})`
      return [env.join(', '), `${option}${summary}${defaultNote}`]
    })

function renderExitCodes(layout: Layout): string {
  const kindWidth = Math.max(...exitCodeList.map(({ kind }) => kind.length))
  return [
    'Exit codes:\n',
    layout.items(
      exitCodeList.map(({ code, kind, when }) => [
        `${String(code).padStart(3)}  ${kind.padEnd(kindWidth)}`,
        when.replaceAll('`', ''),
      ]),
    ),
    layout.paragraph(
      'With several pull requests, mergeq exits with the most severe exit code. The help of each command lists its exit codes. If the program that reads the output exits early, mergeq stops without an error message and uses the exit code that it would otherwise have returned.',
    ),
  ].join('\n')
}

const renderEnvironment = (layout: Layout): string =>
  [
    'Settings (an option takes precedence over its variable):\n',
    layout.items(listSettingVariables()),
    'Other variables:\n',
    layout.items(otherVariables),
    layout.paragraph(
      'mergeq uses the first source that has a value: option, environment, project file, profile, CI job, git checkout, default. To see where each value comes from:',
    ),
    layout.indented('mergeq config list --show-origin'),
  ].join('\n')

const renderFormatting = (layout: Layout): string =>
  [
    'Output formats (--output, --json, MERGEQ_OUTPUT):\n',
    layout.items(outputFormats.map(({ name, summary }) => [name, summary])),
    layout.paragraph(
      '--fields state,readiness.hasImpactedTargets prints only these fields, in every format. A name is a field of the record, such as failure_rate_last_7d. An unknown name is an error that lists the names.',
    ),
    layout.paragraph(
      'Standard output contains results only; progress, warnings and errors go to standard error. With json and ndjson, an error is one JSON object.',
    ),
    layout.indented('mergeq pr get 123 --json | jq -r .state') +
      layout.indented('mergeq pr get 123 --fields state,prTitle') +
      layout.indented('mergeq flaky list --since 7d -o ndjson | jq -r .name'),
  ].join('\n')

export const topics = {
  'exit-codes': renderExitCodes,
  environment: renderEnvironment,
  formatting: renderFormatting,
}
