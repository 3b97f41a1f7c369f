import type { ResponseDecoder } from '../api/decode.ts'
import type { Request } from '../api/request.ts'
import { MergeqError, toMergeqError } from '../errors.ts'
import type { BodySink } from '../http/pass-through.ts'
import type { CommandContext } from './context.ts'

const lineBreak = 10

/**
 * Standard output as the place where a long answer goes while it comes; undefined where it is not printed untouched. It
 * is written in whole lines, so that no secret is cut in two before it can be hidden; an answer that breaks ends with
 * its last whole line.
 */
export function createBodySink(
  { passOn }: ResponseDecoder,
  { operation, url }: Request,
  { options, host: { out } }: CommandContext,
): BodySink | undefined {
  const isText = options.format === 'table' && !options.isTableForced
  if (passOn === undefined || out.terminal || options.fields.length > 0) return undefined
  if (passOn.formats === 'text' && !isText) return undefined
  let rest: Uint8Array[] = []
  const write = async (piece: Uint8Array): Promise<boolean> => {
    const end = piece.lastIndexOf(lineBreak) + 1
    if (end === 0) rest.push(piece)
    else {
      const lines = Buffer.concat([...rest, piece.subarray(0, end)])
      rest = [piece.subarray(end)]
      await out.write(lines)
    }
    // Nobody reads any more: a closed pipe ends quietly.
    return out.gone !== true
  }
  return {
    begin(start) {
      const text = new TextDecoder().decode(start.bytes)
      try {
        rest = [passOn.begin({ ...start, text, document: undefined })]
      } catch (error) {
        const { kind, message, details } = toMergeqError(error)
        throw new MergeqError(kind, `${operation}: ${new URL(url).host}: ${message}`, {
          ...details,
          operation,
        })
      }
    },
    write,
    end: () => out.write(Buffer.concat(rest)),
  }
}
