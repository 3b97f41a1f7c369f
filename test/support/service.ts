import dns from 'node:dns'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { vi } from 'vitest'
import type { Certificate } from './certificates.ts'
import { isPlainResponse, serveInProcess } from './in-process.ts'
import type { TestFolder } from './test-folder.ts'

/** A request as the service saw it. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Which connection it came on, counted from 1. */
  readonly connection: number
}

/** What a scripted service answers. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
  /** Milliseconds before it. */
  readonly delay?: number
}

/** Nothing is sent for `silence`; `reset` drops the connection; a function writes bytes of its own. */
export type ServerReply =
  | 'silence'
  | 'reset'
  | Answer
  | (Omit<Answer, 'body'> & { readonly body: Uint8Array })
  | ((response: ServerResponse, socket: Socket) => void)

export type Script = (seen: ReceivedRequest, index: number) => ServerReply | Promise<ServerReply>

/** A server on loopback that remembers who came and what was asked. */
export type TestServer = Awaited<ReturnType<typeof startTestServer>>

interface TestServerOptions {
  readonly tls?: Certificate
  /** Whether requests of this process need no connection. */
  readonly isInProcess?: boolean
  readonly hostname?: string
  readonly answer: Script
}

/** The number of a decision in a request that needs a connection for it. */
const decidedHeader = 'x-test-decided'

/** Opens a server; with `tls` it speaks https. */
export async function startTestServer({
  tls,
  hostname = '127.0.0.1',
  isInProcess = false,
  answer,
}: TestServerOptions) {
  const asked: ReceivedRequest[] = []
  const connections = new Map<Socket, number>()
  /** What was decided without a connection, and needs one. */
  const decided: ServerReply[] = []
  const listener: RequestListener = async (request, response) => {
    const { socket } = request
    // The clock of a test is not that of this machine.
    if (isInProcess) response.sendDate = false
    const pieces: Buffer[] = []
    try {
      for await (const piece of request) pieces.push(piece)
    } catch {
      return
    }
    const one: ReceivedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: Buffer.concat(pieces).toString(),
      connection: connections.get(socket) ?? 0,
    }
    const known = decided[Number(one.headers[decidedHeader])]
    if (known === undefined) asked.push(one)
    const reply = known ?? (await answer(one, asked.length - 1))
    if (reply === 'silence') return
    if (reply === 'reset') {
      // Over TLS there is no socket that can be reset.
      if (tls === undefined) socket.resetAndDestroy()
      else socket.destroy()
      return
    }
    if (typeof reply === 'function') {
      reply(response, socket)
      return
    }
    const { status = 200, headers = {}, body = '', delay = 0 } = reply
    if (delay > 0 && known === undefined) await pause(delay)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.writeHead(status).end(body)
  }
  let opened = 0
  const server =
    tls === undefined
      ? createServer(listener)
      : createSecureServer({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] }, listener)
  server.on('connection', () => opened++)
  server.on(tls === undefined ? 'connection' : 'secureConnection', socket =>
    connections.set(socket, connections.size + 1),
  )
  const { port, close } = await listening(server, hostname)
  const stop = isInProcess
    ? serveInProcess(`http://${hostname}:${port}`, async request => {
        const one = { ...request, connection: 0 }
        asked.push(one)
        const reply = await answer(one, asked.length - 1)
        if (typeof reply === 'object') {
          const { status = 200, headers = {}, body = '', delay = 0 } = reply
          if (delay > 0) await pause(delay)
          const response = { status, headers, body }
          if (isPlainResponse(response)) return response
        }
        return { overConnection: { [decidedHeader]: String(decided.push(reply) - 1) } }
      })
    : undefined
  const scheme = tls === undefined ? 'http' : 'https'
  const inAddress = hostname.includes(':') ? `[${hostname}]` : hostname
  return {
    port,
    /** The host and the port, as a message names them. */
    host: `${inAddress}:${port}`,
    requests: asked as readonly ReceivedRequest[],
    /** The base address below a host name: `https://name:port/v1`. */
    baseUrl: (name = inAddress) => `${scheme}://${name}:${port}/v1`,
    /** How many connections were opened. */
    connectionCount: () => opened,
    /** Resolves when so many requests have come. */
    async waitForRequests(requests: number) {
      while (asked.length < requests) await pause(5)
    },
    async close() {
      stop?.()
      await close()
    },
  }
}

/** Lets a server listen on a free port, and closes it with all its connections. */
export async function listening(server: Server, hostname: string) {
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

/** A port of loopback on which nobody listens: the service that it is reserved for is not used any more. */
export const closedPort = 1

/** A port of loopback that a program may open. */
export async function freePort(): Promise<number> {
  const { port, close } = await listening(createPlainServer(), '127.0.0.1')
  await close()
  return port
}

/** Answers with these bytes, past the HTTP library, and then with the end of the connection. */
export const rawReply =
  (...pieces: readonly (string | Uint8Array)[]): ServerReply =>
  (_, socket) => {
    for (const piece of pieces) socket.write(piece)
    socket.end()
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

type HostNames = Readonly<Record<string, readonly string[]>>

/**
 * Names as a hosts file would give them: in this process, hosts are found at these addresses, and no others.
 * `vi.restoreAllMocks` ends it.
 */
export function stubHostNames(names: HostNames): void {
  vi.spyOn(dns, 'lookup').mockImplementation(lookupIn(names) as unknown as typeof dns.lookup)
}

function lookupIn(names: HostNames) {
  type Callback = (...found: readonly unknown[]) => void
  return (hostname: string, given: { readonly all?: boolean } | Callback, last?: Callback): void => {
    const [options, callback] = typeof given === 'function' ? [{}, given] : [given, last]
    const addresses = /^[\d.]+$|:/.test(hostname) ? [hostname] : (names[hostname] ?? [])
    const found = addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
    const missing = { code: 'ENOTFOUND', errno: -3008, syscall: 'getaddrinfo', hostname }
    process.nextTick(() => {
      const [first] = found
      if (first === undefined)
        callback?.(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), missing))
      else if (options.all === true) callback?.(null, found)
      else callback?.(null, first.address, first.family)
    })
  }
}

/** The same for the built program: an environment in which it finds these hosts, and no others. */
export function withHostNames(
  { path }: Pick<TestFolder, 'path'>,
  names: HostNames,
): Readonly<Record<string, string>> {
  const file = path(`hosts-${Object.keys(names).join('-')}.cjs`)
  writeFileSync(
    file,
    `const names = ${JSON.stringify(names)}\nrequire('node:dns').lookup = (${lookupIn})(names)\n`,
  )
  return { NODE_OPTIONS: `--require ${file}` }
}
