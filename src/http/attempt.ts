import requestBy from 'undici/lib/api/api-request.js'
import type { ConnectionPool } from './connection-pools.ts'
import type { HttpRequest, RequestBody } from './http-request.ts'
import { decompress, decompressStream, readBody, responseTooLargeError } from './response-body.ts'
import { type BodySink, streamBody } from './stream-body.ts'
import { timeLimitCode } from './transport-error.ts'

/** A complete HTTP response with its body decompressed. */
export interface HttpResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
  /** The number of body bytes that were written to a sink; `bytes` is then empty. */
  readonly streamedBytes?: number
}

/** The longest pause between two pieces of an upload, in milliseconds. */
const uploadIdleLimit = 15_000
/** The largest request body that is sent as one piece, in bytes. */
const maxSinglePiece = 64 * 1024
/** The size of the pieces of a larger body, in bytes. Each piece that is sent restarts the upload timer. */
const chunkSize = 256 * 1024

/** The interval at which received bytes are counted, in milliseconds. */
const countInterval = 50
/**
 * The number of bytes that a connection pool may receive for a response body of at most `max` bytes. Up to
 * four pages of records share a pool, and chunks, headers and encryption add bytes. The limit stops a flood
 * of bytes that are not part of a body.
 */
const maxOnWire = (max: number): number => Math.min(5 * max, max + 64 * 1024 * 1024) + 1024 * 1024

/**
 * Sends a request once and returns its response. `limit` is the time limit of the attempt in milliseconds,
 * without the upload. `onBegin` is called when the request is handed to a connection: before that call the
 * service cannot have applied any part of it. The body of a 2xx response is written to `sink`, if there is
 * one, unless the body is short. Rejects with the error of undici, with the time limit error, or with the
 * reason of `interrupted`.
 */
export async function sendOnce(
  { dispatcher, received }: Pick<ConnectionPool, 'dispatcher' | 'received'>,
  request: HttpRequest,
  headers: Readonly<Record<string, string>>,
  limit: number,
  interrupted: AbortSignal,
  onBegin: (() => void) | undefined,
  sink?: BodySink,
): Promise<HttpResponse> {
  const { origin, pathname, search } = new URL(request.url)
  const timer = createAttemptTimer()
  const stop = () => timer.abort(interrupted.reason)
  interrupted.addEventListener('abort', stop, { once: true })
  if (interrupted.aborted) stop()
  const description = `The response from ${new URL(request.url).host}`
  const receivedBefore = received()
  const countTimer = setInterval(() => {
    if (received() - receivedBefore > maxOnWire(request.maxResponseSize))
      timer.abort(responseTooLargeError(description, request.maxResponseSize))
  }, countInterval)
  try {
    const onSent = () => timer.restart(limit)
    const response = requestBy.call(dispatcher, {
      origin,
      path: `${pathname}${search}`,
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...(request.body === undefined ? {} : { 'content-length': String(request.body.bytes) }),
      },
      body: createUpload(request, onSent, () => timer.restart(uploadIdleLimit), onBegin),
      signal: timer.signal,
    })
    // undici observes the signal only after it is connected; this race limits the time before that.
    response.catch(() => undefined)
    const { statusCode, headers: rawHeaders, body } = await Promise.race([response, timer.expired])
    const flatHeaders = flattenHeaders(rawHeaders)
    if (sink !== undefined && statusCode >= 200 && statusCode <= 299) {
      const chunks = decompressStream(
        body,
        flatHeaders.get('content-encoding'),
        request.maxResponseSize,
        description,
      )
      return await streamBody({ status: statusCode, headers: flatHeaders }, chunks, sink, timer.withoutTimer)
    }
    const bytes = await readBody(body, request.maxResponseSize, description)
    return {
      status: statusCode,
      headers: flatHeaders,
      bytes: await decompress(
        bytes,
        flatHeaders.get('content-encoding'),
        request.maxResponseSize,
        description,
      ),
    }
  } catch (error) {
    if (timer.signal.aborted) throw timer.signal.reason
    throw error
  } finally {
    timer.clear()
    clearInterval(countTimer)
    interrupted.removeEventListener('abort', stop)
  }
}

/** The timer aborts `signal` when its time is over, and is restarted during the upload. */
function createAttemptTimer() {
  const controller = new AbortController()
  const expired = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  expired.catch(() => undefined)
  let timeout: ReturnType<typeof setTimeout> | undefined
  let endsAt = 0
  const clear = () => clearTimeout(timeout)
  const restart = (limit: number) => {
    clear()
    endsAt = performance.now() + limit
    timeout = setTimeout(
      () => controller.abort(Object.assign(new Error('timed out'), { code: timeLimitCode })),
      limit,
    )
  }
  return {
    signal: controller.signal,
    expired,
    clear,
    abort: (reason: unknown) => controller.abort(reason),
    restart,
    async withoutTimer<T>(work: () => Promise<T>): Promise<T> {
      const remaining = endsAt - performance.now()
      clear()
      try {
        return await work()
      } finally {
        restart(Math.max(0, remaining))
      }
    },
  }
}

/**
 * Returns the request body for undici. A small body of a read is one piece; any other body is an iterable
 * of pieces, and undici asks for the first piece when it is connected. `onPiece` is called before each
 * piece, `onSent` after the last one.
 */
function createUpload(
  { body }: HttpRequest,
  onSent: () => void,
  onPiece: () => void,
  onBegin: (() => void) | undefined,
): Uint8Array | AsyncIterable<Uint8Array> | null {
  if (body === undefined || (onBegin === undefined && body.bytes <= maxSinglePiece)) {
    onSent()
    return body === undefined ? null : joinPieces(body)
  }
  async function* chunks(list: readonly Uint8Array[]) {
    onBegin?.()
    for (const piece of list)
      for (let start = 0; start < piece.length; start += chunkSize) {
        onPiece()
        yield piece.subarray(start, start + chunkSize)
      }
    onSent()
  }
  onSent()
  return chunks(body.pieces)
}

const joinPieces = ({ pieces, bytes }: RequestBody): Uint8Array => {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return first
  const joined = new Uint8Array(bytes)
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.length
  }
  return joined
}

const flattenHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
    ),
  )
