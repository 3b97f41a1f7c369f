import { isIP, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { buildConnector, Dispatcher } from 'undici'
import connectBy from 'undici/lib/api/api-connect.js'
import requestBy from 'undici/lib/api/api-request.js'
import buildConnectorBy from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import type { AuthoritiesOptions } from './certificates.ts'
import { connectLimit, lookupAddress } from './early-connection.ts'
import {
  decompress,
  type HttpRequest,
  type HttpResponse,
  maxErrorBody,
  readBody,
  responseTooLargeError,
} from './messages.ts'
import { ProxyConnectionError, proxyAuthorization } from './proxy.ts'
import { timeLimitCode } from './transport-error.ts'

/** The longest pause between two pieces of an upload, in milliseconds. */
const uploadIdleLimit = 15_000
/** The largest request body that is sent as one piece, in bytes. */
const maxSinglePiece = 64 * 1024
/** The size of the pieces of a larger body, in bytes. Each piece that is sent restarts the upload timer. */
const chunkSize = 256 * 1024

/** The interval at which received bytes are counted, in milliseconds. */
const countInterval = 50
/**
 * The number of bytes that a connection pool may receive for a response body of at most `max` bytes. Up to
 * four pages of records share a pool, and chunks, headers and encryption add bytes. The limit stops a flood
 * of bytes that are not part of a body.
 */
const maxOnWire = (max: number): number => Math.min(5 * max, max + 64 * 1024 * 1024) + 1024 * 1024

export interface Attempt {
  readonly request: HttpRequest
  readonly headers: Readonly<Record<string, string>>
  /** The time limit in milliseconds, without the upload. */
  readonly limit: number
  /** The time limit with connection and upload, in milliseconds; infinite where only `limit` counts. */
  readonly wholeLimit: number
  readonly interrupted: AbortSignal
  /** Whether it is observed when the request is handed to a connection: before, no part of it can have been applied. */
  readonly isObserved: boolean
  /** Whether it was handed to a connection, as far as that is observed. */
  hasBegun: boolean
  hasHead: boolean
}

/** Rejects with the error of undici, with the time limit error, or with the reason of `interrupted`. */
export async function sendOnce(
  { dispatcher, received }: ConnectionPool,
  attempt: Attempt,
): Promise<HttpResponse> {
  const { request, headers, limit, wholeLimit, interrupted } = attempt
  const { origin, pathname, search, host } = new URL(request.url)
  const timer = createAttemptTimer(wholeLimit)
  const stop = () => timer.abort(interrupted.reason)
  interrupted.addEventListener('abort', stop, { once: true })
  if (interrupted.aborted) stop()
  const bodyLimit = { host, max: request.maxResponseSize }
  const receivedBefore = received()
  const countTimer = setInterval(() => {
    if (received() - receivedBefore > maxOnWire(request.maxResponseSize))
      timer.abort(responseTooLargeError(bodyLimit))
  }, countInterval)
  try {
    const onSent = () => timer.restart(limit)
    const response = requestBy.call(dispatcher, {
      origin,
      path: `${pathname}${search}`,
      method: request.method,
      headers: {
        ...headers,
        ...(request.body === undefined ? {} : { 'content-length': String(request.body.bytes) }),
      },
      body: createUpload(attempt, onSent, () => timer.restart(uploadIdleLimit)),
      signal: timer.signal,
    })
    // undici observes the signal only after it is connected; this race limits the time before that.
    response.catch(() => undefined)
    const { statusCode, headers: rawHeaders, body } = await Promise.race([response, timer.expired])
    attempt.hasHead = true
    const head = { status: statusCode, headers: flattenHeaders(rawHeaders) }
    const chunks = decompress(body, head.headers.get('content-encoding'), host)
    const isOk = statusCode >= 200 && statusCode <= 299
    const errorLimit = { host, max: Math.min(maxErrorBody, bodyLimit.max), isCut: true }
    return { ...head, bytes: await readBody(chunks, isOk ? bodyLimit : errorLimit) }
  } catch (error) {
    if (timer.signal.aborted) throw timer.signal.reason
    throw error
  } finally {
    timer.clear()
    clearInterval(countTimer)
    interrupted.removeEventListener('abort', stop)
  }
}

/** The timer aborts `signal` when its time is over, and is restarted during the upload; the whole limit never is. */
function createAttemptTimer(wholeLimit: number) {
  const controller = new AbortController()
  const expired = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  expired.catch(() => undefined)
  let timeout: ReturnType<typeof setTimeout> | undefined
  const expire = () => controller.abort(Object.assign(new Error('timed out'), { code: timeLimitCode }))
  const wholeTimeout = Number.isFinite(wholeLimit) ? setTimeout(expire, wholeLimit) : undefined
  return {
    signal: controller.signal,
    expired,
    abort: (reason: unknown) => controller.abort(reason),
    restart(limit: number) {
      clearTimeout(timeout)
      timeout = setTimeout(expire, limit)
    },
    clear() {
      clearTimeout(timeout)
      clearTimeout(wholeTimeout)
    },
  }
}

/**
 * Returns the request body for undici. A small body of a read is one piece; any other body is an iterable
 * of pieces, and undici asks for the first piece when it is connected. `onPiece` is called before each
 * piece, `onSent` after the last one.
 */
function createUpload(
  attempt: Attempt,
  onSent: () => void,
  onPiece: () => void,
): Uint8Array | AsyncIterable<Uint8Array> | null {
  const { body } = attempt.request
  if (body === undefined || (!attempt.isObserved && body.bytes <= maxSinglePiece)) {
    onSent()
    return body === undefined ? null : Buffer.concat(body.pieces)
  }
  async function* chunks(list: readonly Uint8Array[]) {
    attempt.hasBegun = true
    for (const piece of list)
      for (let start = 0; start < piece.length; start += chunkSize) {
        onPiece()
        yield piece.subarray(start, start + chunkSize)
      }
    onSent()
  }
  onSent()
  return chunks(body.pieces)
}

const flattenHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
    ),
  )

