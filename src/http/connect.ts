import dns from 'node:dns'
import { connect, isIP, type LookupFunction, Socket } from 'node:net'
import type { buildConnector } from 'undici'

const httpsPort = 443

/** The code of the error of a loopback name that leads to another machine. */
export const notLoopbackCode = 'MERGEQ_NOT_LOOPBACK'

/** Creates a DNS lookup that fails where a loopback name, such as `localhost`, leads to another machine. */
export const createLookup =
  (isLoopback: (hostname: string) => boolean): LookupFunction =>
  (hostname, options, callback) =>
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const isForeign = addresses?.some(
        ({ address, family }) => !isLoopback(family === 6 ? `[${address}]` : address),
      )
      if (error === null && isForeign && isLoopback(hostname)) {
        const foreign = new Error(`${hostname} leads to another machine`)
        callback(Object.assign(foreign, { code: notLoopbackCode }), addresses)
      } else callback(error, addresses)
    })

/** A connection that is opened while the HTTP client is still being loaded. */
export interface Preconnect {
  /** Resolves when the first packet is sent, or when the DNS lookup takes longer than a few milliseconds. */
  readonly started: Promise<void>
  /** Lets a connector use this connection. Returns false if it is in use or has failed. */
  adopt(...request: readonly [connect: Connector, ...Parameters<Connector>]): boolean
  drop(): void
}

type Connector = buildConnector.connector

/** The longest time for opening a connection, in milliseconds. */
export const connectLimit = 10_000

/** The longest time to wait for a DNS lookup before loading continues, in milliseconds. */
const maxLookupWait = 5

/** `limit` is the time limit for TCP and TLS together, in milliseconds. */
export function preconnect({ hostname, port }: URL, limit: number, lookup: LookupFunction): Preconnect {
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port) || httpsPort,
    autoSelectFamily: true,
    lookup,
  })
  let currentSocket = socket
  let isAvailable = true
  const timer = setTimeout(
    () =>
      currentSocket.destroy(
        Object.assign(new Error('no connection in time'), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
      ),
    limit,
  )
  const stopTimer = () => clearTimeout(timer)
  socket.once('error', stopTimer)
  return {
    started: new Promise(resolve => {
      // Node sends the first packet in a later turn of the event loop; resolving at once would load modules
      // before it.
      const resolveNext = () => setImmediate(resolve)
      if (isIP(host) !== 0) resolveNext()
      else {
        socket.once('lookup', resolveNext)
        setTimeout(resolve, maxLookupWait)
      }
    }),
    adopt(secure, target, callback) {
      if (!isAvailable || socket.destroyed) return false
      isAvailable = false
      const fail = (error: Error) => callback(error, null)
      const startTls = () => {
        socket.off('error', fail).on('error', () => undefined)
        const tlsSocket: unknown = secure({ ...target, httpSocket: socket }, (...result) => {
          stopTimer()
          callback(...result)
        })
        if (tlsSocket instanceof Socket) currentSocket = tlsSocket
      }
      socket.once('error', fail)
      if (socket.connecting) socket.once('connect', startTls)
      else startTls()
      return true
    },
    drop() {
      stopTimer()
      currentSocket.destroy()
    },
  }
}
