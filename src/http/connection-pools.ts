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
import { bypassesProxy, proxyFromEnvironment } from './proxy.ts'

// The proxy agent calls `connect` of its dispatchers; only the main module of undici adds that method.
Object.assign(DispatcherBase.prototype, { connect: connectBy })

type Connector = buildConnector.connector

/** The longest pause between two pieces of a response body, in milliseconds. */
export const idleLimit = 15_000
/** The largest response header, in bytes. */
const maxHeaderSize = 16 * 1024

/** Certificates are in PEM. Building the context takes several milliseconds. */
export async function createTrust(certificates: readonly string[]): Promise<SecureContext> {
  const { createSecureContext } = await import('node:tls')
  const secureContext = createSecureContext()
  for (const certificate of certificates) secureContext.context.addCACert(certificate)
  return secureContext
}

export interface ConnectOptions {
  /** Returns whether a host is this machine; a loopback host is never reached through a proxy. */
  isLoopback(hostname: string): boolean
  /** The time limit for opening a connection, in milliseconds. */
  readonly limit?: number
  readonly secureContext?: SecureContext | undefined
  readonly preconnect?: Preconnect | undefined
}

/** Connections to an address. The caller closes a pool that was created with `isFresh`. */
export interface ConnectionPool {
  readonly dispatcher: Dispatcher
  received(): number
  close(): Promise<void>
}

/** A pool that may open one more connection to the proxy for each attempt. */
interface ProxyPool extends ConnectionPool {
  allow(): void
}

export interface ConnectionPools {
  /** Returns the pool for an address; with `isFresh` a new pool whose connections are not shared. */
  poolFor(url: URL, isFresh: boolean): ConnectionPool
  close(): Promise<void>
}

/** Creates pools on demand. Certificates are validated whatever the environment says. */
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
  const sharedPools = new Map<boolean, ProxyPool>()
  const createPool = (isDirect: boolean): ProxyPool => {
    if (isDirect || proxy === undefined) {
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
      // The hosts of NO_PROXY have a direct pool.
      noProxy: '',
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
    poolFor(url, isFresh) {
      const isDirect = isLoopback(url.hostname) || bypassesProxy(url, env)
      const pool = (isFresh ? undefined : sharedPools.get(isDirect)) ?? createPool(isDirect)
      if (!isFresh) sharedPools.set(isDirect, pool)
      pool.allow()
      return pool
    },
    close: async () => {
      preconnect?.drop()
      await Promise.all([...sharedPools.values()].map(pool => pool.close()))
    },
  }
}

const countBytesRead = (sockets: Iterable<Socket>): number => {
  let bytes = 0
  for (const socket of sockets) bytes += socket.bytesRead
  return bytes
}

/** Drops connections during their handshake: one that gets no response would keep the process alive. */
function trackedConnector(options: buildConnector.BuildOptions, preconnect: Preconnect | undefined) {
  const connect = buildConnectorBy(options)
  const sockets = new Set<Socket>()
  const trackedConnect: Connector = (target, callback) => {
    const socket: unknown = connect(target, callback)
    if (socket instanceof Socket) sockets.add(socket)
    return socket
  }
  const connector: Connector = (target, callback) =>
    preconnect?.adopt(trackedConnect, target, callback) === true
      ? preconnect
      : trackedConnect(target, callback)
  return {
    connector,
    received: () => countBytesRead(sockets),
    drop: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Returns a factory of proxy pools with one connection for each attempt. Without this limit undici
 * reconnects endlessly to a proxy that resets connections, and leaves a connection open whose CONNECT got
 * no response.
 */
function limitedProxyPools() {
  const sockets = new Set<Socket>()
  let allowed = 0
  return {
    allow: () => {
      allowed++
    },
    received: () => countBytesRead(sockets),
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
