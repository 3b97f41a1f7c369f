import type { Dispatcher } from 'undici'
import requestBy from 'undici/lib/api/api-request.js'
import { Failure, isFailure } from '../failure.ts'
import type { Body, Request } from '../request/request.ts'
import { timeIsOver } from './faults.ts'

/** What came back: the body is decompressed and whole. */
export interface Response {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
}

const largestAnswer = 64 * 1024 * 1024
const uploadIdle = 15_000
/** A body up to this size is handed over in one piece. */
const small = 64 * 1024

/** Sends a request once. `limit` bounds the attempt in milliseconds, the upload not counted. */
export async function attempt(
  dispatcher: Dispatcher,
  request: Request,
  headers: Readonly<Record<string, string>>,
  limit: number,
  interrupted: AbortSignal,
): Promise<Response> {
  const { origin, pathname, search } = new URL(request.url)
  const clock = openTimer()
  const stop = () => clock.end(interrupted.reason)
  interrupted.addEventListener('abort', stop, { once: true })
  if (interrupted.aborted) stop()
  try {
    const sent = () => clock.restart(limit)
    const {
      statusCode,
      headers: answered,
      body,
    } = await requestBy.call(dispatcher, {
      origin,
      path: `${pathname}${search}`,
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...(request.body === undefined ? {} : { 'content-length': String(request.body.bytes) }),
      },
      body: upload(request.body, sent, () => clock.restart(uploadIdle)),
      signal: clock.signal,
    })
    const flat = flatten(answered)
    const bytes = await readWhole(body, request.operation)
    return {
      status: statusCode,
      headers: flat,
      bytes: await unpacked(bytes, flat.get('content-encoding'), request.operation),
    }
  } catch (error) {
    if (clock.signal.aborted) throw clock.signal.reason
    throw error
  } finally {
    clock.clear()
    interrupted.removeEventListener('abort', stop)
  }
}

/** A timer that aborts: restarted while the upload goes on, then set to the limit of the answer. */
function openTimer() {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const clear = () => clearTimeout(timer)
  return {
    signal: controller.signal,
    clear,
    end: (reason: unknown) => controller.abort(reason),
    restart(limit: number) {
      clear()
      timer = setTimeout(
        () => controller.abort(Object.assign(new Error('the time is over'), { code: timeIsOver })),
        limit,
      )
    },
  }
}

/** The body as it is handed over: a small one whole, a large one piece by piece, each piece a sign of life. */
function upload(
  body: Body | undefined,
  sent: () => void,
  alive: () => void,
): Uint8Array | AsyncIterable<Uint8Array> | null {
  if (body === undefined || body.bytes <= small) {
    sent()
    return body === undefined ? null : whole(body)
  }
  async function* pieces(list: readonly Uint8Array[]) {
    for (const piece of list) {
      alive()
      yield piece
    }
    sent()
  }
  return pieces(body.pieces)
}

const whole = ({ pieces, bytes }: Body): Uint8Array => {
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

const tooLarge = (operation: string): Failure =>
  new Failure('bad-answer', `${operation}: the answer is larger than 64 MiB.`, {
    operation,
    reach: 'ambiguous',
  })

async function readWhole(body: AsyncIterable<Uint8Array>, operation: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > largestAnswer) throw tooLarge(operation)
  }
  return whole({ pieces, bytes })
}

async function unpacked(
  bytes: Uint8Array,
  encoding: string | undefined,
  operation: string,
): Promise<Uint8Array> {
  if (encoding === undefined || /^(identity)?$/i.test(encoding.trim()) || bytes.length === 0) return bytes
  const { brotliDecompressSync, gunzipSync, inflateSync } = await import('node:zlib')
  const readers = new Map([
    ['gzip', gunzipSync],
    ['x-gzip', gunzipSync],
    ['deflate', inflateSync],
    ['br', brotliDecompressSync],
  ])
  const read = readers.get(encoding.trim().toLowerCase())
  try {
    if (read !== undefined) return read(bytes, { maxOutputLength: largestAnswer })
  } catch (error) {
    if (isFailure(error)) throw error
    if (error instanceof RangeError) throw tooLarge(operation)
  }
  throw new Failure(
    'bad-answer',
    `${operation}: the answer says that it is ${encoding}, and cannot be read as that.`,
    {
      operation,
      reach: 'ambiguous',
    },
  )
}
