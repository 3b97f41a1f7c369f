import type { Dispatcher } from 'undici'
import { isMergeqError, MergeqError } from '../errors.ts'

const hint = 'Check the base URL, and any proxy in front of the service.'

const formatSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`

export const responseTooLargeError = (description: string, max: number): MergeqError =>
  new MergeqError('bad-answer', `${description} is larger than ${formatSize(max)}.`, {
    hint: `${hint} If the response is correct, request less data.`,
    sentState: 'ambiguous',
    overLimit: true,
  })

/**
 * Reads a response body of at most `max` bytes into one array. Chunks are copied into a buffer that
 * doubles: keeping very many small chunks would take far more memory than their bytes. Throws a bad-answer
 * error for a larger body.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  max: number,
  description: string,
): Promise<Uint8Array> {
  let joined: Uint8Array = new Uint8Array(0)
  let bytes = 0
  for await (const chunk of body) {
    const before = bytes
    bytes += chunk.length
    if (bytes > max) throw responseTooLargeError(description, max)
    // The only chunk of a small response needs no copy.
    if (before === 0) joined = chunk
    else {
      if (bytes > joined.length) {
        const larger = new Uint8Array(Math.min(max, Math.max(bytes, 2 * before)))
        larger.set(joined.subarray(0, before))
        joined = larger
      }
      joined.set(chunk, before)
    }
  }
  return joined.subarray(0, bytes)
}

/** Throws a bad-answer error for an unknown encoding, damaged data, and more than `max` bytes. */
export async function decompress(
  bytes: Uint8Array,
  encoding: string | undefined,
  max: number,
  description: string,
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
    if (decode !== undefined) return decode(bytes, { maxOutputLength: max })
  } catch (error) {
    if (isMergeqError(error)) throw error
    if (error instanceof RangeError) throw responseTooLargeError(description, max)
  }
  throw unreadableBodyError(description, encoding)
}

const unreadableBodyError = (description: string, encoding: string): MergeqError =>
  new MergeqError(
    'bad-answer',
    `${description} has the content encoding ${encoding}, but cannot be decoded.`,
    {
      hint,
      sentState: 'ambiguous',
    },
  )

/** Throws a bad-answer error for an unknown encoding, damaged data, and more than `max` bytes. */
export async function* decompressStream(
  body: Dispatcher.ResponseData['body'],
  encoding: string | undefined,
  max: number,
  description: string,
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
  if (!isPlain && createDecoder === undefined) throw unreadableBodyError(description, name)
  const decoder = createDecoder?.()
  if (decoder !== undefined) body.on('error', error => decoder.destroy(error)).pipe(decoder)
  let bytes = 0
  try {
    for await (const chunk of decoder ?? body) {
      bytes += chunk.length
      if (bytes > max) throw responseTooLargeError(description, max)
      yield chunk
    }
  } catch (error) {
    throw isZlibError(error) ? unreadableBodyError(description, name) : error
  } finally {
    body.destroy()
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(Z_|ERR_.*BROTLI|ERR__ERROR)/.test(String(error.code))
