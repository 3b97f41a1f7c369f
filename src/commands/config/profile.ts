import type { CommandContext } from '../../cli/context.ts'
import { argument, type TypedInput } from '../../cli/inputs.ts'
import { configKeys, type SettingKey } from '../../config/setting-definitions.ts'
import { profileIn, sectionOf, storeFile } from '../../config/store.ts'
import { queueSettings, settingOption } from '../../domain/queue-settings.ts'
import { hintWithSuggestion } from '../../domain/similar-name.ts'
import { joinCommandLine } from '../../domain/suggested-command.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'

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

/** The argument that names a setting: its key, and its name in the program. */
export const keyArgument: TypedInput<{ readonly key: string; readonly name: SettingKey }> = {
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

/** Replaces the stored values of the selected profile with the result of `change`. */
export async function updateProfile(
  context: CommandContext,
  change: (values: JsonObject) => JsonObject,
): Promise<void> {
  const profile = await context.settings.require('profile')
  const { updateStore } = await import('../../config/store-update.ts')
  await updateStore(context.host, document => {
    const profiles = sectionOf(document, 'profiles')
    return { ...document, profiles: { ...profiles, [profile]: change(sectionOf(profiles, profile)) } }
  })
}

/** Returns the stored values of the selected profile. Rejects with a usage error for an unknown profile. */
export const readProfile = async ({ settings }: CommandContext): Promise<JsonObject> =>
  profileIn(await settings.store.read(), await settings.require('profile'))

/**
 * Returns the selected profile and its file as messages name them: `profile work in /home/ann/.config/...`.
 */
export const describeProfile = async (context: CommandContext): Promise<string> =>
  `profile ${await context.settings.require('profile')} in ${storeFile(context)}`
