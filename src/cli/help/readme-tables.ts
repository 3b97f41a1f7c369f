import { operationName } from '../../api/operation.ts'
import { exitCodeList } from '../../errors.ts'
import { type DocumentedCommand, isOption } from './command-doc.ts'
import type { DocumentedSetting } from './topics.ts'

const escaped = (text: string): string => text.replaceAll('|', '\\|')

const rowOf = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [rowOf(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(rowOf)].join('\n')

/** Every command with its arguments, what it does, and the operation that it sends. */
export const commandTable = (commands: readonly DocumentedCommand[]): string =>
  tableOf(
    ['command', 'what it does', 'operation'],
    commands.map(({ command, alias, summary, words, route }) => {
      const typed = words
        .filter(word => word.hidden !== true && !isOption(word))
        .map(({ syntax }) => ` ${syntax}`)
      const also = alias === undefined ? '' : ` (also \`${alias}\`)`
      return [
        `\`mergeq ${command}${typed.join('')}\`${also}`,
        summary,
        route === undefined ? '' : operationName(route),
      ]
    }),
  )

/** Every setting: its flag, its variables, its default. */
export const settingsTable = (settings: readonly DocumentedSetting[]): string =>
  tableOf(
    ['setting', 'flag', 'environment', 'default'],
    settings.map(({ summary, flag, env, defaultValue }) => [
      summary,
      flag === undefined ? '' : `\`${flag}\``,
      env.map(name => `\`${name}\``).join(', '),
      defaultValue === undefined ? '' : `\`${defaultValue}\``,
    ]),
  )

/** The exit codes. */
export const exitCodeTable = (): string =>
  tableOf(
    ['code', 'kind', 'when'],
    exitCodeList.map(({ code, kind, when }) => [String(code), kind, when]),
  )

/** The text with each part between `<!-- name -->` and `<!-- /name -->` made anew. */
export const withParts = (text: string, parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts).reduce(
    (made, [name, part]) =>
      made.replace(
        new RegExp(`(<!-- ${name} -->)[^]*?(<!-- /${name} -->)`),
        (_, open: string, close: string) => `${open}\n\n${part}\n\n${close}`,
      ),
    text,
  )
