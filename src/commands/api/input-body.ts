import type { BodyValue } from '../../api/operation.ts'
import { bodyTooLargeError } from '../../api/request.ts'
import { maxBodySize } from '../../domain/limits.ts'
import { usageError } from '../../errors.ts'
import { endOfString, formatJson, isObject, parseJson } from '../../json.ts'

/** The bytes of --input that are read: white space may make a body of 20 MiB longer. */
const maxInputSize = 2 * maxBodySize

/**
 * Reads the body of --input; its values are sent as they are written, without white space. Throws a usage
 * error unless it is a JSON object in UTF-8, and a `refused` error for a long input.
 */
export async function readInputBody(
  input: AsyncIterable<Uint8Array>,
  operation: string,
): Promise<Record<string, BodyValue>> {
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
  json += decode()
  if (!isObject(parseJson(json))) throw usageError('--input: the body must be a JSON object.')
  return encodeMembers(formatJson(json, false))
}

/** Encodes the members of an object, at any depth, so that an option can replace each of them. */
function encodeMembers(object: string): Record<string, BodyValue> {
  const utf8 = new TextEncoder()
  const body: Record<string, BodyValue> = Object.create(null)
  for (const [name, value] of membersOf(object)) {
    const bytes = utf8.encode(value)
    body[name] = value.startsWith('{') ? encodeMembers(value) : { chunks: [bytes], bytes: bytes.length }
  }
  return body
}

/** Yields the name and the text of each member of an object that has no white space between its tokens. */
function* membersOf(object: string): Iterable<readonly [name: string, value: string]> {
  let [depth, start] = [0, 1]
  let name: string | undefined
  for (let index = 0; index < object.length; index++) {
    const character = object.charAt(index)
    if (character === '"') index = endOfString(object, index)
    else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    if (character === ':' && depth === 1) {
      name = JSON.parse(object.slice(start, index))
      start = index + 1
    } else if ((character === ',' && depth === 1) || depth === 0) {
      if (name !== undefined) yield [name, object.slice(start, index)]
      start = index + 1
    }
  }
}