type Connector = buildConnector.connector

/** The longest pause between two pieces of a response body, in milliseconds. */
export const idleLimit = 15_000
const maxHeaderSize = 16 * 1024

/** Reads the certificates of further authorities. Building the context takes several milliseconds. */
export async function createTrust(options: AuthoritiesOptions): Promise<SecureContext> {
  const { readCertificates } = await import('./certificates.ts')
  const certificates = await readCertificates(options)
  const { createSecureContext } = await import('node:tls')
  const secureContext = createSecureContext()
  for (const certificate of certificates) secureContext.context.addCACert(certificate)
  return secureContext
}

interface ConnectOptions {
  /** Returns the proxy for a URL; undefined where the host is reached directly. */
  proxyFor(url: URL): URL | undefined
  readonly limit?: number
  readonly secureContext?: SecureContext | undefined
  /** A connection that was opened while this module was being loaded. */
  readonly early?: Socket | undefined
}

/** Connections to an address. The caller closes a pool that was created with `isFresh`. */
export interface ConnectionPool {
  readonly dispatcher: Dispatcher
  /** Permits one more connection to the proxy. */
  allow(): void
  received(): number
  /** Whether the last connection through the proxy to the service could be opened. */
  isConnected(): boolean
  close(): Promise<void>
}

/** Creates pools on demand. Certificates are validated whatever the environment says. */
export function createConnectionPools({
  proxyFor,
  limit = connectLimit,
  secureContext,
  early,
}: ConnectOptions) {
  const connect = {
    timeout: limit,
    autoSelectFamily: true,
    rejectUnauthorized: true,
    ...(secureContext === undefined ? {} : { secureContext }),
  }
  const options = { connect, maxHeaderSize, bodyTimeout: idleLimit, headersTimeout: 0 }
  const sharedPools = new Map<boolean, ConnectionPool>()
  const createPool = (proxy: URL | undefined): ConnectionPool => {
    const sockets = trackSockets()
    let allowed = 0
    let isConnected = false
    const setConnected = (isOpen: boolean) => {
      isConnected = isOpen
    }
    const agent =
      proxy === undefined
        ? new Agent({
            ...options,
            connect: withEarly(
              trackedConnector({ ...connect, lookup: lookupAddress }, sockets),
              early,
              limit,
            ),
          })
        : new ProxyAgent({
            ...options,
            uri: proxy.origin,
            // Without a password undici would not send the login.
            ...proxyAuthorization(proxy),
            requestTls: connect,
            proxyTls: connect,
            // The proxy agent calls `connect` of this pool; only the main module of undici adds that method.
            clientFactory: (origin: URL, { connect }: { readonly connect: Connector }) =>
              Object.assign(
                new Pool(origin, { connect: limitedConnector(connect, sockets, () => allowed-- > 0) }),
                { connect: connectBy },
              ),
            factory: (origin, { connect, ...others }: Pool.Options) =>
              new Pool(origin, {
                ...others,
                connect: observedConnector(connect as Connector, setConnected),
              }),
          })
    return {
      dispatcher: agent,
      received: sockets.received,
      isConnected: () => isConnected,
      allow() {
        allowed++
      },
      async close() {
        sockets.destroy()
        await agent.destroy()
      },
    }
  }
  return {
    /** Returns the pool for an address; with `isFresh` a new pool whose connections are not shared. */
    poolFor(url: URL, isFresh: boolean): ConnectionPool {
      const proxy = proxyFor(url)
      const isDirect = proxy === undefined
      const shared = isFresh ? undefined : sharedPools.get(isDirect)
      const pool = shared ?? createPool(proxy)
      if (!isFresh) sharedPools.set(isDirect, pool)
      pool.allow()
      return pool
    },
    close: async () => {
      early?.destroy()
      await Promise.all([...sharedPools.values()].map(pool => pool.close()))
    },
  }
}

