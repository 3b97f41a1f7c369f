import type { Row } from '../contract/endpoint.ts'
import type { Fields, Values } from '../contract/field.ts'
import { aboutOf } from '../contract/receipt.ts'
import { refusalOf } from '../contract/refusal.ts'
import type { Reply } from '../contract/reply.ts'
import { asFailure, Failure } from '../failure.ts'
import type { Request } from '../request/request.ts'
import type { Response } from '../transport/transport.ts'
import { decode } from '../view/json.ts'
import type { Json } from '../view/shapes.ts'
import type { Desk } from './desk.ts'
import { type Run, requestOf } from './prepare.ts'

const attemptLimit = 30_000
const changeLimit = 60_000

/** An answer that was read, and the values that were really sent for it. */
export interface Exchanged<F extends Fields> {
  readonly reply: Reply
  readonly values: Values<F>
}

/** request → response → reply. Everything but a 2xx that can be read is a failure. `more` is laid over the body. */
export async function exchange<F extends Fields>(
  row: Row<Row['route'], F>,
  run: Run<F>,
  desk: Desk,
  more: Readonly<Record<string, Json>> = {},
): Promise<Exchanged<F>> {
  const { request, values } = await requestOf(row, run, desk, more)
  const token = request.credential === 'token' ? await desk.token() : undefined
  const response = await send(request, token?.value, desk)
  const { host, pathname: path } = new URL(request.url)
  const { operation } = request
  const ok = response.status >= 200 && response.status <= 299
  const text = new TextDecoder().decode(response.bytes)
  const document = ok && request.expects === 'text' ? undefined : decode(text)
  const answer = { ...response, text, document }
  if (!ok) {
    const about = aboutOf(values)
    throw refusalOf(answer, {
      ...about,
      changes: request.changes,
      operation,
      host,
      path,
      token: token?.source ?? 'nowhere',
    })
  }
  try {
    return { reply: row.reply.read(answer), values }
  } catch (error) {
    const { kind, message, details } = asFailure(error)
    throw new Failure(kind, `${operation}: ${host}: ${message}`, { ...details, operation })
  }
}

async function send(request: Request, token: string | undefined, desk: Desk): Promise<Response> {
  const { options, voice, world } = desk
  const limit = options.timeout ?? (request.changes ? changeLimit : attemptLimit)
  const line = await desk.line()
  const started = world.clock.now()
  await voice.detail(`> ${request.method} ${request.url}`)
  const response = await line.send(request, token, limit)
  await voice.detail(`< ${response.status} after ${world.clock.now() - started} ms`)
  if (response.headers.has('x-mergeq-sandbox')) await desk.saySandbox()
  return response
}
