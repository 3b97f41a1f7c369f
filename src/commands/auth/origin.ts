import type { CommandContext } from '../../cli/context.ts'

/** The origin that the base address belongs to. */
export const originOf = async ({ settings }: CommandContext): Promise<string> =>
  new URL(await settings.require('baseUrl')).origin
