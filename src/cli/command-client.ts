import { createLazyHttpClient } from '../api/open-http-client.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { readToken, type Token } from '../config/api-token.ts'
import type { Config } from '../config/config.ts'
import { isLoopback } from '../config/setting-definitions.ts'
import { memoize } from '../domain/memoize.ts'
import type { Host } from '../host/host.ts'
import { createRetryPolicy } from '../http/retry-policy.ts'
import type { Logger } from '../output/logger.ts'
import type { GlobalOptions } from './global-options.ts'

export interface CommandClient extends ServiceClient {
  /** The token for the base address; found on the first call, and redacted in all output from then on. */
  token(): Promise<Token>
  close(): Promise<void>
}

interface ClientParts {
  readonly host: Host
  readonly settings: Config
  readonly options: Pick<GlobalOptions, 'retries' | 'timeout' | 'verbose'>
  readonly logger: Logger
  readonly secrets: ServiceClient['secrets'] & { hide(secret: string): void }
}

/**
 * The HTTP client is loaded for the first request, because loading takes most of a request's start-up time.
 */
export function createCommandClient(parts: ClientParts): CommandClient {
  const { host, settings, secrets, options, logger } = parts
  return {
    ...parts,
    ...createLazyHttpClient(host, logger, async () => ({
      caFile: { path: await settings.read('caFile'), option: '--ca-file' },
      timeout: options.timeout,
      isLoopback,
    })),
    retryPolicy: createRetryPolicy(options.retries),
    token: memoize(() => readToken(host.env, settings, secrets.hide)),
  }
}
