import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { HttpClient, HttpClientOptions } from '../http/http-client.ts'
import type { ServiceClient } from './service-client.ts'

/** The settings of an HTTP client that the user can choose. */
export interface ConnectionSettings extends Pick<HttpClientOptions, 'isLoopback'> {
  /** A file of further certificate authorities, and the name of its option for messages. */
  readonly caFile: { readonly path: string; readonly option: string } | undefined
  /** Milliseconds that an attempt may take; undefined for the defaults. */
  readonly timeout: number | undefined
}

/**
 * Opens the HTTP client of a command or a call. Its module is loaded now, which is the largest part of the
 * start-up time of a request. Throws a usage error for a file of authorities that cannot be read.
 */
export async function openHttpClient(
  host: Host,
  logger: ServiceClient['logger'],
  { caFile, timeout, isLoopback }: ConnectionSettings,
): Promise<HttpClient> {
  const authorities = caFile === undefined ? [] : await readAuthorities(caFile, host)
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

/** The certificates of the file, and those of NODE_EXTRA_CA_CERTS, which `ca` options would replace. */
async function readAuthorities(
  { path, option }: NonNullable<ConnectionSettings['caFile']>,
  { env, files }: Host,
): Promise<readonly string[]> {
  const own = await files.read(path).catch((error: Error) => {
    throw usageError(
      `${option}: ${path} cannot be read: ${error.message}.`,
      'Name a PEM file with certificates.',
    )
  })
  if (own === undefined)
    throw usageError(`${option}: the file ${path} does not exist.`, 'Name a PEM file with certificates.')
  const others = await files.read(env.NODE_EXTRA_CA_CERTS || '/dev/null').catch(() => undefined)
  return others === undefined || others === '' ? [own] : [own, others]
}
