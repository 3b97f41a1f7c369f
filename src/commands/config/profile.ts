import type { Cli } from '../../cli/cli.ts'
import { sectionOf, storeFile, updateStore } from '../../config/store.ts'
import type { JsonObject } from '../../json.ts'

/** Replaces the stored values of the selected profile with the result of `change`. */
export async function updateProfile(
  { host, settings }: Cli,
  change: (values: JsonObject) => JsonObject,
): Promise<void> {
  const profile = await settings.require('profile')
  await updateStore(host, document => {
    const profiles = sectionOf(document, 'profiles')
    return { ...document, profiles: { ...profiles, [profile]: change(sectionOf(profiles, profile)) } }
  })
}

/** Returns the selected profile and its file as messages name them: `profile work in /home/ann/.config/...`. */
export const describeProfile = async ({ settings }: Cli): Promise<string> =>
  `profile ${await settings.require('profile')} in ${storeFile({ settings })}`
