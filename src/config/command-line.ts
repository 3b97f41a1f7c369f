import { parseRepository, repositoryKey, repositoryName } from '../values/repository.ts'
import { type CommandLine, type CommandWords, joinCommandLine } from '../values/suggested-command.ts'
import { type SettingKey, settingDefinition } from './setting-definitions.ts'

const flagOf = (name: SettingKey): string => settingDefinition(name).flag ?? ''

/** An option and its value; a word that begins with `-` would not be read as a value. */
const optionWords = (name: string, value: string): CommandWords =>
  value.startsWith('-') ? [`${name}=${value}`] : [name, value]

/**
 * Returns a command line that repeats what was typed; a place that a URL or receipt named replaces its options.
 *
 * @param configured the settings that no option gave: another command has the same
 */
export function suggestCommandLine(
  typed: ReadonlyMap<string, readonly string[]>,
  configured: ReadonlyMap<string, string>,
  ...[words, { repo, targetBranch } = {}, repeated = []]: Parameters<CommandLine>
): string {
  const repeat = (name: string): CommandWords => {
    const [value] = typed.get(name) ?? []
    return value === undefined ? [] : optionWords(name, value)
  }
  const locate = (
    setting: SettingKey,
    wanted: string | null | undefined,
    canonical = (text: string) => text,
  ): CommandWords => {
    const name = flagOf(setting)
    if (wanted === null) return []
    if (wanted === undefined) return repeat(name)
    const isWanted = (text: string | undefined) => text !== undefined && canonical(text) === canonical(wanted)
    if (isWanted(typed.get(name)?.[0])) return repeat(name)
    return isWanted(configured.get(setting)) ? [] : optionWords(name, wanted)
  }
  return joinCommandLine([
    ...words,
    ...locate('repo', repo && repositoryName(repo), text => repositoryKey(parseRepository(text))),
    ...locate('targetBranch', targetBranch),
    ...[flagOf('org'), flagOf('baseUrl'), flagOf('profile'), ...repeated].flatMap(repeat),
  ])
}
