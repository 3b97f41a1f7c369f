import { type SecretOutput, takeTurn } from '../cli/context.ts'
import { MergeqError } from '../errors.ts'
import type { HttpResponse } from '../http/client.ts'
import { parseJson } from '../json-text.ts'
import { isWebPage, type ResponseBody } from './decode.ts'
import { costLimits, findExcessiveCost } from './json-cost.ts'
import type { Request } from './request.ts'

/** Whether a status is a success. */
export const isOk = ({ status }: Pick<HttpResponse, 'status'>): boolean => status >= 200 && status <= 299

/** Between the steps of reading an answer over so many bytes a signal is heard. */
const largeAnswer = 1024 * 1024

/** An answer, with the bytes that it was made of. */
export type ReadResponse = ResponseBody & { readonly came: Uint8Array }

/** What reading an answer needs: the signal that may end it, and what must be hidden in it. */
interface ReadOptions {
  readonly interrupted: AbortSignal
  readonly secrets: Pick<SecretOutput, 'redact' | 'redactBytes'>
}

/**
 * The body as text, and as a document where it is JSON. What reading it would cost is found out first, in steps between
 * which a signal is heard: a 2xx that would cost too much is a `bad-answer` failure, any other is not read as JSON. A
 * secret in it is hidden here already: what is made of it later may be cut, unescaped or kept in a file.
 */
export async function readResponse(
  response: HttpResponse,
  { expects, operation, url, maxAnswer }: Request,
  { interrupted, secrets }: ReadOptions,
): Promise<ReadResponse> {
  const { bytes: came, headers } = response
  const isText = isOk(response) && expects === 'text'
  const excess = isText
    ? undefined
    : await findExcessiveCost(came, costLimits(maxAnswer), () => takeTurn({ interrupted }))
  if (excess !== undefined && isOk(response)) throw tooCostly(excess, operation, new URL(url).host)
  const whole = new TextDecoder().decode(came)
  if (came.length > largeAnswer) await takeTurn({ interrupted })
  const text = secrets.redact(whole)
  return {
    ...response,
    came,
    bytes: text === whole ? came : secrets.redactBytes(came),
    headers: new Map([...headers].map(([name, value]) => [name, secrets.redact(value)])),
    text,
    document: isText || excess !== undefined ? undefined : parseJson(text),
  }
}

const tooCostly = (excess: string, operation: string, host: string): MergeqError =>
  new MergeqError('bad-answer', `${operation}: the answer of ${host} ${excess}.`, {
    operation,
    hint: 'Check the base address and what stands before the service. If this answer is right, raise the limit with --max-answer <size>, or ask for less.',
    sentState: 'ambiguous',
    overLimit: true,
  })

/** Whether a 2xx can be read as what was asked for; one that cannot is repeated like a fault. */
export const isComplete = ({ text, document }: ResponseBody, { expects }: Request): boolean =>
  !isWebPage(text) && (expects !== 'json' || text.trim() === '' || document !== undefined)
