import { argument } from '../../../cli/inputs.ts'
import { configKeys, type SettingKey } from '../../../config/setting-definitions.ts'
import { hintWithSuggestion } from '../../../domain/similar-name.ts'
import { usageError } from '../../../errors.ts'

/** A key as it was typed, and the setting that it names. */
interface ConfigKey {
  readonly key: string
  readonly name: SettingKey
}

/** Parses a key of the stored settings. Throws a usage error for an unknown key. */
function parseConfigKey(key: string): ConfigKey {
  const name = configKeys.get(key)
  if (name === undefined) {
    const keys = [...configKeys.keys()]
    throw usageError(
      `'${key}' is not a setting that can be stored.`,
      key === 'token'
        ? 'To store a token, run: mergeq auth login'
        : hintWithSuggestion(key, keys, `Use one of: ${keys.join(', ')}.`),
    )
  }
  return { key, name }
}

/** The argument `<key>` of the `config` commands. */
export const keyArgument = argument({
  name: 'key',
  summary: `Setting: ${[...configKeys.keys()].join(', ')}`,
  choices: [...configKeys.keys()],
  parse: parseConfigKey,
})
