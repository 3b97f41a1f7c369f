import { operationName } from '../../src/api/operation.ts'
import { exitCodeList } from '../../src/base/errors.ts'
import type { CommandGroup, RegisteredCommand } from '../../src/command/command.ts'
import { formatArgument, isOption } from '../../src/command/inputs.ts'
import { settingDefinitions } from '../../src/config/setting-definitions.ts'

const escapeCell = (text: string): string => text.replaceAll('|', '\\|')

const renderRow = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`

/** Returns a Markdown table; vertical bars in cells are escaped. */
export const renderTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [renderRow(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(renderRow)].join('\n')

/** Returns the Markdown table of commands: arguments, summary, and operation. */
export const renderCommandTable = (commands: readonly RegisteredCommand[]): string =>
  renderTable(
    ['command', 'description', 'operation'],
    commands.map(({ command, alias, summary, definitions, operation }) => {
      const commandArguments = definitions
        .filter(definition => definition.hidden !== true && !isOption(definition))
        .map(definition => ` ${formatArgument(definition)}`)
      const also = alias === undefined ? '' : ` (also \`${alias}\`)`
      return [
        `\`mergeq ${command}${commandArguments.join('')}\`${also}`,
        summary,
        operation === undefined ? '' : operationName(operation.route),
      ]
    }),
  )

/** Returns the Markdown table of the operations that the API document has, with their commands. */
export const renderDocumentedCommands = (commands: readonly RegisteredCommand[]): string =>
  renderCommandTable(commands.filter(isDocumented))

/** The first command that only sends an operation of the API document, without others: `pr submit`, not `pr land`. */
const isDocumented = (
  { operation }: RegisteredCommand,
  index: number,
  commands: readonly RegisteredCommand[],
): boolean =>
  operation !== undefined &&
  operation.isHostedOnly !== true &&
  commands.findIndex(other => other.operation?.route === operation.route) === index

/** Returns the Markdown table of the groups of commands: what a group is for, and its commands. */
export const renderGroups = (
  groups: readonly CommandGroup[],
  commands: readonly RegisteredCommand[],
): string =>
  renderTable(
    ['group', 'what it is for', 'commands'],
    groups.map(({ name, summary }) => {
      const names = commands.map(({ command }) => command).filter(command => command.startsWith(`${name} `))
      return [`\`mergeq ${name}\``, summary, names.map(command => command.slice(name.length + 1)).join(', ')]
    }),
  )

/** Returns the Markdown table of settings: option, environment variables, default. */
export const renderSettingsTable = (): string =>
  renderTable(
    ['setting', 'option', 'environment', 'default'],
    Object.values(settingDefinitions).map(({ summary, flag, env, default: value, defaultText = value }) => [
      summary,
      flag === undefined ? '' : `\`${flag}\``,
      env.map(name => `\`${name}\``).join(', '),
      defaultText === undefined ? '' : `\`${defaultText}\``,
    ]),
  )

/** Returns the Markdown table of exit codes. */
export const renderExitCodeTable = (): string =>
  renderTable(
    ['code', 'kind', 'meaning'],
    exitCodeList.map(({ code, kind, when }) => [String(code), kind, when]),
  )

/** Returns the Markdown table of the most frequent exit codes. */
export const renderShortExitCodeTable = (): string =>
  renderTable(
    ['code', 'kind', 'meaning', 'what to do'],
    exitCodeList.flatMap(each =>
      'advice' in each ? [[String(each.code), each.kind, each.when, each.advice]] : [],
    ),
  )

/**
 * Returns the text with the part between `<!-- name -->` and `<!-- /name -->` replaced for each name in
 * `parts`. A name whose marks are missing changes nothing.
 */
export const replaceMarkedParts = (text: string, parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts).reduce(
    (result, [name, part]) =>
      result.replace(
        new RegExp(`(<!-- ${name} -->)[^]*?(<!-- /${name} -->)`),
        (_, open: string, close: string) => `${open}\n\n${part}\n\n${close}`,
      ),
    text,
  )
