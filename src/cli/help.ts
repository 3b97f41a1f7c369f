import { exitCodeList } from '../base/errors.ts'
import { type CommandGroup, loadCommands, type RegisteredCommand } from '../command/command.ts'
import { oppositeOf } from '../command/inputs.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import { outputFormats, printsData } from '../output/output-formats.ts'
import {
  type CommandDoc,
  documentCommand,
  documentOption,
  type OptionDoc,
  otherVariables,
  programSummary,
} from './command-doc.ts'
import { type HelpOptions, type Item, Layout } from './help-layout.ts'
import { globalOptions, helpOption, type ParsedCommandLine, versionOption } from './parse.ts'
import { topics } from './topics.ts'

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

/** Returns the exit codes in a line, grouped by kind: `0 success, 2 wrong usage, 129/130/143 interrupted`. */
function formatExitCodes(exitCodes: readonly number[] | undefined, layout: Layout): string {
  if (exitCodes === undefined)
    return layout.indented('the exit code of the command, or 2 if it cannot be started')
  const codesByMeaning = new Map<string, number[]>()
  for (const { code, kind, ...more } of exitCodeList) {
    const meaning = 'short' in more ? more.short : kind.replaceAll('-', ' ')
    if (exitCodes.includes(code)) codesByMeaning.set(meaning, [...(codesByMeaning.get(meaning) ?? []), code])
  }
  // No line ends between a code and its meaning.
  const texts = [...codesByMeaning].map(([meaning, codes]) => `${codes.join('/')} ${meaning}`)
  return layout.indented(texts.map(text => text.replaceAll(' ', '_')).join(', ')).replaceAll('_', ' ')
}

const maxShortExamples = 2

const maxShortLines = 24

/** The rows of the options that many need, or of the advanced ones. */
const flagsOf = ({ flags }: CommandDoc, advanced = false): readonly OptionDoc[] =>
  joinOpposites(flags.filter(flag => (flag.advanced ?? false) === advanced))

/** The options that name the repository and the branch, where a command sends them or selects by them. */
function placeOptionsOf({ operations, inputs }: RegisteredCommand): readonly OptionDoc[] {
  const isUsed = (key: string) =>
    operations === 'any' ||
    Object.hasOwn(inputs, key) ||
    operations.some(({ params }) => Object.values(params).some(({ setting }) => setting === key))
  return globalOptions
    .filter(
      ({ name }) =>
        (name === '--repo' && isUsed('repo')) || (name === '--target-branch' && isUsed('targetBranch')),
    )
    .map(documentOption)
}

function renderCommandHelp(command: RegisteredCommand, layout: Layout): string {
  const doc = documentCommand(command)
  const alias = doc.alias === undefined ? '' : `Alias: mergeq ${doc.alias}\n`
  const output =
    typeof doc.prints === 'string' ? layout.indented(doc.prints) : layout.items(Object.entries(doc.prints))
  const examples = doc.examples.map(({ line, exit, why }) =>
    why === undefined ? line : `${line}  # exits with ${exit} ${why}`,
  )
  return [
    layout.start(doc.summary, doc.usage) + alias,
    ...layout.section('Arguments', layout.options(doc.arguments)),
    ...layout.section(
      'Flags',
      layout.options([...flagsOf(doc), ...placeOptionsOf(command), documentOption(helpOption)]),
    ),
    ...layout.section('Examples', layout.lines(examples)),
    ...layout.section('Advanced', layout.options(flagsOf(doc, true))),
    ...layout.section('Exit codes', formatExitCodes(doc.exitCodes, layout)),
    ...layout.section('Output', output),
    layout.paragraph('Learn more: mergeq --help, mergeq help topics, mergeq help <topic>'),
  ].join('\n')
}

/** Where the options need more than a screen, they have no ranges and defaults. */
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
      `Run \`mergeq <command> --help\` for a command, \`mergeq help <topic>\` for a topic (${Object.keys(topics).join(', ')}), \`mergeq help <word>\` to search, and \`man mergeq\` for the manual.`,
    ),
  ].join('\n')
}

const toOptionJson = (doc: OptionDoc) => ({
  ...doc,
  value: doc.value === undefined ? undefined : `<${doc.value}>`,
})

async function renderJson(
  commands: readonly RegisteredCommand[],
  groups: readonly CommandGroup[],
  isCommand: boolean,
  { format, out, version }: HelpOptions,
): Promise<string> {
  const { documentSchema } = await import('./json-schema.ts')
  const docs = commands.map(command => {
    const doc = documentCommand(command)
    const examples = doc.examples.map(({ line, exit }) => ({ line, exit }))
    return { ...doc, flags: doc.flags.map(toOptionJson), examples, schema: documentSchema(command) }
  })
  if (format.prints === 'records') return docs.map(doc => `${JSON.stringify(doc)}\n`).join('')
  const program = {
    name: 'mergeq',
    version,
    summary: programSummary,
    groups: groups.filter(group => group.isCommand !== true).map(({ name, summary }) => ({ name, summary })),
    globalFlags: globalOptions.map(option => toOptionJson(documentOption(option))),
    commands: docs,
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
    formats: outputFormats.map(({ name, summary }) => ({ name, summary })),
    exitCodes: exitCodeList.map(({ code, kind, when }) => ({ code, kind, when })),
  }
  return `${JSON.stringify(isCommand ? docs[0] : program, null, out.terminal ? 2 : undefined)}\n`
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
    return renderJson(documented, groups, command !== undefined, options)
  }
  const layout = new Layout(options)
  if (command !== undefined) {
    return layout.isShort
      ? renderShortCommandHelp(documentCommand(command), layout)
      : renderCommandHelp(command, layout)
  }
  return group === undefined
    ? renderRootHelp(groups, layout)
    : renderGroupHelp(group, await loadCommands([group]), layout)
}
