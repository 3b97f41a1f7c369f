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

/** What a way of answering works with. */
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

/** A way of answering, or of failing to. */
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

// Ways of answering.

export const write = ({ response, date }: Exchange, { status, headers = {}, body = '' }: Reply): void => {
  const bytes = Buffer.from(body)
  response.writeHead(status, {
    date,
    ...(status === 204 || status === 304 ? {} : { 'content-length': bytes.length }),
    ...headers,
  })
  response.end(bytes)
}

/** As the service answers when it works. */
export const respondNormally: Responder = exchange => write(exchange, exchange.normalReply)

/** The same, without a `Date`. */
export const withoutDate: Responder = ({ response, normalReply: { status, body = '' } }) => {
  response.sendDate = false
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** This answer, whatever the service would say. */
export const respondWith =
  (
    status: number,
    body: string | Uint8Array = '',
    headers: Readonly<Record<string, string>> = {},
  ): Responder =>
  exchange =>
    write(exchange, { status, body, headers })

/** The connection is reset: RST, no answer. */
export const resetConnection: Responder = ({ raw }) => {
  raw.resetAndDestroy()
}

/** The connection is closed in good form, without an answer. */
export const closeConnection: Responder = ({ socket }) => {
  socket.end()
}

/** Nothing ever comes. */
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

/** A body that goes on for as long as it is read. */
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

/** So many MiB in very few bytes of gzip. */
export const respondWithGzipBomb = (mebibytes: number): Responder => {
  const member = gzipSync(Buffer.alloc(1024 * 1024, ' '))
  const bytes = Buffer.concat(Array.from({ length: mebibytes }, () => member))
  return respondWith(200, bytes, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
}

// Acts.

/** Works as it should. */
export const normalBehavior: Behavior = { effect: 'now', respond: respondNormally }

/** Does nothing and answers so. */
export const withoutEffect = (show: Responder): Behavior => ({ effect: 'never', respond: show })

/** Takes effect, and answers so. */
export const withEffect = (show: Responder): Behavior => ({ effect: 'now', respond: show })

/** Takes effect so many milliseconds later, and answers so now. */
export const withLateEffect = (milliseconds: number, show: Responder): Behavior => ({
  effect: milliseconds,
  respond: show,
})
