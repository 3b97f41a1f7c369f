import type { Dispatcher } from 'undici'
import { isMergeqError, MergeqError } from '../errors.ts'
import type { BodySink, HttpResponse } from './messages.ts'

const hint = 'Check the base URL, and any proxy in front of the service.'

const formatSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`

/** The host that sends a body, and the most bytes that are read of it. */
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

/** Throws a bad-answer error for an unknown encoding, damaged data, and more than `limit.max` bytes. */
export async function decompress(
  bytes: Uint8Array,
  encoding: string | undefined,
  limit: BodyLimit,
): Promise<Uint8Array> {
  if (encoding === undefined || /^(identity)?$/i.test(encoding.trim()) || bytes.length === 0) return bytes
  const { brotliDecompressSync, gunzipSync, inflateSync } = await import('node:zlib')
  const decoders = new Map([
    ['gzip', gunzipSync],
    ['x-gzip', gunzipSync],
    ['deflate', inflateSync],
    ['br', brotliDecompressSync],
  ])
  const decode = decoders.get(encoding.trim().toLowerCase())
  try {
    if (decode !== undefined) return decode(bytes, { maxOutputLength: limit.max })
  } catch (error) {
    if (isMergeqError(error)) throw error
    if (error instanceof RangeError) throw responseTooLargeError(limit)
  }
  throw unreadableBodyError(limit, encoding)
}

const unreadableBodyError = ({ host }: BodyLimit, encoding: string): MergeqError =>
  new MergeqError(
    'bad-answer',
    `The response from ${host} has the content encoding ${encoding}, but cannot be decoded.`,
    {
      hint,
      sentState: 'ambiguous',
    },
  )

/** Throws a bad-answer error for an unknown encoding, damaged data, and more than `limit.max` bytes. */
export async function* decompressStream(
  body: Dispatcher.ResponseData['body'],
  encoding: string | undefined,
  limit: BodyLimit,
): AsyncIterable<Uint8Array> {
  const { createBrotliDecompress, createGunzip, createInflate } = await import('node:zlib')
  const decoders = new Map([
    ['gzip', createGunzip],
    ['x-gzip', createGunzip],
    ['deflate', createInflate],
    ['br', createBrotliDecompress],
  ])
  const name = (encoding ?? '').trim().toLowerCase()
  const isPlain = name === '' || name === 'identity'
  const createDecoder = decoders.get(name)
  if (!isPlain && createDecoder === undefined) throw unreadableBodyError(limit, name)
  const decoder = createDecoder?.()
  if (decoder !== undefined) body.on('error', error => decoder.destroy(error)).pipe(decoder)
  let bytes = 0
  try {
    for await (const chunk of decoder ?? body) {
      bytes += chunk.length
      if (bytes > limit.max) throw responseTooLargeError(limit)
      yield chunk
    }
  } catch (error) {
    throw isZlibError(error) ? unreadableBodyError(limit, name) : error
  } finally {
    body.destroy()
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(Z_|ERR_.*BROTLI|ERR__ERROR)/.test(String(error.code))

/** The largest body that is buffered, in bytes. A response that breaks within it can be requested again. */
const maxBuffered = 1024 * 1024

/**
 * Reads a response body: a short body is returned, a longer body is streamed to the sink. The result for a
 * body that was written to the sink has no bytes and says in `streamedBytes` how many there were. `untimed`
 * runs work that does not count towards the time limit of the attempt, because the reader of the sink may be
 * slow.
 */
export async function streamBody(
  head: Pick<HttpResponse, 'status' | 'headers'>,
  chunks: AsyncIterable<Uint8Array>,
  sink: BodySink,
  untimed: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<HttpResponse> {
  let buffered: Uint8Array[] = []
  let [bytes, isStreamed] = [0, false]
  for await (const chunk of chunks) {
    bytes += chunk.length
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
