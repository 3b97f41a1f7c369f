import dns from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { isLoopback } from '../base/url.ts'
import { notLoopbackCode } from './transport-error.ts'

/** The longest time for opening a connection, in milliseconds. */
export const connectLimit = 10_000

/** The longest time to wait for a DNS lookup before loading continues, in milliseconds. */
const maxLookupWait = 5

/** A DNS lookup that fails where a loopback name, such as `localhost`, leads to another machine. */
export const lookupAddress: LookupFunction = (hostname, options, callback) =>
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const isForeign = addresses?.some(
      ({ address, family }) => !isLoopback(family === 6 ? `[${address}]` : address),
    )
    if (error === null && isForeign && isLoopback(hostname)) {
      const foreign = new Error(`${hostname} leads to another machine`)
      callback(Object.assign(foreign, { code: notLoopbackCode }), addresses)
    } else callback(error, addresses)
  })

/** Opens a connection for undici, and resolves when its first packet is sent: loading undici takes longer. */
export async function openEarly({ hostname, port }: URL): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port) || 443, autoSelectFamily: true, lookup: lookupAddress })
  // An error is told to whoever uses it.
  socket.on('error', () => undefined)
  if (isIP(host) === 0)
    await new Promise(resolve => {
      socket.once('lookup', resolve)
      setTimeout(resolve, maxLookupWait)
    })
  // Node sends the first packet in a later turn of the event loop, which loading would hold up.
  await new Promise(setImmediate)
  return socket
}
