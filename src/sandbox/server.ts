import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { MergeqError, usageError } from '../errors.ts'
import { createRequestReader } from './request-body-reader.ts'
import { prefix, type SandboxResponse, type SandboxService, tooLargeMessage } from './service.ts'

/** A service that listens. */
export interface RunningServer {
  readonly port: number
  /** What `MERGEQ_BASE_URL` takes, prefix and all. */
  readonly baseUrl: string
  /** Stops listening and ends every open connection. */
  close(): Promise<void>
}

const loopback = '127.0.0.1'

/** How many may be connected, and for how long they may say nothing, or half of something, in milliseconds. */
const connections = 1_000
const silence = 30_000
const patience = { headersTimeout: 10_000, requestTimeout: 120_000, connectionsCheckingInterval: 5_000 }

/**
 * Serves on loopback only, on a free port if `port` is 0. Refuses a `Host` that is not loopback's (DNS rebinding),
 * requests from web pages, and bodies over the limit (WIRE.md section 4). A port that is taken is a usage failure.
 */
export async function startServer(
  service: SandboxService,
  { port }: { readonly port: number },
): Promise<RunningServer> {
  const read = createRequestReader()
  const server = createServer(patience, (request, response) => {
    receive(service, request, read).then(
      answer => send(request, response, answer),
      () => request.destroy(),
    )
  })
  server.maxConnections = connections
  server.setTimeout(silence)
  const taken = await listen(server, port)
  return {
    port: taken,
    baseUrl: `http://${loopback}:${taken}${prefix}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        reject(usageError(`port ${port} is taken.`, 'Choose another --port, or 0 for a free one.'))
      else if (error.code === 'EACCES')
        reject(usageError(`port ${port} may not be used.`, 'Choose one over 1023, or 0.'))
      else reject(new MergeqError('internal', `port ${port} cannot be used: ${error.message}`))
    })
    server.listen({ host: loopback, port, exclusive: true }, () => resolve(portOf(server.address()) ?? port))
  })
}

const portOf = (address: ReturnType<Server['address']>): number | undefined =>
  typeof address === 'object' ? address?.port : undefined

/** Reads a request and has it answered, or refuses it without reading on. */
async function receive(
  service: SandboxService,
  request: IncomingMessage,
  read: ReturnType<typeof createRequestReader>,
): Promise<SandboxResponse> {
  const barred = barredFor(request)
  if (barred !== undefined) return service.refuse(403, barred)
  const taken = await read(request)
  if ('trouble' in taken)
    return service.refuse(
      taken.trouble,
      taken.trouble === 413 ? tooLargeMessage : 'Too many large bodies at once.',
    )
  const { method = '', url = '', headers } = request
  const { pathname, searchParams } = new URL(`http://${loopback}${url.startsWith('/') ? url : '/'}`)
  return service.answer({
    method,
    path: pathname,
    query: new Map(searchParams),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()])),
    body: taken.body,
  })
}

/** Why a request is not let in at all: it was meant for another host, or a web page sent it. */
function barredFor({ headers, socket }: IncomingMessage): string | undefined {
  const port = socket.localPort
  const names = [loopback, 'localhost', '[::1]'].map(name => `${name}:${port}`)
  if (!names.includes((headers.host ?? '').toLowerCase()))
    return 'The sandbox answers on loopback only: this Host is not.'
  const site = headers['sec-fetch-site']
  const isFromPage = headers.origin !== undefined || site === 'cross-site' || site === 'same-site'
  return isFromPage ? 'The sandbox answers no web pages.' : undefined
}

/** Sends an answer. Whoever was refused before the request was whole loses the connection. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: SandboxResponse,
): void {
  response.writeHead(status, { ...headers, ...(request.complete ? {} : { connection: 'close' }) })
  response.end(body)
}
