import type { Dispatcher } from 'undici'
import { MergeqError } from '../base/errors.ts'

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

export interface HttpResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
}

const hint = 'Check the base URL, and any proxy in front of the service.'

const formatSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`

interface BodyLimit {
  readonly host: string
  readonly max: number
  /** Whether the rest of a larger body is left out, instead of an error. */
  readonly isCut?: boolean
}

export const maxErrorBody = 1024 * 1024

export const responseTooLargeError = ({ host, max }: BodyLimit): MergeqError =>
  new MergeqError('bad-answer', `The response from ${host} is larger than ${formatSize(max)}.`, {
    hint: `${hint} If the response is correct, request less data.`,
    sentState: 'ambiguous',
    isResponseTooLarge: true,
  })

/**
 * Reads a response body of at most `limit.max` bytes into one array. Chunks are copied into a buffer that
 * doubles: keeping very many small chunks would take far more memory than their bytes. A larger body is cut or
 * throws a bad-answer error.
 */
export async function readBody(body: AsyncIterable<Uint8Array>, limit: BodyLimit): Promise<Uint8Array> {
  let joined: Uint8Array = new Uint8Array(0)
  let bytes = 0
  for await (const received of body) {
    const before = bytes
    const chunk = limit.isCut === true ? received.subarray(0, limit.max - before) : received
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
    if (chunk.length < received.length) break
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
