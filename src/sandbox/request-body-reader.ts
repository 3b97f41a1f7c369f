import type { IncomingMessage } from 'node:http'
import { maxBodySize } from '../domain/limits.ts'

/** A body as text, or the status of why it was not kept. */
export type ReadRequest = { readonly body: string } | { readonly trouble: 413 | 503 }

/** Most bytes that are held at one moment, of all requests together. */
const maxHeldBytes = 8 * maxBodySize

/** What is read of one request before its connection is given up; what is over the limit is thrown away at once. */
const maxReadBytes = 2 * maxBodySize

/**
 * Opens a place where bodies are read, at most so many bytes at a time. A body that is over the limit of
 * service-api.md section 8 is read on for a while without being kept, so that its sender gets to read the refusal.
 */
export function createRequestReader(): (request: IncomingMessage) => Promise<ReadRequest> {
  let held = 0
  return request =>
    new Promise((resolve, reject) => {
      let chunks: Uint8Array[] = []
      let [read, kept] = [0, 0]
      let trouble: 413 | 503 | undefined
      const letGo = () => {
        held -= kept
        kept = 0
        chunks = []
      }
      const take = (chunk: Uint8Array) => {
        read += chunk.length
        if (read > maxBodySize) trouble = 413
        else if (held + chunk.length > maxHeldBytes) trouble ??= 503
        if (trouble === undefined) {
          chunks.push(chunk)
          kept += chunk.length
          held += chunk.length
          return
        }
        letGo()
        if (read <= maxReadBytes) return
        request.off('data', take).pause()
        resolve({ trouble })
      }
      request.on('data', take)
      request.once('end', () => {
        resolve(trouble === undefined ? { body: Buffer.concat(chunks).toString('utf8') } : { trouble })
        letGo()
      })
      request.once('close', () => {
        letGo()
        reject(new Error('the request was cut'))
      })
    })
}
