import { argument, type TypedInput } from '../../../cli/inputs.ts'
import { configKeys, type SettingKey } from '../../../config/setting-definitions.ts'
import { queueSettings, settingOption } from '../../../domain/queue-settings.ts'
import { hintWithSuggestion } from '../../../domain/similar-name.ts'
import { joinCommandLine } from '../../../domain/suggested-command.ts'
import { usageError } from '../../../errors.ts'

interface ConfigKey {
  readonly key: string
  readonly name: SettingKey
}

const keys = [...configKeys.keys()]

/** Returns the hint for an unknown key, and for the value that was typed for it, if any. */
function hintForKey(key: string, value: string | undefined): string {
  if (key === 'token') return 'To store a token, run: mergeq auth login'
  const option = settingOption(key)
  const setting = key.replace(/-./g, letters => letters.slice(1).toUpperCase())
  if (!Object.hasOwn(queueSettings, setting))
    return hintWithSuggestion(key, keys, `Use one of: ${keys.join(', ')}.`)
  if (value === undefined)
    return `'${key}' is a queue setting. To see its value, run: mergeq queue get --fields ${setting}`
  const options = /^(?:true|false)$/.test(value)
    ? [`--${value === 'false' ? 'no-' : ''}${option}`]
    : [`--${option}`, value]
  return `'${key}' is a queue setting. To change it, run: ${joinCommandLine(['queue', 'update', ...options])}`
}

const definition = argument({
  name: 'key',
  summary: `Setting: ${keys.join(', ')}`,
  choices: keys,
  parse: text => text,
})

export const keyArgument: TypedInput<ConfigKey> = {
  ...definition,
  read(args) {
    const key = definition.read(args)
    const name = configKeys.get(key)
    if (name === undefined)
      throw usageError(
        `'${key}' is not a setting that can be stored.`,
        hintForKey(key, args.get('value')?.[0]),
      )
    return { key, name }
  },
}
