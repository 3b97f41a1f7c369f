import { X509Certificate } from 'node:crypto'
import { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { buildConnector, Dispatcher } from 'undici'
import connectBy from 'undici/lib/api/api-connect.js'
import buildConnectorBy from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import DispatcherBase from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import { usage } from '../failure.ts'
import type { Environment } from '../world/world.ts'

// The proxy agent asks its dispatchers to `connect`, which only the whole package would give them.
Object.assign(DispatcherBase.prototype, { connect: connectBy })

type Connector = buildConnector.connector

const connectLimit = 10_000
const idleLimit = 15_000
const largestHeaders = 16 * 1024

const variable = (env: Environment, name: string): string => env[name.toLowerCase()] || env[name] || ''

/** The proxy that the environment names for https, in either case; an address without its scheme is an http one. */
export function proxyIn(env: Environment): URL | undefined {
  const word = variable(env, 'HTTPS_PROXY')
  if (word === '') return undefined
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(word) ? word : `http://${word}`
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return new URL(address)
  throw usage(
    'The proxy in HTTPS_PROXY is not an http or https address.',
    'For example http://proxy.example:3128.',
  )
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)

/** The certificates in a text, each checked; anything else in it is left alone. */
function certificatesIn(pem: string): readonly string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  try {
    for (const one of found) new X509Certificate(one)
  } catch {
    throw usage('--ca-file: a certificate in it is damaged.', 'Get the file again; it is PEM.')
  }
  return found
}

/** The options of TLS: certificates are checked whatever the environment says, and further authorities are added. */
function tlsOptions(authorities: readonly string[]) {
  if (authorities.length === 0) return { rejectUnauthorized: true }
  const secureContext = createSecureContext()
  for (const pem of authorities) {
    const certificates = certificatesIn(pem)
    if (certificates.length === 0)
      throw usage(
        '--ca-file: there is no certificate in it.',
        'It is PEM, and begins with -----BEGIN CERTIFICATE-----.',
      )
    for (const one of certificates) secureContext.context.addCACert(one)
  }
  return { rejectUnauthorized: true, secureContext }
}

/** A way to an address; whoever got a fresh one ends it. */
export interface Way {
  readonly dispatcher: Dispatcher
  end(): Promise<void>
}

/** A way that lets one more connection be made for each attempt. */
interface Watched extends Way {
  allow(): void
}

/** The ways to the service: a loopback address directly, any other as the environment's proxy says. */
export interface Ways {
  /** The way to an address; a fresh one has connections of its own. */
  to(url: URL, fresh: boolean): Way
  /** The host of the proxy that stands before an address; undefined where none does. */
  proxyOf(url: URL): string | undefined
  close(): Promise<void>
}

/** Opens ways as they are needed: nothing connects before the first request. `limit` bounds connecting, too. */
export function openWays(env: Environment, authorities: readonly string[] = [], limit = connectLimit): Ways {
  const connect = {
    timeout: Math.min(connectLimit, limit),
    autoSelectFamily: true,
    ...tlsOptions(authorities),
  }
  const options = { connect, maxHeaderSize: largestHeaders, bodyTimeout: idleLimit, headersTimeout: 0 }
  const proxy = proxyIn(env)
  const kept = new Map<boolean, Watched>()
  const make = (direct: boolean): Watched => {
    if (direct || proxy === undefined) {
      const { connector, drop } = watchedConnector(connect)
      const agent = new Agent({ ...options, connect: connector })
      return {
        dispatcher: agent,
        allow: () => undefined,
        async end() {
          drop()
          await agent.destroy()
        },
      }
    }
    const { allow, factory, drop } = watchedPools()
    const agent = new EnvHttpProxyAgent({
      ...options,
      requestTls: connect,
      proxyTls: connect,
      httpProxy: proxy.href,
      httpsProxy: proxy.href,
      noProxy: variable(env, 'NO_PROXY'),
      clientFactory: factory,
    })
    return {
      dispatcher: agent,
      allow,
      async end() {
        drop()
        await agent.destroy()
      },
    }
  }
  return {
    to({ hostname }, fresh) {
      const direct = isLoopback(hostname)
      const way = (fresh ? undefined : kept.get(direct)) ?? make(direct)
      if (!fresh) kept.set(direct, way)
      way.allow()
      return way
    },
    proxyOf: ({ hostname }) => (isLoopback(hostname) ? undefined : proxy?.host),
    close: async () => {
      await Promise.all([...kept.values()].map(way => way.end()))
    },
  }
}

/** Connections that can be dropped while they are still being made: an unanswered handshake would keep us alive. */
function watchedConnector(options: buildConnector.BuildOptions) {
  const connect = buildConnectorBy(options)
  const sockets = new Set<Socket>()
  const connector: Connector = (target, callback) => {
    const socket: unknown = connect(target, callback)
    if (socket instanceof Socket) sockets.add(socket)
    return socket
  }
  return {
    connector,
    drop: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Connections to a proxy, one for each attempt: undici would ask a proxy that resets for another at once, for ever, and
 * leaves one open whose CONNECT got no answer.
 */
function watchedPools() {
  const sockets = new Set<Socket>()
  let allowed = 0
  return {
    allow: () => {
      allowed++
    },
    drop: () => {
      for (const socket of sockets) socket.destroy()
    },
    factory: (origin: URL, { connect }: { readonly connect: Connector }) =>
      new Pool(origin, {
        connect(options, callback) {
          if (allowed-- <= 0) {
            callback(
              Object.assign(new Error('the proxy closed the connection'), { code: 'ECONNRESET' }),
              null,
            )
            return
          }
          connect(options, (...result) => {
            const [, socket] = result
            if (socket) sockets.add(socket)
            callback(...result)
          })
        },
      }),
  }
}
