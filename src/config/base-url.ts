import { usageError } from '../errors.ts'

/** Whether a host name means this machine: plain http is accepted for these alone, and they are never proxied. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)

/**
 * Reads a base address: absolute, https (http for loopback only), without user name, query or fragment. The result
 * has no slash at its end. What it refuses is a usage failure that never repeats a user name or password.
 */
export function parseBaseUrl(word: string): string {
  const url = URL.canParse(word) ? new URL(word) : null
  const refuse = (why: string) =>
    usageError(`The base address ${why}.`, 'It looks like https://api.trunk.io/v1.')
  if (url === null || !/^https?:$/.test(url.protocol)) throw refuse('must be an absolute https address')
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user name or password')
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(word))
    throw refuse('must not hold a query or fragment')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw refuse(`must be https: http is accepted for this machine only, not for ${url.host}`)
  return url.href.replace(/\/+$/, '')
}
