import requestBy from 'undici/lib/api/api-request.js'
import type { ConnectionPool } from './connection-pools.ts'
import { type BodySink, passThrough } from './pass-through.ts'
import type { HttpRequest, RequestBody } from './request.ts'
import { decompress, decompressStream, readBody, responseTooLargeError } from './response-body.ts'
import { timeLimitCode } from './transport-error.ts'

/** What came back: the body is decompressed and whole. */
export interface HttpResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
  /** How many bytes of the body went into a sink instead. */
  readonly passedOn?: number
}

const uploadIdleLimit = 15_000
/** A body up to this size is handed over in one piece. */
const maxSinglePiece = 64 * 1024
/** A larger one goes out in steps of this size, each a sign of life. */
const chunkSize = 256 * 1024

/** How often the bytes that came are counted, in milliseconds. */
const countingPause = 50
/**
 * The bytes that may come on a way for an answer of at most so many: up to four answers of records may come side by side,
 * and pieces, headers and encryption take room. A flood of what is no body ends here.
 */
const maxOnWire = (max: number): number => Math.min(5 * max, max + 64 * 1024 * 1024) + 1024 * 1024

/**
 * Sends a request once. `limit` bounds the attempt in milliseconds, the upload not counted; `began`, where it
 * matters, is told when the request is handed to a connection: before that, nothing of it can have been applied. The
 * body of a 2xx goes into `sink`, where there is one, unless it is short.
 */
export async function sendOnce(
  { dispatcher, received }: Pick<ConnectionPool, 'dispatcher' | 'received'>,
  request: HttpRequest,
  headers: Readonly<Record<string, string>>,
  limit: number,
  interrupted: AbortSignal,
  began: (() => void) | undefined,
  sink?: BodySink,
): Promise<HttpResponse> {
  const { origin, pathname, search } = new URL(request.url)
  const clock = openTimer()
  const stop = () => clock.end(interrupted.reason)
  interrupted.addEventListener('abort', stop, { once: true })
  if (interrupted.aborted) stop()
  const about = `${request.operation}: the answer of ${new URL(request.url).host}`
  const before = received()
  const counting = setInterval(() => {
    if (received() - before > maxOnWire(request.maxAnswer))
      clock.end(responseTooLargeError(about, request.maxAnswer))
  }, countingPause)
  try {
    const sent = () => clock.restart(limit)
    const answer = requestBy.call(dispatcher, {
      origin,
      path: `${pathname}${search}`,
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...(request.body === undefined ? {} : { 'content-length': String(request.body.bytes) }),
      },
      body: upload(request, sent, () => clock.restart(uploadIdleLimit), began),
      signal: clock.signal,
    })
    // undici heeds the signal only once there is a connection; until then nothing else would bound the wait.
    answer.catch(() => undefined)
    const { statusCode, headers: answered, body } = await Promise.race([answer, clock.over])
    const flat = flatten(answered)
    if (sink !== undefined && statusCode >= 200 && statusCode <= 299) {
      const pieces = decompressStream(body, flat.get('content-encoding'), request.maxAnswer, about)
      return await passThrough({ status: statusCode, headers: flat }, pieces, sink, clock.untimed)
    }
    const bytes = await readBody(body, request.maxAnswer, about)
    return {
      status: statusCode,
      headers: flat,
      bytes: await decompress(bytes, flat.get('content-encoding'), request.maxAnswer, about),
    }
  } catch (error) {
    if (clock.signal.aborted) throw clock.signal.reason
    throw error
  } finally {
    clock.clear()
    clearInterval(counting)
    interrupted.removeEventListener('abort', stop)
  }
}

/** A timer that aborts: restarted while the upload goes on, then set to the limit of the answer. */
function openTimer() {
  const controller = new AbortController()
  const over = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  over.catch(() => undefined)
  let timer: ReturnType<typeof setTimeout> | undefined
  let ends = 0
  const clear = () => clearTimeout(timer)
  const restart = (limit: number) => {
    clear()
    ends = performance.now() + limit
    timer = setTimeout(
      () => controller.abort(Object.assign(new Error('the time is over'), { code: timeLimitCode })),
      limit,
    )
  }
  return {
    signal: controller.signal,
    /** Rejects when the time is over. */
    over,
    clear,
    end: (reason: unknown) => controller.abort(reason),
    restart,
    /** Does work whose time does not count. */
    async untimed<T>(work: () => Promise<T>): Promise<T> {
      const left = ends - performance.now()
      clear()
      try {
        return await work()
      } finally {
        restart(Math.max(0, left))
      }
    },
  }
}

/**
 * The body as it is handed over: the small one of a read whole, any other piece by piece, each piece a sign of life.
 * The first piece is asked for when there is a connection.
 */
function upload(
  { body }: HttpRequest,
  sent: () => void,
  alive: () => void,
  began: (() => void) | undefined,
): Uint8Array | AsyncIterable<Uint8Array> | null {
  if (body === undefined || (began === undefined && body.bytes <= maxSinglePiece)) {
    sent()
    return body === undefined ? null : whole(body)
  }
  async function* pieces(list: readonly Uint8Array[]) {
    began?.()
    for (const piece of list)
      for (let from = 0; from < piece.length; from += chunkSize) {
        alive()
        yield piece.subarray(from, from + chunkSize)
      }
    sent()
  }
  sent()
  return pieces(body.pieces)
}

const whole = ({ pieces, bytes }: RequestBody): Uint8Array => {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return first
  const all = new Uint8Array(bytes)
  let offset = 0
  for (const piece of pieces) {
    all.set(piece, offset)
    offset += piece.length
  }
  return all
}

const flatten = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
    ),
  )
