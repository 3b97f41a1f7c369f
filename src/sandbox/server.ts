import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { maxBodySize } from '../domain/limits.ts'
import { MergeqError, usageError } from '../errors.ts'
import { bodyTooLargeMessage, pathPrefix, type SandboxResponse, type SandboxService } from './service.ts'

export interface RunningServer {
  readonly port: number
  /** The base URL of the service, with its path prefix: a value for `MERGEQ_BASE_URL`. */
  readonly baseUrl: string
  close(): Promise<void>
}

const loopbackAddress = '127.0.0.1'

const maxConnections = 1_000
/** Time limits in milliseconds: for an idle connection, and for a request to arrive. */
const idleTimeout = 30_000
const requestTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
}

/**
 * Serves on the loopback address only, on a free port if `port` is 0. Refuses a `Host` header with another
 * name, which prevents DNS rebinding, requests from web pages, and bodies over the limit
 * (docs/reference/sandbox.md, "Safety"). Throws a usage error for a port that is in use or not permitted.
 */
export async function startServer(
  service: SandboxService,
  { port }: { readonly port: number },
): Promise<RunningServer> {
  const readBody = createBodyReader()
  const server = createServer(requestTimeouts, (request, response) => {
    handleRequest(service, request, readBody).then(
      result => sendResponse(request, response, result),
      () => request.destroy(),
    )
  })
  server.maxConnections = maxConnections
  server.setTimeout(idleTimeout)
  const actualPort = await listen(server, port)
  return {
    port: actualPort,
    baseUrl: `http://${loopbackAddress}:${actualPort}${pathPrefix}`,
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
        reject(
          usageError(
            `Port ${port} is already in use.`,
            'Choose another --port, or omit --port to use a free port.',
          ),
        )
      else if (error.code === 'EACCES')
        reject(
          usageError(
            `Port ${port} requires more privileges.`,
            'Choose a port above 1023, or omit --port to use a free port.',
          ),
        )
      else reject(new MergeqError('internal', `Port ${port} cannot be used: ${error.message}`))
    })
    server.listen({ host: loopbackAddress, port, exclusive: true }, () =>
      resolve(getPort(server.address()) ?? port),
    )
  })
}

const getPort = (address: ReturnType<Server['address']>): number | undefined =>
  typeof address === 'object' ? address?.port : undefined

/** A request that is not permitted is refused before its body is read. */
async function handleRequest(
  service: SandboxService,
  request: IncomingMessage,
  readBody: ReturnType<typeof createBodyReader>,
): Promise<SandboxResponse> {
  const refusal = findRefusal(request)
  if (refusal !== undefined) return service.createErrorResponse(403, refusal)
  const body = await readBody(request)
  if (typeof body === 'number') return service.createErrorResponse(body, bodyRefusals[body])
  const { method = '', url = '', headers } = request
  const { pathname, searchParams } = new URL(`http://${loopbackAddress}${url.startsWith('/') ? url : '/'}`)
  return service.handle({
    method,
    path: pathname,
    query: new Map(searchParams),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()])),
    body,
  })
}

/** A request is not permitted if it names another Host, or a web page sent it. */
function findRefusal({ headers, socket }: IncomingMessage): string | undefined {
  const port = socket.localPort
  const permittedHosts = [loopbackAddress, 'localhost', '[::1]'].map(name => `${name}:${port}`)
  if (!permittedHosts.includes((headers.host ?? '').toLowerCase()))
    return 'The sandbox accepts requests for loopback hosts only; the Host header names another host.'
  const site = headers['sec-fetch-site']
  const isFromWebPage = headers.origin !== undefined || site === 'cross-site' || site === 'same-site'
  return isFromWebPage ? 'The sandbox does not accept requests from web pages.' : undefined
}

/** Sends a response. Closes the connection if the request was not read completely. */
function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: SandboxResponse,
): void {
  response.writeHead(status, { ...headers, ...(request.complete ? {} : { connection: 'close' }) })
  response.end(body)
}

/** Why a body is refused, by status. */
const bodyRefusals = { 413: bodyTooLargeMessage, 503: 'Too many large requests at the same time.' } as const

/** Maximum bytes kept in memory at a time, for all requests together. */
const maxBufferedBytes = 8 * maxBodySize

/** Bytes read of a body that is not kept, before reading stops. */
const maxReadBytes = 2 * maxBodySize

/**
 * Creates a function that reads request bodies; together they keep a limited number of bytes in memory. A
 * body over `maxBodySize` (docs/reference/service.md, "Limits") is read on for a while without being kept,
 * because many clients read the response only after they have sent the body. The function rejects if the
 * connection closes before the body is complete.
 */
function createBodyReader(): (request: IncomingMessage) => Promise<string | keyof typeof bodyRefusals> {
  let bufferedBytes = 0
  return request =>
    new Promise((resolve, reject) => {
      let chunks: Uint8Array[] = []
      let [readBytes, keptBytes] = [0, 0]
      let refusedWith: keyof typeof bodyRefusals | undefined
      const releaseMemory = () => {
        bufferedBytes -= keptBytes
        keptBytes = 0
        chunks = []
      }
      const receiveChunk = (chunk: Uint8Array) => {
        readBytes += chunk.length
        if (readBytes > maxBodySize) refusedWith = 413
        else if (bufferedBytes + chunk.length > maxBufferedBytes) refusedWith ??= 503
        if (refusedWith === undefined) {
          chunks.push(chunk)
          keptBytes += chunk.length
          bufferedBytes += chunk.length
          return
        }
        releaseMemory()
        if (readBytes <= maxReadBytes) return
        request.off('data', receiveChunk).pause()
        resolve(refusedWith)
      }
      request.on('data', receiveChunk)
      request.once('end', () => {
        resolve(refusedWith ?? Buffer.concat(chunks).toString('utf8'))
        releaseMemory()
      })
      request.once('close', () => {
        releaseMemory()
        reject(new Error('the request is incomplete'))
      })
    })
}
