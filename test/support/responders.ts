import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { FaultServer, LoggedRequest } from './fault-server.ts'

/** An answer: what status, headers and body the client gets to see. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** What a responder works with. */
export interface Exchange {
  readonly request: LoggedRequest
  readonly response: ServerResponse
  readonly socket: Socket
  /** What lies below the encryption; without TLS, the socket itself. */
  readonly raw: Socket
  /** What the service would answer if it worked. */
  readonly normalReply: Reply
  /** The `Date` of the answer. */
  readonly date: string
}

/** Sends a response, or fails to. */
export type Responder = (exchange: Exchange) => void

/** What the server does with one request. */
export interface Behavior {
  /** When a change takes effect: never, before it is answered, or so many milliseconds later. */
  readonly effect: 'never' | 'now' | number
  readonly respond: Responder
  /** Waits so many real milliseconds before it reads the body. */
  readonly delayBeforeBody?: number
  /** Breaks the connection after so many bytes of the body. */
  readonly cutUploadAt?: number
  /** Milliseconds that pass before the answer is made, and between its `Date` and the answer. */
  readonly delayBeforeReply?: number
  readonly delayAfterDate?: number
  /** Happens once the answer has been made, before it is sent. */
  readonly beforeReply?: (server: FaultServer) => void
  /** Nothing listens any more once this has been answered. */
  readonly closesPort?: boolean
}

export const write = ({ response, date }: Exchange, { status, headers = {}, body = '' }: Reply): void => {
  const bytes = Buffer.from(body)
  response.writeHead(status, {
    date,
    ...(status === 204 || status === 304 ? {} : { 'content-length': bytes.length }),
    ...headers,
  })
  response.end(bytes)
}

/** Sends the normal reply. */
export const respondNormally: Responder = exchange => write(exchange, exchange.normalReply)

/** The same, without a `Date`. */
export const withoutDate: Responder = ({ response, normalReply: { status, body = '' } }) => {
  response.sendDate = false
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Sends this reply instead of the normal one. */
export const respondWith =
  (
    status: number,
    body: string | Uint8Array = '',
    headers: Readonly<Record<string, string>> = {},
  ): Responder =>
  exchange =>
    write(exchange, { status, body, headers })

/** Resets the connection (RST) without a response. */
export const resetConnection: Responder = ({ raw }) => {
  raw.resetAndDestroy()
}

/** Closes the connection without a response. */
export const closeConnection: Responder = ({ socket }) => {
  socket.end()
}

/** Never responds. */
export const neverRespond: Responder = () => undefined

/** The head promises the whole answer; half of the body comes, then the end. */
export const truncateBody: Responder = ({ response, socket, normalReply, date }) => {
  const bytes = Buffer.from(normalReply.body ?? '')
  response.writeHead(normalReply.status, {
    date,
    'content-length': Math.max(bytes.length, 2),
    ...normalReply.headers,
  })
  response.flushHeaders()
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => socket.end())
}

/** The answer comes in these pieces, so many real milliseconds apart, and then the connection is reset. */
export const resetAfterBytes =
  (reply: Reply, after: number): Responder =>
  ({ response, raw, date }) => {
    const bytes = Buffer.from(reply.body ?? '')
    response.writeHead(reply.status, { date, 'content-length': bytes.length, ...reply.headers })
    response.write(bytes.subarray(0, after), () => setTimeout(() => raw.resetAndDestroy(), 20))
  }

/** One byte of a valid answer each so many real milliseconds. */
export const respondByteByByte =
  (body: string, every: number): Responder =>
  ({ response, socket, date }) => {
    response.writeHead(200, { date, 'content-length': Buffer.byteLength(body) })
    let at = 0
    const timer = setInterval(() => {
      if (at < body.length) response.write(body[at++])
      else {
        clearInterval(timer)
        response.end()
      }
    }, every)
    socket.once('close', () => clearInterval(timer))
  }

/** These bytes, past the HTTP library; then the end. */
export const writeRaw =
  (...pieces: readonly (string | Uint8Array)[]): Responder =>
  ({ socket }) => {
    for (const piece of pieces) socket.write(piece)
    socket.end()
  }

/** Over TLS: a record that cannot be decrypted, where an answer was due; then the end. */
export const sendBrokenTlsRecord: Responder = ({ raw }) => {
  raw.write(Buffer.from([0x17, 3, 3, 0, 64, ...Array.from({ length: 64 }, () => 1)]))
  setTimeout(() => raw.end(), 20)
}

/** Sends a body without end. */
export const respondEndlessly: Responder = ({ response, socket, date }) => {
  const piece = Buffer.alloc(1024 * 1024, ' ')
  response.writeHead(200, { date, 'content-type': 'application/json' })
  response.write('{"tests":[')
  const more = () => {
    while (!socket.destroyed && response.write(piece));
  }
  response.on('drain', more)
  more()
}

/** Sends this many MiB, compressed by gzip to few bytes. */
export const respondWithGzipBomb = (mebibytes: number): Responder => {
  const member = gzipSync(Buffer.alloc(1024 * 1024, ' '))
  const bytes = Buffer.concat(Array.from({ length: mebibytes }, () => member))
  return respondWith(200, bytes, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
}

/** Applies writes and sends the normal reply. */
export const normalBehavior: Behavior = { effect: 'now', respond: respondNormally }

/** Responds so without applying a write. */
export const withoutEffect = (show: Responder): Behavior => ({ effect: 'never', respond: show })

/** Applies a write and responds so. */
export const withEffect = (show: Responder): Behavior => ({ effect: 'now', respond: show })

/** Responds so at once and applies a write this many milliseconds later. */
export const withLateEffect = (milliseconds: number, show: Responder): Behavior => ({
  effect: milliseconds,
  respond: show,
})
