import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Certificate } from './certificates.ts'
import type { TestFolder } from './test-folder.ts'

/** A request as a peer saw it. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Which connection it came on, counted from 1. */
  readonly connection: number
}

/** What a peer answers: nothing is sent for `silence`; `reset` drops the connection. */
export type ServerReply =
  | 'silence'
  | 'reset'
  | {
      readonly status?: number
      readonly reason?: string
      readonly headers?: Readonly<Record<string, string | readonly string[]>>
      readonly body?: string | Uint8Array
      /** Milliseconds before it. */
      readonly delay?: number
    }

/** A server on loopback that remembers who came and what was asked. */
export interface TestServer {
  readonly port: number
  /** The host and the port, as a message names them. */
  readonly host: string
  readonly requests: readonly ReceivedRequest[]
  /** The base address below a host name: `https://name:port/v1`. */
  baseUrl(hostname?: string): string
  /** How many connections were opened. */
  connectionCount(): number
  /** Resolves when so many requests have come. */
  waitForRequests(requests: number): Promise<void>
  close(): Promise<void>
}

export interface TestServerOptions {
  readonly tls?: Certificate
  readonly hostname?: string
  answer(asked: ReceivedRequest, index: number): ServerReply
}

/** Opens a server; with `tls` it speaks https. */
export async function startTestServer({
  tls,
  hostname = '127.0.0.1',
  answer,
}: TestServerOptions): Promise<TestServer> {
  const asked: ReceivedRequest[] = []
  const connections = new Map<Socket, number>()
  const listener: RequestListener = async (request, response) => {
    const pieces: Buffer[] = []
    try {
      for await (const piece of request) pieces.push(piece)
    } catch {
      return
    }
    const one: ReceivedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body: Buffer.concat(pieces).toString(),
      connection: connections.get(request.socket) ?? 0,
    }
    asked.push(one)
    const answered = answer(one, asked.length - 1)
    if (answered === 'silence') return
    if (answered === 'reset') {
      request.socket.destroy()
      return
    }
    const { status = 200, reason, headers = {}, body = '', delay: after = 0 } = answered
    if (after > 0) await pause(after)
    response.statusMessage = reason ?? ''
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.writeHead(status).end(body)
  }
  const server =
    tls === undefined
      ? createServer(listener)
      : createSecureServer({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] }, listener)
  let opened = 0
  server.on(tls === undefined ? 'connection' : 'secureConnection', socket =>
    connections.set(socket, connections.size + 1),
  )
  server.on('connection', () => opened++)
  const { port, close } = await listening(server, hostname)
  const scheme = tls === undefined ? 'http' : 'https'
  const inAddress = hostname.includes(':') ? `[${hostname}]` : hostname
  return {
    port,
    host: `${inAddress}:${port}`,
    requests: asked,
    baseUrl: (name = inAddress) => `${scheme}://${name}:${port}/v1`,
    connectionCount: () => opened,
    async waitForRequests(requests) {
      while (asked.length < requests) await pause(5)
    },
    close,
  }
}

/** Lets a server listen on a free port, and closes it with all its connections. */
export async function listening(
  server: Server,
  hostname: string,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
  })
  server.listen(0, hostname)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** A port of loopback on which nobody listens. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listening(createPlainServer(), '127.0.0.1')
  await close()
  return port
}

/** A server that answers every connection's first bytes with these, or holds its peace. */
export async function startRawServer(bytes: string | Uint8Array | 'silence' | 'reset') {
  let opened = 0
  const server = createPlainServer(socket => {
    opened++
    socket.once('data', () => {
      if (bytes === 'reset') socket.destroy()
      else if (bytes !== 'silence') socket.end(bytes)
    })
  })
  const { port, close } = await listening(server, '127.0.0.1')
  return { port, host: `127.0.0.1:${port}`, base: `http://127.0.0.1:${port}/v1`, opened: () => opened, close }
}

/**
 * Names as a hosts file would give them: an environment in which the binary finds these hosts at these
 * addresses, and no other. Only the look-up is ours; what connects, and to where, is not.
 */
export function withHostNames(
  { path }: Pick<TestFolder, 'path'>,
  names: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, string>> {
  const file = path(`hosts-${Object.keys(names).join('-')}.cjs`)
  writeFileSync(
    file,
    `const names = new Map(Object.entries(${JSON.stringify(names)}))
require('node:dns').lookup = (hostname, options, callback) => {
  const done = callback ?? options
  const found = (names.get(hostname) ?? []).map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
  const missing = { code: 'ENOTFOUND', errno: -3008, syscall: 'getaddrinfo', hostname }
  process.nextTick(() => {
    if (found.length === 0) done(Object.assign(new Error('getaddrinfo ENOTFOUND ' + hostname), missing))
    else if (options.all === true) done(null, found)
    else done(null, found[0].address, found[0].family)
  })
}
`,
  )
  return { NODE_OPTIONS: `--require ${file}` }
}
