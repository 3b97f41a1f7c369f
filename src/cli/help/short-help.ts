import type { CommandDoc, OptionDoc } from './command-doc.ts'
import {
  groupExamples,
  type HelpLayout,
  joinSections,
  type ProgramDoc,
  renderLines,
  renderOptions,
  renderParagraph,
  renderSection,
  renderSubcommands,
  rootExamples,
} from './help-text.ts'
import { alignColumns } from './text-layout.ts'

const maxExamples = 2

const renderStart = (summary: string, usage: string, layout: HelpLayout): string =>
  `${renderParagraph(summary, layout)}${renderParagraph(`Usage: ${usage}`, layout)}`

const renderEnd = (lines: readonly string[], layout: HelpLayout): string =>
  renderParagraph(`Learn more: ${lines.join(', ')}`, layout)

const maxLines = 24

/** Returns options with each pair of `--batch` and `--no-batch` as one: `--[no-]batch`. */
function joinOpposites(flags: readonly OptionDoc[]): readonly OptionDoc[] {
  const names = new Set(flags.map(({ name }) => name))
  const toOpposite = (name: string) => name.replace('--', '--no-')
  return flags
    .filter(({ name }) => !name.startsWith('--no-') || !names.has(name.replace('--no-', '--')))
    .map(flag =>
      names.has(toOpposite(flag.name)) ? { ...flag, name: flag.name.replace('--', '--[no-]') } : flag,
    )
}

/**
 * Returns the short help of a command: its usage, commands, arguments, options and two examples. Where that
 * is more than a screen, each option has one line.
 */
export function renderShortCommandHelp(
  doc: CommandDoc,
  { commands }: Pick<ProgramDoc, 'commands'>,
  layout: HelpLayout,
): string {
  const examples = doc.examples.slice(0, maxExamples).map(({ line }) => line)
  const renderWith = (options: string): string =>
    joinSections([
      renderStart(doc.summary, doc.usage, layout),
      ...renderSection('Commands', renderSubcommands(doc.command, commands, layout), layout),
      ...renderSection('Arguments', renderOptions(doc.arguments, layout), layout),
      ...renderSection('Flags', options, layout),
      ...renderSection('Examples', renderLines(examples), layout),
      renderEnd([`mergeq ${doc.command} --help`], layout),
    ])
  const text = renderWith(renderOptions(doc.flags, layout))
  const isScreen = text.trimEnd().split('\n').length <= maxLines
  return isScreen ? text : renderWith(renderOptions(joinOpposites(doc.flags), layout, true))
}

export function renderShortGroupHelp(
  name: string,
  { groups, commands }: Pick<ProgramDoc, 'groups' | 'commands'>,
  layout: HelpLayout,
): string {
  const summary = groups.find(group => group.name === name)?.summary ?? ''
  return joinSections([
    renderStart(summary, `mergeq ${name} <command> [flags]`, layout),
    ...renderSection('Commands', renderSubcommands(name, commands, layout), layout),
    ...renderSection('Examples', renderLines(groupExamples(name, commands).slice(0, maxExamples)), layout),
    renderEnd([`mergeq ${name} <command> -h`, `mergeq ${name} --help`], layout),
  ])
}

export function renderShortRootHelp(
  { summary, groups }: Pick<ProgramDoc, 'summary' | 'groups'>,
  layout: HelpLayout,
): string {
  // The last line names `help`.
  const rows = groups.filter(({ name }) => name !== 'help').map(({ name, summary }) => [name, summary])
  return joinSections([
    renderStart(summary, 'mergeq <command> [flags]', layout),
    ...renderSection('Commands', alignColumns(rows, layout.width), layout),
    ...renderSection('Examples', renderLines(rootExamples), layout),
    renderEnd(['mergeq <command> -h', 'mergeq help <topic>', 'mergeq --help'], layout),
  ])
}
