import { settingDefinitions } from '../config/setting-definitions.ts'
import { type Format, isJsonFormat, outputFormats } from '../domain/output-formats.ts'
import { hintWithSuggestion } from '../domain/similar-name.ts'
import { exitCodeList, usageError } from '../errors.ts'
import { type CommandGroup, loadCommands, type OutputDoc, type RegisteredCommand } from './command.ts'
import { type CommandDoc, documentCommand, documentOption, type OptionDoc } from './command-doc.ts'
import { globalOptions, type Reading, read } from './parse.ts'

/** What help is about: a command, a group or mergeq as a whole. */
type Subject = Pick<Reading, 'path' | 'command' | 'commands'>

/** The layout of help as text. */
interface HelpLayout {
  /** Maximum width of a line, in columns. */
  readonly width: number
  /** Returns the text of a heading, perhaps with terminal styles. */
  heading(text: string): string
}

interface HelpOptions extends HelpLayout {
  /** `json` and `ndjson` give data; every other format gives text. */
  readonly format: string
  /** Whether JSON is indented. */
  readonly pretty: boolean
}

export const programSummary = 'Work with merge queues and flaky tests from the command line'

/** The number of examples in the short help of a command or group. */
const maxShortExamples = 2

/** The number of lines that a short help has at most, where the command allows it. */
const maxShortLines = 24

const rootExamples = [
  'mergeq pr submit 123 --wait',
  'mergeq pr explain 123',
  'mergeq queue watch',
  'mergeq sandbox tour',
]

const helpOption: OptionDoc = {
  name: '--help',
  short: '-h',
  summary: 'Show short (-h) or complete help (--help); with --json, print it as JSON',
}
const versionOption: OptionDoc = { name: '--version', summary: 'Print the version' }

type Section = readonly [title: string, body: string]

/** Joins paragraphs and sections with an empty line between them; a section without a body is left out. */
const joinParts = ({ heading }: HelpLayout, parts: readonly (string | Section)[]): string =>
  parts
    .flatMap(part => {
      if (typeof part === 'string') return [part]
      const [title, body] = part
      return body === '' ? [] : [`${heading(`${title}:`)}\n${body}`]
    })
    .join('\n')

const renderLines = (lines: readonly string[]): string => lines.map(line => `  ${line}\n`).join('')

