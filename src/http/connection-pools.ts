import { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { buildConnector, Dispatcher } from 'undici'
import connectBy from 'undici/lib/api/api-connect.js'
import buildConnectorBy from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import DispatcherBase from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import type { Environment } from '../host/host.ts'
import { connectLimit, type Preconnect } from './preconnect.ts'
import { proxyFromEnvironment, variable } from './proxy.ts'

// The proxy agent asks its dispatchers to `connect`, which only the whole package would give them.
Object.assign(DispatcherBase.prototype, { connect: connectBy })

type Connector = buildConnector.connector

/** Connecting takes at most so many milliseconds. */
export const idleLimit = 15_000
const maxHeaderSize = 16 * 1024

/** Authorities that certificates are checked against: those of Node, and further ones in PEM. Making them takes a while. */
export async function createTrust(certificates: readonly string[]): Promise<SecureContext> {
  const { createSecureContext } = await import('node:tls')
  const secureContext = createSecureContext()
  for (const one of certificates) secureContext.context.addCACert(one)
  return secureContext
}

/** How connections are made. */
export interface ConnectOptions {
  /** Whether a host is this machine: it is never reached through a proxy. */
  isLoopback(hostname: string): boolean
  /** Bounds connecting, in milliseconds. */
  readonly limit?: number
  /** What https trusts; Node's own authorities where this is left out. */
  readonly secureContext?: SecureContext | undefined
  /** The connection that the first direct way begins with. */
  readonly preconnect?: Preconnect | undefined
}

/** A way to an address; whoever got a fresh one ends it. */
export interface ConnectionPool {
  readonly dispatcher: Dispatcher
  /** The bytes that have come on all its connections. */
  received(): number
  close(): Promise<void>
}

/** A way that lets one more connection be made for each attempt. */
interface ProxyPool extends ConnectionPool {
  allow(): void
}

/** The ways to the service: a loopback address directly, any other as the environment's proxy says. */
export interface ConnectionPools {
  /** The way to an address; a fresh one has connections of its own. */
  poolFor(url: URL, fresh: boolean): ConnectionPool
  close(): Promise<void>
}

/** Opens ways as they are needed. Certificates are checked whatever the environment says. */
export function createConnectionPools(
  env: Environment,
  { isLoopback, limit = connectLimit, secureContext, preconnect }: ConnectOptions,
): ConnectionPools {
  const connect = {
    timeout: limit,
    autoSelectFamily: true,
    rejectUnauthorized: true,
    ...(secureContext === undefined ? {} : { secureContext }),
  }
  const options = { connect, maxHeaderSize, bodyTimeout: idleLimit, headersTimeout: 0 }
  const proxy = proxyFromEnvironment(env)
  const kept = new Map<boolean, ProxyPool>()
  const make = (direct: boolean): ProxyPool => {
    if (direct || proxy === undefined) {
      const { connector, received, drop } = trackedConnector(connect, preconnect)
      const agent = new Agent({ ...options, connect: connector })
      return {
        dispatcher: agent,
        received,
        allow: () => undefined,
        async close() {
          drop()
          await agent.destroy()
        },
      }
    }
    const { allow, factory, received, drop } = limitedProxyPools()
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
      received,
      allow,
      async close() {
        drop()
        await agent.destroy()
      },
    }
  }
  return {
    poolFor({ hostname }, fresh) {
      const direct = isLoopback(hostname)
      const way = (fresh ? undefined : kept.get(direct)) ?? make(direct)
      if (!fresh) kept.set(direct, way)
      way.allow()
      return way
    },
    close: async () => {
      preconnect?.drop()
      await Promise.all([...kept.values()].map(way => way.close()))
    },
  }
}

const bytesReadOn = (sockets: Iterable<Socket>): number => {
  let bytes = 0
  for (const socket of sockets) bytes += socket.bytesRead
  return bytes
}

/** Connections that can be dropped while they are still being made: an unanswered handshake would keep us alive. */
function trackedConnector(options: buildConnector.BuildOptions, early: Preconnect | undefined) {
  const connect = buildConnectorBy(options)
  const sockets = new Set<Socket>()
  const watched: Connector = (target, callback) => {
    const socket: unknown = connect(target, callback)
    if (socket instanceof Socket) sockets.add(socket)
    return socket
  }
  const connector: Connector = (target, callback) =>
    early?.adopt(watched, target, callback) === true ? early : watched(target, callback)
  return {
    connector,
    received: () => bytesReadOn(sockets),
    drop: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Connections to a proxy, one for each attempt: undici would ask a proxy that resets for another at once, for ever, and
 * leaves one open whose CONNECT got no answer.
 */
function limitedProxyPools() {
  const sockets = new Set<Socket>()
  let allowed = 0
  return {
    allow: () => {
      allowed++
    },
    received: () => bytesReadOn(sockets),
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
