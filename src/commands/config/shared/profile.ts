import type { Cli } from '../../../command/command.ts'
import { storeFile } from '../../../config/store.ts'

/** Returns the selected profile and its file as messages name them: `profile work in /home/ann/.config/...`. */
export const describeProfile = async ({ settings }: Pick<Cli, 'settings'>): Promise<string> =>
  `profile ${await settings.require('profile')} in ${storeFile({ settings })}`
