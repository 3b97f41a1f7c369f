import { argument } from '../../../cli/inputs.ts'
import { configKeys, type SettingKey } from '../../../config/setting-definitions.ts'
import { usageError } from '../../../errors.ts'

/** A key as it was typed, and the setting that it names. */
interface ConfigKey {
  readonly key: string
  readonly name: SettingKey
}

/** Parses a key of the stored settings. Throws a usage error for an unknown key. */
function parseConfigKey(key: string): ConfigKey {
  const name = configKeys.get(key)
  if (name === undefined)
    throw usageError(
      `'${key}' is no key of the stored settings.`,
      `The keys are ${[...configKeys.keys()].join(', ')}.${key === 'token' ? ' A token is stored with `mergeq auth login`.' : ''}`,
    )
  return { key, name }
}

/** The argument `<key>` of the `config` commands. */
export const keyArgument = argument({
  name: 'key',
  summary: `Setting: ${[...configKeys.keys()].join(', ')}`,
  choices: [...configKeys.keys()],
  parse: parseConfigKey,
})
