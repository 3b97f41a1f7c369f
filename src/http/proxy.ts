import { usageError } from '../errors.ts'
import type { Environment } from '../host/host.ts'

/** A variable of the environment, in either case; empty where it is not set. */
export const variable = (env: Environment, name: string): string => env[name.toLowerCase()] || env[name] || ''

/** The proxy that the environment names for https, in either case; an address without its scheme is an http one. */
export function proxyFromEnvironment(env: Environment): URL | undefined {
  const word = variable(env, 'HTTPS_PROXY')
  if (word === '') return undefined
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(word) ? word : `http://${word}`
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return new URL(address)
  throw usageError(
    'The proxy in HTTPS_PROXY is not an http or https address.',
    'For example http://proxy.example:3128.',
  )
}
