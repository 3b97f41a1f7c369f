import type { ServiceClient } from '../api/service-client.ts'
import { findToken, refuseForeignAddress, type Token } from '../config/api-token.ts'
import { isLoopback } from '../config/base-url.ts'
import type { Config } from '../config/config.ts'
import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { HttpClient } from '../http/http-client.ts'
import { createRetryPolicy } from '../http/retry-policy.ts'
import type { Logger } from '../output/logger.ts'
import type { GlobalOptions } from './global-options.ts'

/** The client of a command; `callOperation` takes it. */
export interface CommandClient extends ServiceClient {
  /** The token for the base address; found on the first call, and redacted in all output from then on. */
  token(): Promise<Token>
  close(): Promise<void>
}

/** What a client is created from. */
interface ClientParts {
  readonly host: Host
  readonly settings: Config
  readonly options: GlobalOptions
  readonly logger: Logger
  readonly secrets: ServiceClient['secrets'] & { hide(secret: string): void }
}

/**
 * Creates the client of a command. The HTTP client is loaded for the first request: loading it is the largest
 * part of a request's start-up time.
 */
export function createCommandClient(parts: ClientParts): CommandClient {
  const { host, settings, secrets, options } = parts
  let token: Promise<Token> | undefined
  let httpClient: Promise<HttpClient> | undefined
  return {
    ...parts,
    retryPolicy: createRetryPolicy(options.retries),
    token() {
      token ??= settings.require('baseUrl').then(async baseUrl => {
        const apiToken = await findToken(host.env, baseUrl, settings.store)
        secrets.hide(apiToken.value)
        refuseForeignAddress(apiToken, await settings.find('baseUrl'))
        return apiToken
      })
      return token
    },
    httpClient() {
      httpClient ??= openHttpClient(parts)
      return httpClient
    },
    async close() {
      // An HTTP client that could not be created was reported by httpClient().
      await httpClient?.then(
        opened => opened.close(),
        () => undefined,
      )
    },
  }
}

async function openHttpClient({ settings, options, logger, host }: ClientParts): Promise<HttpClient> {
  const caFile = await settings.read('caFile')
  const authorities = caFile === undefined ? [] : await readAuthorities(caFile, host)
  const { createHttpClient } = await import('../http/http-client.ts')
  if (host.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    await logger.warn('NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing here: certificates are checked.')
  return createHttpClient({
    ...host,
    limit: options.timeout ?? Number.POSITIVE_INFINITY,
    authorities,
    isLoopback,
    notify: text => logger.info(text),
  })
}

/** The certificates of --ca-file, and those of NODE_EXTRA_CA_CERTS, which `ca` options would replace. */
async function readAuthorities(caFile: string, { env, files }: Host): Promise<readonly string[]> {
  const hint = 'Name a file of certificates in PEM.'
  const own = await files.read(caFile).catch((error: Error) => {
    throw usageError(`--ca-file: ${caFile} cannot be read: ${error.message}.`, hint)
  })
  if (own === undefined) throw usageError(`--ca-file: there is no file ${caFile}.`, hint)
  const extra = await files.read(env.NODE_EXTRA_CA_CERTS || '/dev/null').catch(() => undefined)
  return extra === undefined || extra === '' ? [own] : [own, extra]
}
