import { usageError } from '../errors.ts'
import { parseUrl } from '../url.ts'

/**
 * Returns whether a host name means this machine. Plain http is accepted for these hosts only, and they are
 * never reached through a proxy.
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)

/**
 * Parses a base address: absolute, https (http for loopback only), without user name, query and fragment.
 * Returns it without a slash at its end. Throws a usage error that never repeats a user name or password.
 */
export function parseBaseUrl(text: string): string {
  const url = parseUrl(text)
  const invalid = (reason: string) =>
    usageError(`The base URL ${reason}.`, 'For example: https://api.trunk.io/v1')
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw invalid('must be an absolute https URL')
  if (url.username !== '' || url.password !== '') throw invalid('must not contain a user name or password')
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text))
    throw invalid('must not contain a query or fragment')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw invalid(`must use https: http is allowed only for this machine, not for ${url.host}`)
  return url.href.replace(/\/+$/, '')
}
