import type { CommandContext } from './context.ts'

/** Tokens are stored by origin. Rejects with the error of the `baseUrl` setting. */
export const readOrigin = async ({ settings }: CommandContext): Promise<string> =>
  new URL(await settings.require('baseUrl')).origin
