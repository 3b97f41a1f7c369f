import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { Certificate } from './certificates.ts'
import { listening } from './service.ts'

export interface TestProxyOptions {
  /** Where host names (with their port) lead: ports of loopback. */
  readonly routes?: ReadonlyMap<string, number>
  /** The `user:password` without which it answers 407. */
  readonly login?: string
  /** What it answers in the place of connecting. */
  readonly reply?: string | 'silence' | 'reset'
  readonly tls?: Certificate
}

/** Opens a proxy that remembers every CONNECT and maps host names to loopback. */
export async function startTestProxy({
  routes: leads = new Map(),
  login,
  reply: instead,
  tls,
}: TestProxyOptions) {
  const asked: { readonly target: string; readonly headers: ReadonlyMap<string, string> }[] = []
  const others: string[] = []
  const listener: RequestListener = ({ method, url }, response) => {
    others.push(`${method} ${url}`)
    response.writeHead(501).end()
  }
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    socket.on('error', () => undefined)
    const all = new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    asked.push({ target: url, headers: all })
    const due = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`
    if (instead === 'silence') return
    if (instead === 'reset') socket.destroy()
    else if (instead !== undefined) socket.end(instead)
    else if (due !== undefined && all.get('proxy-authorization') !== due)
      socket.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n',
      )
    else {
      const port = leads.get(url)
      if (port === undefined) {
        socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
        return
      }
      const beyond = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        socket.pipe(beyond).pipe(socket)
      })
      beyond.on('error', () => socket.destroy()).on('close', () => socket.destroy())
      socket.on('close', () => beyond.destroy())
    }
  })
  const { port, close } = await listening(server, '127.0.0.1')
  // What came that was no CONNECT should be nothing.
  return { host: `127.0.0.1:${port}`, port, connectRequests: asked, otherRequests: others, close }
}
