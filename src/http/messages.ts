import type { Dispatcher } from 'undici'
import { MergeqError } from '../errors.ts'

/** The body of an HTTP request in pieces; `bytes` is its length as it will be sent. */
export interface RequestBody {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
}

export interface HttpRequest {
  readonly operation: string
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly credential: 'token' | 'in-headers' | 'none'
  readonly body?: RequestBody
  /** Whether the request can change data. A change is repeated only when it was certainly not applied. */
  readonly isChange: boolean
  /** The largest response body that the client reads, in bytes after decompression. */
  readonly maxResponseSize: number
}

/** An HTTP response with its body decompressed: the whole response, or its beginning for a sink. */
export interface HttpResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
  /** The number of body bytes that were written to a sink; `bytes` is then empty. */
  readonly streamedBytes?: number
}

/** Receives the pieces of a response body that is too long to be buffered. */
export interface BodySink {
  /** Checks the beginning of the body before any piece is written. Throws when the response is not valid. */
  begin(start: HttpResponse): void
  /** Writes the next piece. Resolves to false when the reader needs no more pieces. */
  write(chunk: Uint8Array): Promise<boolean>
  end(): Promise<void>
}

const hint = 'Check the base URL, and any proxy in front of the service.'

const formatSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`

interface BodyLimit {
  readonly host: string
  readonly max: number
}

export const responseTooLargeError = ({ host, max }: BodyLimit): MergeqError =>
  new MergeqError('bad-answer', `The response from ${host} is larger than ${formatSize(max)}.`, {
    hint: `${hint} If the response is correct, request less data.`,
    sentState: 'ambiguous',
    overLimit: true,
  })

/**
 * Reads a response body of at most `limit.max` bytes into one array. Chunks are copied into a buffer that
 * doubles: keeping very many small chunks would take far more memory than their bytes. Throws a bad-answer
 * error for a larger body.
 */
export async function readBody(body: AsyncIterable<Uint8Array>, limit: BodyLimit): Promise<Uint8Array> {
  let joined: Uint8Array = new Uint8Array(0)
  let bytes = 0
  for await (const chunk of body) {
    const before = bytes
    bytes += chunk.length
    if (bytes > limit.max) throw responseTooLargeError(limit)
    // The only chunk of a small response needs no copy.
    if (before === 0) joined = chunk
    else {
      if (bytes > joined.length) {
        const larger = new Uint8Array(Math.min(limit.max, Math.max(bytes, 2 * before)))
        larger.set(joined.subarray(0, before))
        joined = larger
      }
      joined.set(chunk, before)
    }
  }
  return joined.subarray(0, bytes)
}

/** Throws a bad-answer error for damaged data, and for another encoding than gzip, the only one requested. */
export async function* decompress(
  body: Dispatcher.ResponseData['body'],
  encoding = '',
  host: string,
): AsyncIterable<Uint8Array> {
  if (/^\s*(?:identity)?\s*$/i.test(encoding)) {
    yield* body
    return
  }
  const unreadable = new MergeqError(
    'bad-answer',
    `The response from ${host} has the content encoding ${encoding}, but cannot be decoded.`,
    { hint, sentState: 'ambiguous' },
  )
  if (!/^\s*(?:x-)?gzip\s*$/i.test(encoding)) throw unreadable
  const { createGunzip } = await import('node:zlib')
  const decoder = createGunzip({ chunkSize: 64 * 1024 })
  body.on('error', error => decoder.destroy(error)).pipe(decoder)
  try {
    yield* decoder
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!code.startsWith('Z_')) throw error
    // A response without a body has nothing to decompress.
    if (code !== 'Z_BUF_ERROR' || decoder.bytesWritten > 0) throw unreadable
  } finally {
    body.destroy()
  }
}

/** The largest body that is buffered, in bytes. A response that breaks within it can be requested again. */
const maxBuffered = 1024 * 1024

interface StreamOptions {
  readonly sink: BodySink
  readonly limit: BodyLimit
  /** Runs work that does not count towards the time limit of the attempt: the reader may be slow. */
  untimed<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Reads a response body: a short body is returned, a longer body is streamed to the sink. The result for a
 * body that was written to the sink has no bytes and says in `streamedBytes` how many there were.
 */
export async function streamBody(
  head: Pick<HttpResponse, 'status' | 'headers'>,
  chunks: AsyncIterable<Uint8Array>,
  { sink, limit, untimed }: StreamOptions,
): Promise<HttpResponse> {
  let buffered: Uint8Array[] = []
  let [bytes, isStreamed] = [0, false]
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > limit.max) throw responseTooLargeError(limit)
    buffered.push(chunk)
    if (bytes <= maxBuffered) continue
    const next = Buffer.concat(buffered)
    buffered = []
    if (!isStreamed) sink.begin({ ...head, bytes: next })
    isStreamed = true
    if (!(await untimed(() => sink.write(next)))) break
  }
  if (!isStreamed) return { ...head, bytes: Buffer.concat(buffered) }
  await untimed(() => sink.end())
  return { ...head, bytes: new Uint8Array(0), streamedBytes: bytes }
}
