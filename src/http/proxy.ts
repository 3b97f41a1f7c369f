import { usageError } from '../errors.ts'
import type { Environment } from '../host/host.ts'
import { parseUrl } from '../url.ts'

/** The port of an https URL without a port. A proxy is used for https only. */
const httpsPort = 443

/** The name is in lower or upper case. Empty when the variable is not set. */
const readVariable = (env: Environment, name: string): string => env[name.toLowerCase()] || env[name] || ''

/**
 * Returns the proxy in HTTPS_PROXY (or https_proxy), or undefined when the variable is not set. An address
 * without a scheme is an http address. Throws a usage error for an invalid address.
 */
export function proxyFromEnvironment(env: Environment): URL | undefined {
  const value = readVariable(env, 'HTTPS_PROXY')
  if (value === '') return undefined
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`
  const url = parseUrl(address)
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url
  throw usageError(
    'The value of HTTPS_PROXY is not an http or https URL.',
    'Set HTTPS_PROXY to a URL, for example http://proxy.example:3128.',
  )
}

/**
 * Returns whether a host is in NO_PROXY (or no_proxy): `*`, or names with an optional port, separated by
 * commas or white space. A name includes its subdomains.
 */
export function bypassesProxy({ hostname, port }: URL, env: Environment): boolean {
  const list = readVariable(env, 'NO_PROXY')
  return (
    list === '*' ||
    list.split(/[,\s]/).some(entry => {
      const [, name = entry, entryPort = port] = /^(.+):(\d+)$/.exec(entry) ?? []
      const domain = name.replace(/^\*?\./, '').toLowerCase()
      const isSamePort = Number(entryPort || httpsPort) === Number(port || httpsPort)
      return isSamePort && (hostname === domain || (domain !== '' && hostname.endsWith(`.${domain}`)))
    })
  )
}
