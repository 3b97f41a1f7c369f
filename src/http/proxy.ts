import { usageError } from '../errors.ts'
import type { Environment } from '../host/host.ts'
import { parseUrl } from '../url.ts'

/**
 * Returns the value of an environment variable whose name is in lower or upper case; empty when the
 * variable is not set.
 */
export const readVariable = (env: Environment, name: string): string =>
  env[name.toLowerCase()] || env[name] || ''

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
