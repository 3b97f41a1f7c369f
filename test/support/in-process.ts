import { setImmediate as turn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import Agent from 'undici/lib/dispatcher/agent.js'

/** A request as a server receives it. */
export interface InProcessRequest {
  readonly method: string
  readonly path: string
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface InProcessResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string | Uint8Array
}

/** Returns the response, or further headers with which the request is sent over a connection. */
type InProcessService = (
  request: InProcessRequest,
) => Promise<InProcessResponse | { readonly overConnection: Readonly<Record<string, string>> }>

const services = new Map<string, { readonly host: string; readonly service: InProcessService }>()

/**
 * Lets a server of this process answer requests of this process without a connection: half of the time of a command
 * line is sockets. The server must listen: what is not a plain request or a plain response goes over a connection.
 * Returns a function that ends this.
 */
export function serveInProcess(origin: string, service: InProcessService): () => void {
  services.set(origin, { host: new URL(origin).host, service })
  return () => services.delete(origin)
}

/** Larger bodies are read in pieces, of at most 64 KiB with the head: that is what their tests are about. */
const maxBody = 60 * 1024
const maxHeaders = 4 * 1024

/** Headers that say how a message is sent; a test that writes one is about them. */
const framing =
  /^(?:connection|content-encoding|content-length|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

const isPlainHead = (headers: InProcessResponse['headers']): boolean => {
  const text = Object.entries(headers).flat(2).join('')
  return /^[ -~\x80-\xFF]*$/.test(text) && text.length <= maxHeaders
}

/** Whether a response is the same without a connection. */
export const isPlainResponse = ({ status, headers, body }: InProcessResponse): boolean =>
  status >= 200 &&
  status !== 204 &&
  status !== 304 &&
  body.length <= maxBody &&
  isPlainHead(headers) &&
  !Object.keys(headers).some(name => framing.test(name))

const overConnection = Agent.prototype.dispatch

Agent.prototype.dispatch = function (this: Agent, options, handler) {
  const server = services.get(String(options.origin))
  if (server === undefined) return overConnection.call(this, options, handler)
  const headers = headersOf(options)
  if (!isPlainHead(headers) || Number(headers['content-length'] ?? 0) > maxBody)
    return overConnection.call(this, options, handler)
  const head = { host: server.host, connection: 'keep-alive', ...headers }
  void answer(server.service, head, options, handler, changed => overConnection.call(this, changed, handler))
  return true
}

/** The client of this process gives its headers as a record. */
const headersOf = ({ headers }: Dispatcher.DispatchOptions): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )

async function answer(
  service: InProcessService,
  headers: InProcessRequest['headers'],
  options: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  sendOverConnection: (options: Dispatcher.DispatchOptions) => void,
): Promise<void> {
  let isOver = false
  const end = (error: Error) => {
    if (!isOver) handler.onError?.(error)
    isOver = true
  }
  try {
    handler.onConnect?.(reason => end(reason ?? new Error('aborted')))
    if (isOver) return
    const pieces = await readPieces(options.body)
    await turn()
    if (isOver) return
    const response = await service({
      method: options.method,
      path: options.path,
      headers,
      body: Buffer.concat(pieces).toString(),
    })
    if (isOver) return
    if ('overConnection' in response) {
      sendOverConnection({
        ...options,
        body: options.body === null ? null : Buffer.concat(pieces),
        headers: { ...headersOf(options), ...response.overConnection },
      })
      return
    }
    const bytes = Buffer.from(response.body)
    handler.onHeaders?.(response.status, rawHeaders(response.headers, bytes.length), () => undefined, '')
    if (bytes.length > 0) handler.onData?.(bytes)
    isOver = true
    handler.onComplete?.([])
  } catch (error) {
    end(error instanceof Error ? error : new Error(String(error)))
  }
}

async function readPieces(body: Dispatcher.DispatchOptions['body']): Promise<readonly Uint8Array[]> {
  if (body instanceof Uint8Array) return [body]
  const pieces: Uint8Array[] = []
  if (body !== null) for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece)
  return pieces
}

/** The headers as a server of Node sends them. */
const rawHeaders = (headers: InProcessResponse['headers'], length: number): Buffer[] =>
  Object.entries({
    ...headers,
    connection: 'keep-alive',
    'keep-alive': 'timeout=5',
    'content-length': String(length),
  }).flatMap(([name, values]) =>
    [values].flat().flatMap(value => [Buffer.from(name), Buffer.from(value, 'latin1')]),
  )
