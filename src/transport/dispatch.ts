import { createSecureContext } from 'node:tls'
import type { Dispatcher } from 'undici'
import Agent from 'undici/lib/dispatcher/agent.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import { usage } from '../failure.ts'
import type { Environment } from '../world/world.ts'

const connectLimit = 10_000
const idleLimit = 15_000
const largestHeaders = 16 * 1024

/** The proxy that the environment names for an address, in either case. */
export const proxyIn = (env: Environment): string =>
  variable(env, 'HTTPS_PROXY') || variable(env, 'HTTP_PROXY')

const variable = (env: Environment, name: string): string => env[name.toLowerCase()] || env[name] || ''

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')

/** The options of TLS: certificates are checked whatever the environment says, and a CA of one's own is added. */
function tlsOptions(ca: string | undefined) {
  if (ca === undefined) return { rejectUnauthorized: true }
  const secureContext = createSecureContext()
  try {
    secureContext.context.addCACert(ca)
  } catch {
    throw usage('--ca-file: this is not a certificate in PEM.', 'It begins with -----BEGIN CERTIFICATE-----.')
  }
  return { rejectUnauthorized: true, secureContext }
}

/** Opens dispatchers: a loopback address directly, any other as the environment's proxies say. */
export interface Dispatchers {
  /** The dispatcher for an address; `fresh` gives one with connections of its own, to be destroyed by whoever asked. */
  to(url: URL, fresh: boolean): Dispatcher
  close(): Promise<void>
}

/** Makes dispatchers as they are needed: nothing connects before the first request. */
export function openDispatchers(env: Environment, ca: string | undefined): Dispatchers {
  const tls = tlsOptions(ca)
  const connect = { timeout: connectLimit, autoSelectFamily: true, ...tls }
  const options = { connect, maxHeaderSize: largestHeaders, bodyTimeout: idleLimit, headersTimeout: 0 }
  const proxy = proxyIn(env)
  if (proxy !== '' && !/^https?:$/.test(protocolOf(proxy)))
    throw usage(
      'The proxy in HTTPS_PROXY is not an http or https address.',
      'For example http://proxy.example:3128.',
    )
  const kept = new Map<boolean, Dispatcher>()
  const make = (direct: boolean): Dispatcher =>
    direct || proxy === ''
      ? new Agent(options)
      : new EnvHttpProxyAgent({
          ...options,
          requestTls: connect,
          proxyTls: connect,
          httpProxy: proxy,
          httpsProxy: proxy,
          noProxy: variable(env, 'NO_PROXY'),
        })
  return {
    to({ hostname }, fresh) {
      const direct = isLoopback(hostname)
      if (fresh) return make(direct)
      const standing = kept.get(direct) ?? make(direct)
      kept.set(direct, standing)
      return standing
    },
    close: async () => {
      await Promise.all([...kept.values()].map(dispatcher => dispatcher.destroy()))
    },
  }
}

const protocolOf = (address: string): string => (URL.canParse(address) ? new URL(address).protocol : '')
