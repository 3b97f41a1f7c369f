import type { CommandContext } from '../../../cli/context.ts'
import { profileIn, sectionOf, storeFile } from '../../../config/store.ts'
import type { JsonObject } from '../../../json.ts'

/** Replaces the stored values of the selected profile with the result of `change`. */
export async function updateProfile(
  context: CommandContext,
  change: (values: JsonObject) => JsonObject,
): Promise<void> {
  const profile = await context.settings.require('profile')
  const { updateStore } = await import('../../../config/store-update.ts')
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
