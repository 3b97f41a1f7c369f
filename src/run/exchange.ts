import type { Row } from '../contract/endpoint.ts'
import type { Fields, Values } from '../contract/field.ts'
import { aboutOf, type Delivery } from '../contract/receipt.ts'
import { refusalOf } from '../contract/refusal.ts'
import { type Answer, isWebPage, notJson, type Reply } from '../contract/reply.ts'
import { asFailure, ended, Failure } from '../failure.ts'
import type { Request } from '../request/request.ts'
import { show } from '../request/show.ts'
import type { Response } from '../transport/transport.ts'
import { decode } from '../view/json.ts'
import type { Json } from '../view/shapes.ts'
import type { Desk } from './desk.ts'
import { type Run, requestOf } from './prepare.ts'
import { settle } from './settle.ts'

const attemptLimit = 30_000
const changeLimit = 60_000

/** An answer that was read, the values that were really sent for it, and what is known of the delivery. */
export interface Exchanged<F extends Fields> {
  readonly reply: Reply
  readonly values: Values<F>
  readonly delivery: Delivery
  /** The moment of the answer by the service's clock, in milliseconds since 1970. */
  readonly date: number | undefined
}

/**
 * request → response → reply. Everything but a 2xx that can be read is a failure. A change that got no clear answer is
 * settled by reading back. `more` is laid over the body.
 */
export async function exchange<F extends Fields>(
  row: Row<Row['route'], F>,
  run: Run<F>,
  desk: Desk,
  more: Readonly<Record<string, Json>> = {},
): Promise<Exchanged<F>> {
  const { request, values } = await requestOf(row, run, desk, more)
  const token = request.credential === 'token' ? await desk.token() : undefined
  let sentAt = desk.world.clock.now()
  const begin = () => {
    sentAt = desk.world.clock.now()
  }
  try {
    const answer = await send(request, token?.value, desk, begin)
    const reply = readAnswer(row, request, answer, values, token?.source)
    return { reply, values, delivery: 'confirmed', date: dateOf(answer) }
  } catch (error) {
    const failure = asFailure(error)
    if (failure.kind === 'interrupted') throw failure
    const change = row.changes
    const instead = failure.details.status === 413 ? row.standIn?.(values, 'service') : undefined
    if (instead !== undefined) {
      await desk.voice.warn(instead.warning)
      return exchange(row, { ...run, values: instead.values }, desk, more)
    }
    if (change === false || failure.details.reach !== 'ambiguous') throw failure
    const { options } = desk
    const once = { ...desk, options: { ...options, retries: 0 } }
    // A reading that fails by chance must not hide what the others tell.
    const twice = { ...desk, options: { ...options, retries: Math.min(options.retries, 1) } }
    const settled = await settle(
      {
        change,
        request,
        values,
        sentAt,
        failure,
        again: async () =>
          readAnswer(row, request, await send(request, token?.value, once), values, token?.source),
        look: back => exchange(back, { values, sets: [] }, twice),
      },
      desk,
    ).catch(error => {
      const { kind, message, exit, details } = asFailure(error)
      throw kind === 'interrupted'
        ? inFlight(new Failure(kind, message, { ...details, exit, reach: 'ambiguous' }), request)
        : error
    })
    return { ...settled, values, date: undefined }
  }
}

function dateOf({ headers }: Answer): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}

/** An answer, and how many attempts it took. */
type Received = Answer & { readonly attempts: number }

