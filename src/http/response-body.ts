import type { Dispatcher } from 'undici'
import { isMergeqError, MergeqError } from '../errors.ts'

const hint = 'Check the base address and what stands before the service.'

const sizeOf = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`

/** The failure for an answer of more than so many bytes: it is not asked for again. */
export const responseTooLargeError = (about: string, max: number): MergeqError =>
  new MergeqError('bad-answer', `${about} is larger than ${sizeOf(max)}.`, {
    hint: `${hint} If this answer is right, raise the limit with --max-answer <size>.`,
    sentState: 'ambiguous',
    overLimit: true,
  })

/**
 * The body in one piece. It is copied as it comes into a buffer that doubles: an answer in very many pieces would cost
 * far more memory than its bytes if the pieces were kept.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  max: number,
  about: string,
): Promise<Uint8Array> {
  let all: Uint8Array = new Uint8Array(0)
  let bytes = 0
  for await (const piece of body) {
    const before = bytes
    bytes += piece.length
    if (bytes > max) throw responseTooLargeError(about, max)
    // The one piece of a small answer needs no copy.
    if (before === 0) all = piece
    else {
      if (bytes > all.length) {
        const larger = new Uint8Array(Math.min(max, Math.max(bytes, 2 * before)))
        larger.set(all.subarray(0, before))
        all = larger
      }
      all.set(piece, before)
    }
  }
  return all.subarray(0, bytes)
}

/** A whole body, decompressed as its headers say, to at most so many bytes. */
export async function decompress(
  bytes: Uint8Array,
  encoding: string | undefined,
  max: number,
  about: string,
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
    if (read !== undefined) return read(bytes, { maxOutputLength: max })
  } catch (error) {
    if (isMergeqError(error)) throw error
    if (error instanceof RangeError) throw responseTooLargeError(about, max)
  }
  throw unreadableBodyError(about, encoding)
}

const unreadableBodyError = (about: string, encoding: string): MergeqError =>
  new MergeqError('bad-answer', `${about} says that it is ${encoding}, and cannot be read as that.`, {
    hint,
    sentState: 'ambiguous',
  })

/** The pieces of a body, decompressed as they come; more than the largest answer is a failure. */
export async function* decompressStream(
  body: Dispatcher.ResponseData['body'],
  encoding: string | undefined,
  max: number,
  about: string,
): AsyncIterable<Uint8Array> {
  const { createBrotliDecompress, createGunzip, createInflate } = await import('node:zlib')
  const readers = new Map([
    ['gzip', createGunzip],
    ['x-gzip', createGunzip],
    ['deflate', createInflate],
    ['br', createBrotliDecompress],
  ])
  const name = (encoding ?? '').trim().toLowerCase()
  const isPlain = name === '' || name === 'identity'
  const open = readers.get(name)
  if (!isPlain && open === undefined) throw unreadableBodyError(about, name)
  const reader = open?.()
  if (reader !== undefined) body.on('error', error => reader.destroy(error)).pipe(reader)
  let bytes = 0
  try {
    for await (const piece of reader ?? body) {
      bytes += piece.length
      if (bytes > max) throw responseTooLargeError(about, max)
      yield piece
    }
  } catch (error) {
    throw isZlib(error) ? unreadableBodyError(about, name) : error
  } finally {
    body.destroy()
  }
}

const isZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(Z_|ERR_.*BROTLI|ERR__ERROR)/.test(String(error.code))