/** Counts the bytes that sockets receive, and destroys those that are open. */
function trackSockets() {
  const sockets = new Set<Socket>()
  let closedBytes = 0
  return {
    add(socket: unknown) {
      if (!(socket instanceof Socket)) return
      sockets.add(socket)
      socket.once('close', () => {
        sockets.delete(socket)
        closedBytes += socket.bytesRead
      })
    },
    /** The number of bytes that were received so far. */
    received() {
      let bytes = closedBytes
      for (const socket of sockets) bytes += socket.bytesRead
      return bytes
    },
    /** Drops connections during their handshake: one that gets no response would keep the process alive. */
    destroy() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Returns a connector that uses an early connection first; `limit` is the time until that is open, in milliseconds. */
function withEarly(connect: Connector, early: Socket | undefined, limit: number): Connector {
  let unused = early
  return (target, callback) => {
    const httpSocket = unused
    unused = undefined
    if (httpSocket === undefined || httpSocket.destroyed) return connect(target, callback)
    const timeout = Object.assign(new Error('no connection in time'), { code: 'UND_ERR_CONNECT_TIMEOUT' })
    const timer = setTimeout(() => httpSocket.destroy(timeout), limit)
    const fail = (error: Error) => {
      clearTimeout(timer)
      callback(error, null)
    }
    const startTls = () => {
      clearTimeout(timer)
      httpSocket.off('error', fail)
      connect({ ...target, httpSocket }, callback)
    }
    httpSocket.once('error', fail)
    if (httpSocket.connecting) httpSocket.once('connect', startTls)
    else startTls()
    return httpSocket
  }
}

function trackedConnector(
  options: buildConnector.BuildOptions,
  sockets: ReturnType<typeof trackSockets>,
): Connector {
  const connect = buildConnectorBy(options)
  return (target, callback) => {
    const socket: unknown = connect(target, callback)
    sockets.add(socket)
    return socket
  }
}

/**
 * Returns a connector that opens one connection for each attempt. Without this limit undici reconnects
 * endlessly to a proxy that resets connections, and leaves a connection open whose CONNECT got no response.
 */
const limitedConnector =
  (connect: Connector, sockets: ReturnType<typeof trackSockets>, isAllowed: () => boolean): Connector =>
  (options, callback) => {
    if (!isAllowed()) {
      const error = Object.assign(new Error('the proxy closed the connection'), { code: 'ECONNRESET' })
      callback(error, null)
      return
    }
    // undici names the host of the proxy, but an IP address is no name for TLS (RFC 6066): Node warns of it.
    const { servername, ...unnamed } = options
    const target = isIP(servername?.replace(/^\[(.*)\]$/, '$1') ?? '') === 0 ? options : unnamed
    connect(target, (error, socket) => {
      sockets.add(socket)
      if (error === null) callback(null, socket)
      else callback(new ProxyConnectionError('no connection to the proxy', { cause: error }), null)
    })
  }

/** Returns a connector that reports whether it could open a connection. */
const observedConnector =
  (connect: Connector, report: (isOpen: boolean) => void): Connector =>
  (options, callback) =>
    connect(options, (...result) => {
      report(result[0] === null)
      callback(...result)
    })
