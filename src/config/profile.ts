import type { Logger } from '../output/logger.ts'
import type { Config } from './settings.ts'
import { storeFile } from './store.ts'

/** Returns which profile is used and why: `work (MERGEQ_PROFILE)`. */
export async function profileAndOrigin(settings: Pick<Config, 'find' | 'require'>): Promise<string> {
  const [profile, found] = [await settings.require('profile'), await settings.find('profile')]
  const origin = found?.origin ?? 'default'
  return origin === 'default' ? profile : `${profile} (${origin})`
}

/** Returns the selected profile and its file as messages name them: `profile work in /home/ann/.config/...`. */
export const describeProfile = async (settings: Pick<Config, 'require' | 'store'>): Promise<string> =>
  `profile ${await settings.require('profile')} in ${storeFile({ settings })}`

/** Says which profile is used and why, where it is not the default one. */
export async function logProfile({
  settings,
  logger,
}: {
  readonly settings: Pick<Config, 'find' | 'require'>
  readonly logger: Pick<Logger, 'info'>
}): Promise<void> {
  const text = await profileAndOrigin(settings)
  if (text !== 'default') await logger.info(`Profile: ${text}.`)
}