/** Returns the summary of an argument or option with its choices, its default, and whether it can be repeated. */
export function describeOption({ name, summary, choices = [], repeatable, ...doc }: OptionDoc): string {
  const isNamed = choices.every(choice => summary.includes(choice))
  const additions = [
    ...(isNamed ? [] : [choices.join(', ')]),
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

/** Returns arguments or options in two columns; `isCut` cuts each summary at the end of its line. */
const renderOptions = (options: readonly OptionDoc[], { width }: HelpLayout, isCut = false): string =>
  alignColumns(
    options.map(option => [formatOption(option), describeOption(option)]),
    width,
    isCut,
  )

/** Returns options with each pair of `--batch` and `--no-batch` as one: `--[no-]batch`. */
function joinOpposites(options: readonly OptionDoc[]): readonly OptionDoc[] {
  const names = new Set(options.map(({ name }) => name))
  return options
    .filter(({ name }) => !name.startsWith('--no-') || !names.has(name.replace('--no-', '--')))
    .map(option =>
      names.has(option.name.replace('--', '--no-'))
        ? { ...option, name: option.name.replace('--', '--[no-]') }
        : option,
    )
}

function renderOutput(prints: OutputDoc, { width }: HelpLayout): string {
  if (typeof prints === 'string') return indentText(prints, width)
  return alignColumns(Object.entries(prints), width)
}

/** Returns the exit codes in a line, grouped by kind: `0 ok, 2 usage, 129/130/143 interrupted`. */
function formatExitCodes(exitCodes: readonly number[] | undefined): string {
  if (exitCodes === undefined) return 'the exit code of the command, or 2 if it cannot be started'
  const codesByKind = new Map<string, number[]>()
  for (const { code, kind } of exitCodeList)
    if (exitCodes.includes(code)) codesByKind.set(kind, [...(codesByKind.get(kind) ?? []), code])
  // A no-break space keeps a code and its kind on the same line.
  return [...codesByKind].map(([kind, codes]) => `${codes.join('/')}\u00A0${kind}`).join(', ')
}

function renderCommandHelp(doc: CommandDoc, layout: HelpLayout): string {
  const { width } = layout
  const usage = renderParagraph(`Usage: ${doc.usage}`, layout.width)
  const globalNames = globalOptions.map(({ name, short }) =>
    short === undefined ? name : `${short}/${name}`,
  )
  return joinParts(layout, [
    renderParagraph(doc.summary, layout.width),
    doc.alias === undefined ? usage : `${usage}Alias: mergeq ${doc.alias}\n`,
    ['Arguments', renderOptions(doc.arguments, layout)],
    ['Flags', renderOptions([...doc.flags, helpOption], layout)],
    ['Global flags', indentText(globalNames.join(', '), width)],
    ['Requests', renderLines(doc.sends)],
    ['Output', renderOutput(doc.prints, layout)],
    [
      'Examples',
      renderLines(
        doc.examples.map(({ line, exit, why }) =>
          why === undefined ? line : `${line}  # exits with ${exit} ${why}`,
        ),
      ),
    ],
    ['Exit codes', indentText(formatExitCodes(doc.exitCodes), width).replaceAll('\u00A0', ' ')],
    [
      'Learn more',
      indentText(
        'Run `mergeq --help` for the global flags, `mergeq help exit-codes` for the exit codes, and `mergeq help formatting` for the output formats.',
        width,
      ),
    ],
  ])
}

/** Returns the summary and the usage, which begin every short help. */
const renderStart = (summary: string, usage: string, layout: HelpLayout): string =>
  `${renderParagraph(summary, layout.width)}${renderParagraph(`Usage: ${usage}`, layout.width)}`

/** Where the options need more than a screen, each of them has one line. */
function renderShortCommandHelp(doc: CommandDoc, layout: HelpLayout): string {
  const renderWith = (options: string): string =>
    joinParts(layout, [
      renderStart(doc.summary, doc.usage, layout),
      ['Arguments', renderOptions(doc.arguments, layout)],
      ['Flags', options],
      ['Examples', renderLines(doc.examples.slice(0, maxShortExamples).map(({ line }) => line))],
      renderParagraph(`Learn more: mergeq ${doc.command} --help`, layout.width),
    ])
  const text = renderWith(renderOptions(doc.flags, layout))
  const isScreen = text.trimEnd().split('\n').length <= maxShortLines
  return isScreen ? text : renderWith(renderOptions(joinOpposites(doc.flags), layout, true))
}

function renderGroupHelp(
  { name, summary }: CommandGroup,
  commands: readonly RegisteredCommand[],
  isShort: boolean,
  layout: HelpLayout,
): string {
  const usage = `mergeq ${name} <command> [flags]`
  const examples = commands.map(({ examples: [example = ''] }) => example.replace(/ +# exits with .*/, ''))
  const rows = commands.map(({ command, summary }) => [command.slice(name.length + 1), summary])
  const subcommands: Section = ['Commands', alignColumns(rows, layout.width)]
  if (isShort)
    return joinParts(layout, [
      renderStart(summary, usage, layout),
      subcommands,
      ['Examples', renderLines(examples.slice(0, maxShortExamples))],
      renderParagraph(`Learn more: mergeq ${name} <command> -h, mergeq ${name} --help`, layout.width),
    ])
  return joinParts(layout, [
    renderParagraph(summary, layout.width),
    `Usage: ${usage}\n`,
    subcommands,
    ['Examples', renderLines(examples)],
    [
      'Learn more',
      indentText(
        `Run \`mergeq ${name} <command> --help\` for a command, and \`mergeq --help\` for the global flags.`,
        layout.width,
      ),
    ],
  ])
}

function renderRootHelp(groups: readonly CommandGroup[], isShort: boolean, layout: HelpLayout): string {
  const usage = 'mergeq <command> [flags]'
  const rows = groups.map(({ name, summary }) => [name, summary] as const)
  if (isShort)
    return joinParts(layout, [
      renderStart(programSummary, usage, layout),
      // The last line names `help`.
      [
        'Commands',
        alignColumns(
          rows.filter(([name]) => name !== 'help'),
          layout.width,
        ),
      ],
      ['Examples', renderLines(rootExamples)],
      renderParagraph('Learn more: mergeq <command> -h, mergeq help <topic>, mergeq --help', layout.width),
    ])
  return joinParts(layout, [
    renderParagraph(programSummary, layout.width),
    `Usage: ${usage}\n`,
    ['Commands', alignColumns(rows, layout.width)],
    [
      'Global flags',
      renderOptions([...globalOptions.map(documentOption), versionOption, helpOption], layout),
    ],
    ['Examples', renderLines(rootExamples)],
    [
      'Learn more',
      indentText(
        `Run \`mergeq <command> --help\` for a command, \`mergeq help <topic>\` for a topic (${Object.keys(topics).join(', ')}), and \`man mergeq\` for the manual.`,
        layout.width,
      ),
    ],
  ])
}

function renderText(
  { path, command, commands }: Subject,
  groups: readonly CommandGroup[],
  isShort: boolean,
  layout: HelpLayout,
): string {
  if (command !== undefined) {
    const doc = documentCommand(command)
    return isShort ? renderShortCommandHelp(doc, layout) : renderCommandHelp(doc, layout)
  }
  const group = groups.find(({ name }) => name === path[0])
  return group === undefined
    ? renderRootHelp(groups, isShort, layout)
    : renderGroupHelp(group, commands, isShort, layout)
}

const toOptionJson = (doc: OptionDoc) => (doc.value === undefined ? doc : { ...doc, value: `<${doc.value}>` })

const toCommandJson = ({ examples, ...doc }: CommandDoc) => ({
  ...doc,
  flags: doc.flags.map(toOptionJson),
  examples: examples.map(({ line, exit }) => ({ line, exit })),
})

const toProgramJson = (groups: readonly CommandGroup[], commands: readonly CommandDoc[]) => ({
  name: 'mergeq',
  summary: programSummary,
  groups: groups
    .filter(({ isCommand }) => isCommand !== true)
    .map(({ name, summary }) => ({ name, summary })),
  globalFlags: globalOptions.map(option => toOptionJson(documentOption(option))),
  commands: commands.map(toCommandJson),
  environment: [
    ...Object.values(settingDefinitions)
      .filter(({ env }) => env.length > 0)
      .map(({ env, flag, summary, default: value, defaultText }) => ({
        names: env,
        flag,
        summary,
        default: value ?? defaultText,
      })),
    ...otherVariables.map(([names, summary]) => ({ names: names.split(', '), summary })),
  ],
  formats: formatRows.map(([name, summary]) => ({ name, summary })),
  exitCodes: exitCodeList.map(({ code, kind, when }) => ({ code, kind, when })),
})

/** Returns one document, or a line for each command. */
async function renderJson(
  { path, command, commands }: Subject,
  groups: readonly CommandGroup[],
  { format, pretty }: HelpOptions,
): Promise<string> {
  const inGroup = path.length === 0 ? await loadCommands(groups) : commands
  const docs = (command === undefined ? inGroup : [command]).map(documentCommand)
  if (format === 'ndjson') return docs.map(doc => `${JSON.stringify(toCommandJson(doc))}\n`).join('')
  const [doc] = docs
  const document =
    command === undefined || doc === undefined ? toProgramJson(groups, docs) : toCommandJson(doc)
  return `${JSON.stringify(document, null, pretty ? 2 : undefined)}\n`
}

async function findScript(shell: string): Promise<string> {
  const { completionScripts } = await import('./completion-scripts.ts')
  const shells = Object.keys(completionScripts)
  const script = new Map(Object.entries(completionScripts)).get(shell.toLowerCase())
  if (script !== undefined) return script
  throw usageError(
    `There is no completion script for '${shell}'.`,
    hintWithSuggestion(shell, shells, `Supported shells: ${shells.join(', ')}.`),
  )
}

/**
 * Returns what `mergeq help`, `mergeq completion`, a group alone, `-h` and `--help` print. Throws a usage
 * error for an unknown command, topic or shell.
 */
export async function renderDocumentation(
  reading: Reading,
  groups: readonly CommandGroup[],
  options: HelpOptions,
): Promise<string> {
  const { command, words, asksFor } = reading
  const isTyped = asksFor === 'run' && command !== undefined && 'documentation' in command
  if (isTyped && command.documentation === 'completion') return findScript(words[0] ?? '')
  const topic = isTyped ? new Map(Object.entries(topics)).get(words.join(' ')) : undefined
  if (topic !== undefined) return topic(options.width)
  const subject = isTyped ? await read(words, groups) : reading
  if (isTyped && subject.path.length < words.length) {
    const { hintForHelp } = await import('./correct.ts')
    throw usageError(
      `unknown command or topic '${words.join(' ')}'.`,
      (await hintForHelp(words, groups)) ??
        `To list the commands, run: mergeq --help\nTopics: ${Object.keys(topics).join(', ')}`,
    )
  }
  const isJson = isJsonFormat(options.format)
  return isJson
    ? renderJson(subject, groups, options)
    : renderText(subject, groups, asksFor === 'short help', options)
}

export const otherVariables: readonly (readonly [names: string, description: string])[] = [
  ['MERGEQ_TOKEN', 'API token; an empty value counts as unset'],
  ['TRUNK_API_TOKEN', 'API token if MERGEQ_TOKEN is not set, for the default base URL only'],
  ['MERGEQ_GUARD', '`off` disables the `mergeq guard` pre-push hook'],
  ['MERGEQ_DEBUG', '`1` also prints the stack trace of an error on standard error'],
  ['MERGEQ_CONFIG_DIR', 'Configuration directory (default: depends on the platform)'],
  ['XDG_CONFIG_HOME, XDG_CACHE_HOME', 'Base directories for configuration (Linux, macOS) and cache (Linux)'],
  ['CI', 'If set, mergeq never prompts; repository, branch and pull request default to those of the CI job'],
  [
    'HTTPS_PROXY, NO_PROXY',
    'Proxy for HTTPS, and hosts to reach without it; the names can be in upper or lower case',
  ],
  ['NODE_EXTRA_CA_CERTS', 'File with additional certificate authorities, like --ca-file'],
  ['NODE_DISABLE_COMPILE_CACHE', 'If set, compiled code is not cached'],
  [
    'NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM',
    'Color output, unless --color is given; TERM=dumb disables it',
  ],
  ['LC_ALL, LC_CTYPE, LANG', 'Character set of the terminal; without UTF-8, mergeq prints ASCII signs'],
]

export const listSettingVariables = (): readonly (readonly [names: string, description: string])[] =>
  Object.values(settingDefinitions)
    .filter(({ env }) => env.length > 0)
    .map(({ flag, env, summary, default: value, defaultText = value }) => {
      const option = flag === undefined ? '' : `${flag}: `
      const defaultNote = defaultText === undefined ? '' : ` (default: ${defaultText})`
      return [env.join(', '), `${option}${summary}${defaultNote}`]
    })

export const formatRows: readonly (readonly [name: Format, description: string])[] = outputFormats.map(
  ({ name, summary }) => [name, summary],
)

const renderParagraph = (text: string, width: number): string => `${wrapText(text, width).join('\n')}\n`

const renderExitCodes = (width: number): string =>
  [
    'Exit codes:\n\n',
    alignColumns(
      exitCodeList.map(({ code, kind, when }) => [String(code).padStart(3), kind, when.replaceAll('`', '')]),
      width,
    ),
    '\n',
    renderParagraph(
      'With several pull requests, mergeq exits with the most severe exit code. The help of each command lists its exit codes. If the program that reads the output exits early, mergeq stops without an error message and uses the exit code that it would otherwise have returned.',
      width,
    ),
  ].join('')

const renderEnvironment = (width: number): string =>
  [
    'Settings (an option takes precedence over its variable):\n\n',
    alignColumns(listSettingVariables(), width),
    '\nOther variables:\n\n',
    alignColumns(otherVariables, width),
    '\n',
    renderParagraph(
      'mergeq uses the first source that has a value: option, environment, project file, profile, CI job, git checkout, default. To see where each value comes from:',
      width,
    ),
    '\n',
    indentText('mergeq config list --show-origin', width),
  ].join('')

const renderFormatting = (width: number): string =>
  [
    'Output formats (--output, --json, MERGEQ_OUTPUT):\n\n',
    alignColumns(formatRows, width),
    '\n',
    renderParagraph(
      '--fields state,readiness.hasImpactedTargets prints only these fields, in every format. A name is a field of the record or a heading of the table, such as "rate 7d" or rate_7d. An unknown name is an error. To list the names that a command accepts, end the command with --fields.',
      width,
    ),
    '\n',
    renderParagraph(
      'Standard output contains results only; progress, warnings and errors go to standard error. With json and ndjson, an error is one JSON object.',
      width,
    ),
    '\n',
    indentText('mergeq pr get 123 --json | jq -r .state', width),
    indentText('mergeq pr get --fields', width),
    indentText('mergeq flaky list --since 7d -o ndjson | jq -r .name', width),
  ].join('')

/** The topics of `mergeq help <topic>`, each as text of a width in columns. */
export const topics = {
  'exit-codes': renderExitCodes,
  environment: renderEnvironment,
  formatting: renderFormatting,
}

/** Returns the lines of a text; none is wider than `width` columns unless a single word is. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Returns the words of a text that fit into `width` columns with the `…` after them. */
const cutText = (text: string, width: number): string => `${wrapText(text, width - 1)[0] ?? ''}…`

const indentText = (text: string, width: number): string =>
  wrapText(text, width - 2)
    .map(line => `  ${line}\n`)
    .join('')

const maxCellWidth = 34

/**
 * Returns rows of aligned columns, indented by two spaces. The last column is wrapped in the space that is
 * left. When an earlier cell is wider than `maxCellWidth` or about half of `width`, the last column begins on
 * the next line.
 *
 * @param isCut whether the last column is cut at the end of its line, with `…`, instead of wrapped
 */
function alignColumns(rows: readonly (readonly string[])[], width: number, isCut = false): string {
  const leadingCells = rows.map(row => row.slice(0, -1))
  const maxWidth = Math.min(maxCellWidth, Math.floor(width / 2) - 4)
  const widths = (leadingCells[0] ?? []).map((_, index) =>
    Math.max(0, ...leadingCells.map(cells => cells[index]?.length ?? 0).filter(length => length <= maxWidth)),
  )
  const indent = widths.reduce((sum, cellWidth) => sum + cellWidth + 2, 2)
  return rows
    .map(row => {
      const head = `  ${row
        .slice(0, -1)
        .map((cell, index) => `${cell.padEnd(widths[index] ?? 0)}  `)
        .join('')}`
      const room = Math.max(width - indent, 20)
      const lines = wrapText(row.at(-1) ?? '', room)
      const [first = '', ...rest] = isCut && lines.length > 1 ? [cutText(row.at(-1) ?? '', room)] : lines
      const start = head.length > indent ? [head, `${' '.repeat(indent)}${first}`] : [`${head}${first}`]
      return [...start, ...rest.map(line => `${' '.repeat(indent)}${line}`)]
        .map(line => `${line.trimEnd()}\n`)
        .join('')
    })
    .join('')
}
