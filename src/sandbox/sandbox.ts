import { createServer, type IncomingMessage, type Server } from 'node:http'
import { maxBodySize } from '../api/limits.ts'
import { usageError } from '../base/errors.ts'
import { defaultScenario, rotatedToken, type ScenarioName } from '../values/scenario-names.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { createService, pathPrefix, type SandboxResponse, type SandboxService } from './service.ts'
import { defaultQueue, type StateOptions } from './state.ts'

export interface SandboxOptions extends StateOptions {
  /** 0, the default, is a free port. */
  readonly port?: number | undefined
  /** Whether the process may end while the sandbox serves. */
  readonly isBackground?: boolean
  /** `happy` by default. */
  readonly scenario?: ScenarioName | Scenario | undefined
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

/** Creates the service of a sandbox, which listens nowhere. */
export function createSandboxService(options: SandboxOptions): SandboxService {
  const { scenario = defaultScenario } = options
  return createService(options, typeof scenario === 'string' ? scenarios[scenario] : scenario)
}

const loopbackAddress = '127.0.0.1'

const maxConnections = 1_000

/**
 * Serves on the loopback address only. Refuses a `Host` header with another name, which prevents DNS rebinding, requests
 * from web pages, and bodies over the limit (docs/reference/sandbox.md, "Safety"). Throws a usage error for a port that
 * is in use or not permitted.
 */
export async function startSandbox(options: SandboxOptions, service = createSandboxService(options)) {
  const { scenario, timings, token } = service.state
  const server = createServer(async (request, response) => {
    try {
      const { status, headers, body } = await handleRequest(service, request)
      // A request that was not read completely is not followed by another one.
      response.writeHead(status, { ...headers, ...(request.complete ? {} : { connection: 'close' }) })
      response.end(body)
    } catch {
      // The client closed the connection before its request was complete.
      request.destroy()
    }
  })
  server.maxConnections = maxConnections
  const port = await listen(server, options.port ?? 0)
  if (options.isBackground) server.on('connection', socket => socket.unref()).unref()
  return {
    ...defaultQueue,
    port,
    /** The base URL of the service, with its path prefix: a value for `MERGEQ_BASE_URL`. */
    baseUrl: `http://${loopbackAddress}:${port}${pathPrefix}`,
    token,
    /** The token that takes the place of the first one, and after how many milliseconds; undefined if none does. */
    rotation:
      scenario.tokenLasts === undefined
        ? undefined
        : { token: rotatedToken, after: scenario.tokenLasts * timings.second },
    /** The owner of the tests; the service accepts any other slug as well. */
    org: 'acme',
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<number> {
  const createError = ({ code, message }: NodeJS.ErrnoException) => {
    const advice = 'or omit --port to use a free port.'
    if (code === 'EADDRINUSE')
      return usageError(`Port ${port} is already in use.`, `Choose another --port, ${advice}`)
    return usageError(`Port ${port} cannot be used: ${message}.`, `Choose a port above 1023, ${advice}`)
  }
  return new Promise((resolve, reject) => {
    server.once('error', error => reject(createError(error)))
    server.listen({ host: loopbackAddress, port, exclusive: true }, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** A request that is not permitted is refused before its body is read. */
async function handleRequest(service: SandboxService, request: IncomingMessage): Promise<SandboxResponse> {
  const refusal = findRefusal(request)
  if (refusal !== undefined) return service.createErrorResponse(403, refusal)
  const { method = '', url = '' } = request
  const { pathname: path, searchParams } = new URL(
    `http://${loopbackAddress}${url.startsWith('/') ? url : '/'}`,
  )
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]),
  )
  const body = await readBody(request, service.isAuthorized({ path, headers }))
  if (body === undefined) return service.createErrorResponse(413, 'The body is larger than 20 MiB.')
  return service.handle({ method, path, query: new Map(searchParams), headers, body })
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

/**
 * Reads a body; undefined if it is larger than the limit (docs/reference/service.md, "Limits"). Such a body, and that
 * of a request without the token, is read without being kept, because many clients read the response only after they
 * have sent the body.
 * Rejects if the connection closes before the body is complete.
 */
async function readBody(request: IncomingMessage, isKept: boolean): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (isKept && size <= maxBodySize) chunks.push(chunk)
    if (size > 2 * maxBodySize) break
  }
  return size <= maxBodySize ? Buffer.concat(chunks).toString('utf8') : undefined
}
