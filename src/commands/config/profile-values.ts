import type { CommandContext } from '../../cli/context.ts'
import { sectionOf, storeFile } from '../../config/store.ts'
import type { JsonObject } from '../../json.ts'

/** Changes the values of the profile that is meant. */
export async function changeProfile(
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

/** The profile that is changed and its file, as a sentence names them. */
export const placeOf = async (context: CommandContext): Promise<string> =>
  `profile ${await context.settings.require('profile')} of ${storeFile(context)}`
