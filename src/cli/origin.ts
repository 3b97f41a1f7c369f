import type { CommandContext } from './context.ts'

/**
 * Returns the origin of the base address: tokens are stored by origin. Rejects with the error of the
 * `baseUrl` setting when that setting is invalid.
 */
export const readOrigin = async ({ settings }: CommandContext): Promise<string> =>
  new URL(await settings.require('baseUrl')).origin
