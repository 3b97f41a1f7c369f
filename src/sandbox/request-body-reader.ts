import type { IncomingMessage } from 'node:http'
import { maxBodySize } from '../domain/limits.ts'

/**
 * The body of a request as text, or the status that refuses it: 413 for a large body, 503 if too many bytes
 * are kept for other requests.
 */
export type BodyReadResult = { readonly body: string } | { readonly refusedWith: 413 | 503 }

/** Maximum bytes kept in memory at a time, for all requests together. */
const maxBufferedBytes = 8 * maxBodySize

/** Bytes read of a body that is not kept, before reading stops. */
const maxReadBytes = 2 * maxBodySize

/**
 * Creates a function that reads request bodies; together they keep a limited number of bytes in memory. A
 * body over `maxBodySize` (docs/reference/service.md, "Limits") is read on for a while without being kept,
 * because many clients read the response only after they have sent the body. The function rejects if the
 * connection closes before the body is complete.
 */
export function createBodyReader(): (request: IncomingMessage) => Promise<BodyReadResult> {
  let bufferedBytes = 0
  return request =>
    new Promise((resolve, reject) => {
      let chunks: Uint8Array[] = []
      let [readBytes, keptBytes] = [0, 0]
      let refusedWith: 413 | 503 | undefined
      const releaseMemory = () => {
        bufferedBytes -= keptBytes
        keptBytes = 0
        chunks = []
      }
      const receiveChunk = (chunk: Uint8Array) => {
        readBytes += chunk.length
        if (readBytes > maxBodySize) refusedWith = 413
        else if (bufferedBytes + chunk.length > maxBufferedBytes) refusedWith ??= 503
        if (refusedWith === undefined) {
          chunks.push(chunk)
          keptBytes += chunk.length
          bufferedBytes += chunk.length
          return
        }
        releaseMemory()
        if (readBytes <= maxReadBytes) return
        request.off('data', receiveChunk).pause()
        resolve({ refusedWith })
      }
      request.on('data', receiveChunk)
      request.once('end', () => {
        resolve(
          refusedWith === undefined ? { body: Buffer.concat(chunks).toString('utf8') } : { refusedWith },
        )
        releaseMemory()
      })
      request.once('close', () => {
        releaseMemory()
        reject(new Error('the request is incomplete'))
      })
    })
}
