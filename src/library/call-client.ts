import { createLazyHttpClient } from '../api/open-http-client.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { readToken } from '../config/api-token.ts'
import { type Config, type ResolveOptions, resolveSettings } from '../config/config.ts'
import { isLoopback } from '../config/setting-definitions.ts'
import type { SettingSource } from '../config/setting-source.ts'
import { memoize } from '../domain/memoize.ts'
import type { Host } from '../host/host.ts'
import { createRetryPolicy } from '../http/retry-policy.ts'
import { createLogger } from '../output/logger.ts'
import type { Redactor } from '../output/redactor.ts'

export interface CallClient extends ServiceClient {
  readonly host: Host
  readonly settings: Config
  close(): Promise<void>
}

/** Creates the client of a call; the settings that the caller gives come first. */
export async function createCallClient(
  given: SettingSource,
  host: Host,
  secrets: Redactor,
  purpose: Pick<ResolveOptions, 'changes'>,
): Promise<CallClient> {
  const logger = createLogger(host.err, { quiet: false, verbose: false, json: true })
  const settings = resolveSettings(given, host, {
    ...purpose,
    changesSettings: false,
    notify: text => logger.info(text),
  })
  const storeError = settings.store.readError()
  if (storeError !== undefined) await logger.warn(`${storeError.message} Continuing without stored settings.`)
  const options = {
    timeout: await settings.read('timeout'),
    verbose: false,
  }
  return {
    ...createLazyHttpClient(host, logger, async () => ({
      caFile: { path: await settings.read('caFile'), option: 'caFile' },
      timeout: options.timeout,
      isLoopback,
    })),
    host,
    settings,
    options,
    retryPolicy: createRetryPolicy(await settings.require('retries')),
    logger,
    secrets,
    token: memoize(() => readToken(host.env, settings, secrets.hide)),
  }
}
