import type { Row } from './operation.ts'
import type { Fields, Values } from '../cli/inputs.ts'
import type { About, Delivery } from './receipt.ts'
import { refusalOf } from './error-response.ts'
import { type Answer, isWebPage, notJson, type Reply } from './decode.ts'
import { asFailure, Failure } from '../errors.ts'
import type { Request } from './request.ts'
import { show } from './request-preview.ts'
import { attemptLimit, changeLimit } from '../config/setting-definitions.ts'
import type { BodySink } from '../http/pass-through.ts'
import type { Response } from '../http/client.ts'
import type { Json } from '../json.ts'
import { isOk, isWhole, type OpenedAnswer, openAnswer } from './read-response.ts'
import type { Desk } from '../cli/context.ts'
import { interruptedChange } from './interrupted-change.ts'
import { sinkFor } from '../cli/pass-through.ts'
import { type Run, requestOf } from '../cli/invocation.ts'
import { settle } from './write-recovery.ts'

/** An answer that was read, the values that were really sent for it, and what is known of the delivery. */
export interface Exchanged<F extends Fields> {
  readonly reply: Reply
  /** What the body that was sent concerns. */
  readonly concerns: About
  readonly values: Values<F>
  readonly delivery: Delivery
  /** The moment of the answer by the service's clock, in milliseconds since 1970. */
  readonly date: number | undefined
}

/**
 * request → response → reply. Everything but a 2xx that can be read is a failure. A change that got no clear answer is
 * settled by reading back. `more` is laid over the body. `isPrinted`: the answer is all that is printed, so a long one that
 * is printed untouched may be printed while it comes.
 */
export async function exchange<F extends Fields>(
  row: Row<Row['route'], F>,
  run: Run<F>,
  desk: Desk,
  more: Readonly<Record<string, Json>> = {},
  isPrinted = false,
): Promise<Exchanged<F>> {
  const { request, values } = await requestOf(row, run, desk, more)
  const token = request.credential === 'token' ? await desk.token() : undefined
  let sentAt = desk.world.clock.now()
  const begin = () => {
    sentAt = desk.world.clock.now()
  }
  /** What ended the sending; where a signal did, what was under way. */
  const stopped = (error: unknown): Failure => {
    const failure = asFailure(error)
    const { reach, delivery } = failure.details
    const isInFlight = failure.kind === 'interrupted' && request.changes && reach === 'ambiguous'
    return isInFlight && delivery === undefined
      ? interruptedChange(failure, row, [request.concerns])
      : failure
  }
  try {
    const isUntouched = isPrinted && row.changes === false && row.narrow?.(values) === undefined
    const sink = isUntouched ? sinkFor(row.reply, request, desk) : undefined
    const answer = await send(request, token?.value, desk, begin, sink)
    if (answer.passedOn !== undefined) {
      const reply = { records: [], bytes: answer.bytes, isPassedOn: true }
      return { reply, concerns: request.concerns, values, delivery: 'confirmed', date: dateOf(answer) }
    }
    const reply = readAnswer(row, request, answer, values, token?.source)
    return { reply, concerns: request.concerns, values, delivery: 'confirmed', date: dateOf(answer) }
  } catch (error) {
    const failure = stopped(error)
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
        sentAt,
        failure,
        again: async () =>
          readAnswer(row, request, await send(request, token?.value, once), values, token?.source),
        look: back => exchange(back, { values: { ...request.concerns }, sets: [] }, twice),
      },
      desk,
    ).catch(error => {
      const { kind, message, exit, details } = asFailure(error)
      throw kind === 'interrupted'
        ? stopped(new Failure(kind, message, { ...details, exit, reach: 'ambiguous' }))
        : error
    })
    return { ...settled, concerns: request.concerns, values, date: undefined }
  }
}

function dateOf({ headers }: Answer): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}

/** An answer, and how many attempts it took. */
type Received = Answer & Pick<Response, 'passedOn'> & { readonly attempts: number }

/** One request over the line, told with -v. */
async function send(
  request: Request,
  token: string | undefined,
  desk: Desk,
  begin: () => void = () => undefined,
  sink?: BodySink,
): Promise<Received> {
  const { options, voice, world, limits } = desk
  const usual = options.timeout ?? (request.changes ? changeLimit : attemptLimit)
  const line = await desk.line()
  const started = world.clock.now()
  if (options.verbose) await voice.detail(told(request, desk))
  let answer: OpenedAnswer | undefined
  const reading = { interrupted: world.interrupted, secrets: desk.secrets }
  const manner = {
    token,
    limit: () => limits?.timeout(usual) ?? usual,
    retries: limits?.retries?.(options.retries, usual) ?? options.retries,
    begin,
    sink,
    async isAnswer(response: Response) {
      answer = await openAnswer(response, request, reading)
      return isWhole(answer, request)
    },
  }
  const sending = () => line.send(request, manner)
  const { operation, url } = request
  const progress = desk.progress === undefined ? '' : `, ${desk.progress}`
  const response = await desk.during(() => `${operation} at ${new URL(url).host}${progress}`, sending)
  await voice.detail(`< ${response.status} after ${world.clock.now() - started} ms`)
  if (response.headers.has('x-mergeq-sandbox')) await desk.saySandbox()
  // What was opened to see whether it is whole is not opened twice.
  const received =
    answer?.came === response.bytes
      ? answer
      : await openAnswer(response, request, reading).catch(error => {
          throw whileReading(asFailure(error))
        })
  if (received.text.includes('\uFFFD') && !isUtf8(response.bytes))
    await desk.sayOnce(
      `${request.operation}: the answer is not all UTF-8; what could not be read is shown as \uFFFD.`,
    )
  return { ...received, attempts: response.attempts }
}

/** A failure after the whole answer came; where a signal ended the reading, what was asked for may have been done. */
const whileReading = (failure: Failure): Failure =>
  failure.kind === 'interrupted'
    ? new Failure('interrupted', failure.message, {
        ...failure.details,
        exit: failure.exit,
        reach: 'ambiguous',
      })
    : failure

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

/** response → reply; a status outside 2xx, or a body that is no answer, is a failure. */
function readAnswer<F extends Fields>(
  row: Row<Row['route'], F>,
  request: Request,
  answer: Received,
  values: Values<F>,
  token: string | undefined,
): Reply {
  const { operation, changes, concerns } = request
  const { host, pathname: path } = new URL(request.url)
  const { attempts } = answer
  if (!isOk(answer)) {
    const failure = refusalOf(answer, { ...concerns, operation, host, path, changes, token })
    throw new Failure(failure.kind, failure.message, { ...failure.details, attempts })
  }
  try {
    // A change may answer with anything, but not with a page from something else or with half a document.
    const cut = changes && /^\s*[[{]/.test(answer.text) && answer.document === undefined
    if (changes && (cut || isWebPage(answer.text))) throw notJson(answer)
    const reply = row.reply.read(answer)
    return row.narrow?.(values)?.(reply) ?? reply
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
