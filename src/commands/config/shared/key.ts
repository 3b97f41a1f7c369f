import { usageError } from '../../../base/errors.ts'
import { argument, type Input, optionInput } from '../../../command/inputs.ts'
import { configKeys, type SettingKey } from '../../../config/setting-definitions.ts'
import { hintWithSuggestion } from '../../../values/similar-name.ts'
import { textual } from '../../../values/types.ts'

const keys = [...configKeys.keys()]

export const settingText = textual({ expected: 'a string', placeholder: 'text', parse: text => text })

const anyKey = optionInput('key', argument({ ...settingText, choices: keys }, `Setting: ${keys.join(', ')}`))

/** Returns the name of a setting in the program. Throws a usage error for a key that is none. */
function nameOfKey(key: string): SettingKey {
  const name = configKeys.get(key)
  if (name !== undefined) return name
  throw usageError(
    `'${key}' is not a setting that can be stored.`,
    key === 'token'
      ? 'To store a token, use auth login.'
      : hintWithSuggestion(key, keys, `Use one of: ${keys.join(', ')}.`),
  )
}

/** The argument that names a setting: its key, and its name in the program. */
export const keyArgument: Input<{ readonly key: string; readonly name: SettingKey }> = {
  ...anyKey,
  read(args) {
    const key = anyKey.read(args)
    return { key, name: nameOfKey(key) }
  },
}

export const keyArguments: Input<readonly string[]> = {
  definitions: anyKey.definitions.map(definition => ({ ...definition, variadic: true })),
  read(args) {
    const typed = args.get('key') ?? []
    for (const key of typed) nameOfKey(key)
    return typed
  },
}