/** One request over the line, told with -v. */
async function send(
  request: Request,
  token: string | undefined,
  desk: Desk,
  begin: () => void = () => undefined,
): Promise<Received> {
  const { options, voice, world } = desk
  const limit = options.timeout ?? (request.changes ? changeLimit : attemptLimit)
  const line = await desk.line()
  const started = world.clock.now()
  if (options.verbose) await voice.detail(told(request, desk))
  let answer: Opened | undefined
  const manner = {
    token,
    limit,
    retries: options.retries,
    begin,
    isAnswer(response: Response) {
      answer = opened(response, request, desk)
      return isWhole(answer, request)
    },
  }
  const sending = () =>
    line.send(request, manner).catch(error => {
      throw inFlight(asFailure(error), request)
    })
  const { operation, url } = request
  const progress = desk.progress === undefined ? '' : `, ${desk.progress}`
  const response = await desk.during(() => `${operation} at ${new URL(url).host}${progress}`, sending)
  await voice.detail(`< ${response.status} after ${world.clock.now() - started} ms`)
  if (response.headers.has('x-mergeq-sandbox')) await desk.saySandbox()
  // What was opened to see whether it is whole is not opened twice.
  const received = answer?.came === response.bytes ? answer : opened(response, request, desk)
  if (received.text.includes('\uFFFD') && !isUtf8(response.bytes))
    await desk.sayOnce(
      `${request.operation}: the answer is not all UTF-8; what could not be read is shown as \uFFFD.`,
    )
  return { ...received, attempts: response.attempts }
}

const isOk = ({ status }: Pick<Response, 'status'>): boolean => status >= 200 && status <= 299

/** An answer, with the bytes that it was made of. */
type Opened = Answer & { readonly came: Uint8Array }

/**
 * The body as text, and as a document where it is JSON. A secret in it is hidden here already: what is made of it later
 * may be cut, unescaped or kept in a file.
 */
function opened(response: Response, { expects }: Request, { secrets }: Desk): Opened {
  const { bytes: came, headers } = response
  const whole = new TextDecoder().decode(came)
  const text = secrets.redact(whole)
  return {
    ...response,
    came,
    bytes: text === whole ? came : secrets.redactBytes(came),
    headers: new Map([...headers].map(([name, value]) => [name, secrets.redact(value)])),
    text,
    document: isOk(response) && expects === 'text' ? undefined : decode(text),
  }
}

/** Whether a 2xx can be read as what was asked for; one that cannot is repeated like a fault. */
const isWhole = ({ text, document }: Answer, { expects }: Request): boolean =>
  !isWebPage(text) && (expects !== 'json' || text.trim() === '' || document !== undefined)

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes) !== undefined
  } catch {
    return false
  }
}

const mostTold = 2_048

/** A request as -v tells it: the token redacted, a long body cut. */
function told(request: Request, { secrets }: Desk): string {
  const { method, url, headers, body } = show(request)
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return [...lines, ...(body === undefined ? [] : [cutShort(secrets.redact(body))])]
    .map(line => `> ${line}`)
    .join('\n')
}

const cutShort = (body: string): string =>
  body.length > mostTold ? `${body.slice(0, mostTold)}… (${body.length} characters)` : body

/** A change that was under way when a signal came may have been applied: the message names it. */
function inFlight(failure: Failure, { changes, operation }: Request): Failure {
  if (failure.kind !== 'interrupted' || !changes || failure.details.reach !== 'ambiguous') return failure
  return new Failure(
    'interrupted',
    `${ended(failure.message)} ${operation} was under way: it may have been applied.`,
    {
      ...failure.details,
      exit: failure.exit,
      operation,
      delivery: 'unknown',
      hint: 'Read how it stands before you run it again.',
    },
  )
}

/** response → reply; a status outside 2xx, or a body that is no answer, is a failure. */
function readAnswer<F extends Fields>(
  row: Row<Row['route'], F>,
  request: Request,
  answer: Received,
  values: Values<F>,
  token = 'nowhere',
): Reply {
  const { operation, changes } = request
  const { host, pathname: path } = new URL(request.url)
  const { attempts } = answer
  if (!isOk(answer)) {
    const failure = refusalOf(answer, { ...aboutOf(values), operation, host, path, changes, token })
    throw new Failure(failure.kind, failure.message, { ...failure.details, attempts })
  }
  try {
    // A change may answer with anything, but not with a page from something else or with half a document.
    const cut = changes && /^\s*[[{]/.test(answer.text) && answer.document === undefined
    if (changes && (cut || isWebPage(answer.text))) throw notJson(answer)
    return row.reply.read(answer)
  } catch (error) {
    const { kind, message, details } = asFailure(error)
    throw new Failure(kind, `${operation}: ${host}: ${message}`, {
      ...details,
      attempts,
      operation,
      reach: 'ambiguous',
    })
  }
}
