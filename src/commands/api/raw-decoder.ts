import type { ResponseBody, ResponseDecoder } from '../../api/response.ts'
import { maxListResponseSize } from '../../domain/limits.ts'
import { isObject } from '../../json.ts'

/** Creates a decoder that keeps the body unchanged; `include` adds the status line and headers in front. */
export const createRawDecoder = (include: boolean): ResponseDecoder => ({
  expects: 'anything',
  maxBytes: maxListResponseSize,
  read(body) {
    const { bytes, document } = body
    const rawBody = include ? prependHead(body) : bytes
    return {
      records: isObject(document) ? [document] : [],
      document: ([record]) => record ?? document ?? null,
      bytes,
      rawBody,
    }
  },
  ...(include ? { readError: prependHead } : {}),
  streaming: {
    formats: 'all',
    begin: start => (include ? prependHead({ ...start, bytes: new Uint8Array(0) }) : new Uint8Array(0)),
  },
})

/** Returns a response as text: status line, headers, an empty line and the body. */
function prependHead({ status, headers, bytes }: ResponseBody): Uint8Array {
  const lines = [`HTTP ${status}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), '', '']
  const head = new TextEncoder().encode(lines.join('\r\n'))
  const result = new Uint8Array(head.length + bytes.length)
  result.set(head)
  result.set(bytes, head.length)
  return result
}
