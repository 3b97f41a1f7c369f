import { configKeys, type SettingKey } from '../../config/setting-definitions.ts'
import { hintWithSuggestion } from '../../domain/similar-name.ts'
import { textual } from '../../domain/values/types.ts'
import { usageError } from '../../errors.ts'
import { argument, type FlagInput, flagInput } from '../../run/inputs.ts'

const keys = [...configKeys.keys()]

export const anyText = textual({ expected: 'a string', placeholder: 'text', parse: text => text })

const anyKey = flagInput('key', argument({ ...anyText, choices: keys }, `Setting: ${keys.join(', ')}`))

/** The argument that names a setting: its key, and its name in the program. */
export const keyArgument: FlagInput<{ readonly key: string; readonly name: SettingKey }> = {
  ...anyKey,
  read(args) {
    const key = anyKey.read(args)
    const name = configKeys.get(key)
    if (name === undefined)
      throw usageError(
        `'${key}' is not a setting that can be stored.`,
        key === 'token'
          ? 'To store a token, run: mergeq auth login'
          : hintWithSuggestion(key, keys, `Use one of: ${keys.join(', ')}.`),
      )
    return { key, name }
  },
}
