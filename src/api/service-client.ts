import type { CommandLine } from '../domain/suggested-command.ts'
import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { HttpClient, HttpClientOptions } from '../http/http-client.ts'

interface ServiceClientOptions {
  /** Milliseconds that an attempt may take; undefined is the default of a read or of a change. */
  readonly timeout?: number | undefined
  readonly verbose: boolean
}

export interface RequestLimits {
  readonly maxRetries?: number
  /**
   * Returns the limit in milliseconds of the next attempt; `usual` is the default of a read or of a change.
   */
  timeout?(usual: number): number
}

export interface ServiceLogger {
  debug(text: string): Promise<void>
  info(text: string): Promise<void>
  warn(text: string): Promise<void>
  infoOnce(text: string): Promise<void>
  warnOnce(text: string): Promise<void>
  withSpinner<T>(text: () => string, work: () => Promise<T>): Promise<T>
}

export interface ServiceClient {
  readonly host: Pick<Host, 'clock' | 'interrupted' | 'runtime'>
  readonly options: ServiceClientOptions
  readonly maxRetries: number
  readonly settings: {
    require(name: 'baseUrl'): Promise<string>
    used(): ReadonlyMap<unknown, { readonly value: string; readonly origin: string }>
    /** A command line to suggest in a hint, about the same service and queue. */
    readonly commandLine: CommandLine
  }
  readonly logger: ServiceLogger
  readonly secrets: {
    redact(text: string): string
    redactBytes(bytes: Uint8Array): Uint8Array
  }
  token(): Promise<{ readonly value: string; readonly source: string }>
  httpClient(): Promise<HttpClient>
}

/** Returns the client without messages and progress, for an extra read whose failure is not reported. */
export const withoutMessages = (client: ServiceClient): ServiceClient => {
  const ignore = async () => undefined
  const { debug } = client.logger
  const withSpinner: ServiceLogger['withSpinner'] = (_, work) => work()
  return {
    ...client,
    logger: { debug, info: ignore, warn: ignore, infoOnce: ignore, warnOnce: ignore, withSpinner },
  }
}

interface ConnectionSettings extends Pick<HttpClientOptions, 'isLoopback'> {
  readonly caFile: { readonly path: string | undefined; readonly option: string }
  /** Milliseconds that an attempt may take; undefined for the defaults. */
  readonly timeout: number | undefined
}

interface LazyHttpClient {
  httpClient(): Promise<HttpClient>
  close(): Promise<void>
}

export function createLazyHttpClient(
  host: Host,
  logger: ServiceClient['logger'],
  readSettings: () => Promise<ConnectionSettings>,
): LazyHttpClient {
  let httpClient: Promise<HttpClient> | undefined
  return {
    httpClient() {
      httpClient ??= readSettings().then(settings => openHttpClient(host, logger, settings))
      return httpClient
    },
    async close() {
      // An HTTP client that could not be opened was reported by httpClient().
      await httpClient?.then(
        opened => opened.close(),
        () => undefined,
      )
    },
  }
}

/**
 * Opens the HTTP client of a command or a call. Its module is loaded now, which is the largest part of the
 * start-up time of a request. Throws a usage error for a file of authorities that cannot be read.
 */
async function openHttpClient(
  host: Host,
  logger: ServiceClient['logger'],
  { caFile, timeout, isLoopback }: ConnectionSettings,
): Promise<HttpClient> {
  const authorities = await readAuthorities(caFile, host)
  const { createHttpClient } = await import('../http/http-client.ts')
  if (host.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    await logger.warn('NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified.')
  return createHttpClient({
    ...host,
    limit: timeout ?? Number.POSITIVE_INFINITY,
    authorities,
    isLoopback,
    notify: text => logger.info(text),
  })
}

/** `ca` options would replace the certificates of NODE_EXTRA_CA_CERTS, so these are returned as well. */
async function readAuthorities(
  { path, option }: ConnectionSettings['caFile'],
  { env, files }: Host,
): Promise<readonly string[]> {
  if (path === undefined) return []
  const own = await files.read(path).catch((error: Error) => {
    throw usageError(
      `${option}: ${path} cannot be read: ${error.message}.`,
      'Specify a PEM file with certificates.',
    )
  })
  if (own === undefined)
    throw usageError(`${option}: the file ${path} does not exist.`, 'Specify a PEM file with certificates.')
  const others = env.NODE_EXTRA_CA_CERTS
    ? await files.read(env.NODE_EXTRA_CA_CERTS).catch(() => undefined)
    : undefined
  return others === undefined || others === '' ? [own] : [own, others]
}
