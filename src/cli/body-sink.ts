import type { ResponseDecoder } from '../api/decode.ts'
import type { Request } from '../api/request.ts'
import { extendError, toMergeqError } from '../errors.ts'
import type { BodySink } from '../http/stream-body.ts'
import type { CommandContext } from './context.ts'

const lineBreak = 10

/**
 * A sink that streams a response to standard output; undefined where the response is not printed unchanged.
 * It writes whole lines, so that a secret is never split before it is redacted; a response that breaks off
 * ends with its last whole line.
 */
export function createBodySink(
  { streaming }: ResponseDecoder,
  { operation, url }: Request,
  { options, presentation, host: { out } }: CommandContext,
): BodySink | undefined {
  if (streaming === undefined || out.terminal || options.fields.length > 0) return undefined
  const isText = options.format === 'table' && presentation === 'rows'
  if (streaming.formats === 'text' && !isText) return undefined
  let rest: Uint8Array[] = []
  const write = async (piece: Uint8Array): Promise<boolean> => {
    const end = piece.lastIndexOf(lineBreak) + 1
    if (end === 0) rest.push(piece)
    else {
      const lines = Buffer.concat([...rest, piece.subarray(0, end)])
      rest = [piece.subarray(end)]
      await out.write(lines)
    }
    // A closed standard output is not an error: the reader needs no more.
    return out.isClosed !== true
  }
  return {
    begin(start) {
      const text = new TextDecoder().decode(start.bytes)
      try {
        rest = [streaming.begin({ ...start, text, document: undefined })]
      } catch (error) {
        const failure = toMergeqError(error)
        throw extendError(
          failure,
          { operation },
          `Invalid response from ${new URL(url).host}: ${failure.message}`,
        )
      }
    },
    write,
    end: () => out.write(Buffer.concat(rest)),
  }
}
