import { connect, isIP, Socket } from 'node:net'
import type { buildConnector } from 'undici'

/** A connection that was begun while what will ride on it was still being loaded. */
export interface Preconnect {
  /** Resolves when the first packet is out, or when the name of the host takes long to look up. */
  readonly started: Promise<void>
  /** Lets a connector go on from where this is; false when it is taken already or has failed: then it begins by itself. */
  adopt(...journey: readonly [connect: Connector, ...Parameters<Connector>]): boolean
  drop(): void
}

type Connector = buildConnector.connector

/** Connecting takes at most so many milliseconds. */
export const connectLimit = 10_000

/** A lookup that takes longer, in milliseconds, is not waited for: loading goes on meanwhile. */
const maxLookupWait = 5

/** Begins to connect to an https address; `limit` bounds, in milliseconds, all until TLS stands. */
export function preconnect({ hostname, port }: URL, limit: number): Preconnect {
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port) || 443,
    autoSelectFamily: true,
  })
  let top = socket
  let isFree = true
  const timer = setTimeout(
    () => top.destroy(Object.assign(new Error('no connection in time'), { code: 'UND_ERR_CONNECT_TIMEOUT' })),
    limit,
  )
  const settled = () => clearTimeout(timer)
  socket.once('error', settled)
  return {
    started: new Promise(resolve => {
      // Node sends the first packet in its own turn: what is loaded at once would come before it.
      const soon = () => setImmediate(resolve)
      if (isIP(host) !== 0) soon()
      else {
        socket.once('lookup', soon)
        setTimeout(resolve, maxLookupWait)
      }
    }),
    adopt(secure, target, callback) {
      if (!isFree || socket.destroyed) return false
      isFree = false
      const fail = (error: Error) => callback(error, null)
      const go = () => {
        socket.off('error', fail).on('error', () => undefined)
        const secured: unknown = secure({ ...target, httpSocket: socket }, (...result) => {
          settled()
          callback(...result)
        })
        if (secured instanceof Socket) top = secured
      }
      socket.once('error', fail)
      if (socket.connecting) socket.once('connect', go)
      else go()
      return true
    },
    drop() {
      settled()
      top.destroy()
    },
  }
}
