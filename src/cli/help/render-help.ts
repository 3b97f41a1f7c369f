import { isJsonFormat } from '../../domain/output-formats.ts'
import { hintWithSuggestion } from '../../domain/similar-name.ts'
import { usageError } from '../../errors.ts'
import type { OptionDefinition } from '../inputs.ts'
import { type DocumentedCommand, documentCommand, documentOption, replaceLastWord } from './command-doc.ts'
import { toCommandDocJson, toProgramDocJson } from './help-json.ts'
import {
  type HelpGroup,
  type HelpLayout,
  type ProgramDoc,
  renderCommandHelp,
  renderGroupHelp,
  renderRootHelp,
} from './help-text.ts'
import { renderShortCommandHelp, renderShortGroupHelp, renderShortRootHelp } from './short-help.ts'
import { type DocumentedSetting, topics } from './topics.ts'

export interface HelpSource {
  readonly groups: readonly HelpGroup[]
  readonly commands: readonly DocumentedCommand[]
  readonly globalOptions: readonly OptionDefinition[]
  readonly settings: readonly DocumentedSetting[]
}

export interface HelpRequest {
  readonly kind: 'help' | 'completion'
  readonly args: readonly string[]
  readonly isShort?: boolean
}

export interface HelpRenderOptions extends HelpLayout {
  /** `json` and `ndjson` give data; every other format gives text. */
  readonly format: string
  readonly pretty: boolean
}

const summary = 'Work with merge queues and flaky tests from the command line'

export const documentProgram = ({ groups, commands, globalOptions }: HelpSource): ProgramDoc => ({
  summary,
  groups,
  commands,
  flags: globalOptions.map(documentOption),
})

/** Returns the requested documentation. Throws a usage error for an unknown command, topic or shell. */
export async function renderHelp(
  { kind, args, isShort = false }: HelpRequest,
  source: HelpSource,
  options: HelpRenderOptions,
): Promise<string> {
  if (kind === 'completion') {
    const [name = ''] = args
    const { shells } = await import('../completion/shells.ts')
    const shell = shells.find(shell => shell === name.toLowerCase())
    if (shell === undefined)
      throw usageError(
        `There is no completion script for '${name}'.`,
        hintWithSuggestion(name, shells, `Supported shells: ${shells.join(', ')}.`),
      )
    const { completionScripts } = await import('../completion/scripts.ts')
    return completionScripts[shell]
  }
  const name = args.join(' ')
  const topic = Object.entries(topics).find(([topic]) => topic === name)?.[1]
  if (topic !== undefined) return topic(options.width, source.settings)
  const found = source.commands.find(
    ({ command, alias }) => command === name || (alias && replaceLastWord(command, alias) === name),
  )
  if (found === undefined && name !== '' && !source.groups.some(group => group.name === name)) {
    const { hintForHelp } = await import('../corrections/usage-error.ts')
    throw usageError(
      `unknown command or topic '${name}'.`,
      hintForHelp(args, source) ??
        `To list the commands, run: mergeq --help\nTopics: ${Object.keys(topics).join(', ')}`,
    )
  }
  const program = documentProgram(source)
  if (isJsonFormat(options.format)) {
    const commands =
      found === undefined
        ? source.commands.filter(({ command }) => `${command} `.startsWith(name && `${name} `))
        : [found]
    const docs = commands.map(documentCommand)
    if (options.format === 'ndjson')
      return docs.map(doc => `${JSON.stringify(toCommandDocJson(doc))}\n`).join('')
    const [doc] = docs
    const document =
      found === undefined || doc === undefined
        ? toProgramDocJson(program, docs, source.settings)
        : toCommandDocJson(doc)
    return `${JSON.stringify(document, null, options.pretty ? 2 : undefined)}\n`
  }
  if (isShort) {
    if (found !== undefined) return renderShortCommandHelp(documentCommand(found), program, options)
    return name === '' ? renderShortRootHelp(program, options) : renderShortGroupHelp(name, program, options)
  }
  if (found !== undefined) return renderCommandHelp(documentCommand(found), program, options)
  return name === '' ? renderRootHelp(program, options) : renderGroupHelp(name, program, options)
}
