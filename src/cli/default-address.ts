import type { Config } from '../config/settings.ts'
import type { Logger } from '../output/logger.ts'

/** Tells a person who stored nothing where requests go: to the default address, which nobody named. */
export async function announceDefaultAddress(
  settings: Config,
  logger: Pick<Logger, 'infoOnce'>,
): Promise<void> {
  const baseUrl = await settings.require('baseUrl')
  if (settings.used().get('baseUrl')?.origin !== 'default') return
  const { profiles, tokens } = await settings.store.read()
  if (Object.keys({ ...Object(profiles), ...Object(tokens) }).length > 0) return
  await logger.infoOnce(
    `Requests go to ${baseUrl}, the default address. For another one, use --base-url or MERGEQ_BASE_URL.`,
  )
}
