import { bodyTooLargeError } from '../../api/request.ts'
import { maxBodySize } from '../../domain/limits.ts'
import { usageError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { parseJson } from '../../json-text.ts'

/** The bytes of --input that are read: white space may make a body of 20 MiB longer. */
const maxInputSize = 2 * maxBodySize

/**
 * Reads the body of --input. Throws a usage error unless it is a JSON object in UTF-8, and a `refused` error
 * for a long input.
 */
export async function readInputBody(
  input: AsyncIterable<Uint8Array>,
  operation: string,
): Promise<JsonObject> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw usageError('--input: the body contains bytes that are not UTF-8.', 'Save the text as UTF-8.')
    }
  }
  let [json, bytes] = ['', 0]
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > maxInputSize) throw bodyTooLargeError(operation, bytes)
    json += decode(chunk)
  }
  const document = parseJson(json + decode())
  if (!isObject(document)) throw usageError('--input: the body must be a JSON object.')
  return document
}
