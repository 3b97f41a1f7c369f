import { asFailure, Failure, isFailure } from '../errors.ts'
import type { Request } from '../api/request.ts'
import type { Clock, Environment, Runtime } from '../host/host.ts'
import type { Response } from './attempt.ts'
import { certificatesIn } from './certificates.ts'
import { connectEarly, connectLimit } from './preconnect.ts'
import { type Fault, faultOf } from './transport-error.ts'
import { backOff, longestWait, retryAfter } from './backoff.ts'
import type { BodySink } from './pass-through.ts'
import { proxyIn } from './proxy.ts'
import type { Wire } from './undici.ts'

export type { Response }

/** What a line to the service is made of. */
export interface Wiring {
  readonly env: Environment
  readonly runtime: Runtime
  readonly clock: Clock
  random(): number
  /** Further certificate authorities, as PEM. */
  readonly authorities: readonly string[]
  /** The shortest limit of an attempt: connecting takes no longer either. */
  readonly limit: number
  /** Ends everything that is under way; its reason is the failure to show. */
  readonly interrupted: AbortSignal
  /** How often requests may be repeated in the whole run. */
  readonly budget: number
  /** Whether a host is this machine: it is never reached through a proxy. */
  isLoopback(hostname: string): boolean
  /** Says on standard error that a request is repeated, and why. */
  tell(text: string): Promise<void>
}

/** How one request is to be sent. */
export interface Manner {
  readonly token: string | undefined
  /** Milliseconds for an attempt that begins now, the upload not counted; asked anew for each. */
  limit(): number
  /** How often it may be repeated. */
  readonly retries: number
  /** Told when an attempt begins. */
  begin(): void
  /**
   * Whether a 2xx is an answer at all: one that is cut or a web page is repeated like a fault. The failure that this
   * throws is final.
   */
  isAnswer(response: Response): Promise<boolean>
  /** Where a long body goes as it comes. From its first piece on nothing is repeated: what breaks then was cut. */
  readonly sink?: BodySink | undefined
}

/** A line to the service. */
export interface Line {
  /**
   * Sends a request and repeats it where WIRE.md section 2 allows: a read after any passing failure, a change only when
   * it was certainly not applied. What is left is the response, or a failure whose `reach` says how far it got.
   */
  send(request: Request, manner: Manner): Promise<Response & { readonly attempts: number }>
  close(): Promise<void>
}

/** Opens a line: nothing is connected before the first request. Authorities that cannot be read are a usage failure. */
export async function openLine(wiring: Wiring): Promise<Line> {
  const { env, runtime, clock, interrupted, isLoopback } = wiring
  const certificates = await certificatesIn(wiring.authorities)
  const proxy = proxyIn(env)
  const proxyOf = ({ hostname }: URL) => (isLoopback(hostname) ? undefined : proxy?.host)
  let opening: Promise<Wire> | undefined
  let repeats = 0

  /** Connects while undici and TLS are being loaded, which takes longer than it takes a packet to come back. */
  const open = async (url: URL): Promise<Wire> => {
    const isSecure = url.protocol === 'https:'
    const limit = Math.min(connectLimit, wiring.limit)
    const early = isSecure && proxyOf(url) === undefined ? connectEarly(url, limit) : undefined
    await early?.begun
    const { openWire } = await import('./undici.ts')
    return openWire(env, { limit, early, isLoopback, certificates: isSecure ? certificates : undefined })
  }

  const once = async (
    { ways, attempt }: Wire,
    request: Request,
    { token, begin, sink, ...manner }: Manner,
  ): Promise<Response | Fault> => {
    begin()
    const limit = manner.limit()
    const url = new URL(request.url)
    // A change rides on a connection of its own: one that was kept alive may have been dropped by the server.
    const way = ways.to(url, request.changes)
    const credential: Record<string, string> =
      request.credential === 'token' && token !== undefined ? { 'x-api-token': token } : {}
    const headers = { ...request.headers, ...credential, 'accept-encoding': 'gzip' }
    // Where it matters whether anything was sent, the body is watched; elsewhere it goes in one piece.
    const watched = request.changes || proxyOf(url) !== undefined
    let began = !watched
    const begun = () => {
      began = true
    }
    let isHandedOver = false
    const watchedSink = sink && {
      ...sink,
      write(piece: Uint8Array) {
        isHandedOver = true
        return sink.write(piece)
      },
    }
    try {
      const onBegin = watched ? begun : undefined
      return await attempt(way, request, headers, limit, interrupted, onBegin, watchedSink)
    } catch (error) {
      if (isHandedOver && !interrupted.aborted) throw cutOff(error, request.operation, url.host)
      if (interrupted.aborted) throw began ? mayBeApplied(asFailure(interrupted.reason)) : interrupted.reason
      if (isFailure(error))
        return { reach: 'ambiguous', passing: error.details.overLimit !== true, failure: error }
      return faultOf(error, {
        operation: request.operation,
        host: url.host,
        proxy: proxyOf(url),
        began,
        limit,
      })
    } finally {
      if (request.changes) await way.end()
    }
  }

  /** Waits before a repeat; false when there is none to be. */
  const mayRepeat = async (
    result: Response | Fault,
    attempts: number,
    request: Request,
    manner: Manner,
  ): Promise<boolean> => {
    const why = await reasonToRepeat(result, request, manner)
    if (why === undefined || attempts > manner.retries || repeats >= wiring.budget) return false
    const asked = 'status' in result ? retryAfter(result.headers, clock.now()) : undefined
    if (asked !== undefined && asked > longestWait) return false
    const pause = Math.max(backOff(attempts, wiring.random()), asked ?? 0)
    repeats++
    await wiring.tell(`${request.operation}: ${why}; trying again in ${(pause / 1_000).toFixed(1)} s.`)
    await clock.sleep(pause, interrupted)
    return true
  }

  return {
    async send(request, manner) {
      opening ??= open(new URL(request.url))
      const wire = await opening
      return quietly(runtime, async () => {
        for (let attempts = 1; ; attempts++) {
          const result = await once(wire, request, manner)
          if (await mayRepeat(result, attempts, request, manner)) continue
          if ('status' in result) return { ...result, attempts }
          throw afterAttempts(result.failure, attempts)
        }
      })
    },
    close: async () => (await opening)?.ways.close(),
  }
}

/** An interruption after the request was handed to a connection. */
const mayBeApplied = ({ kind, message, exit, details }: Failure): Failure =>
  new Failure(kind, message, { ...details, exit, reach: 'ambiguous' })

/** The failure for an answer of which a part was handed over when it broke; ours, and one too large, are told as they are. */
function cutOff(error: unknown, operation: string, host: string): Failure {
  const what = isFailure(error) ? error.message : `${operation}: the answer of ${host} was cut.`
  const hint = 'What was printed is not whole: do not use it. Try again later.'
  if (isFailure(error) && error.kind !== 'bad-answer') return error
  return new Failure('bad-answer', `${what} A part of it was printed.`, {
    operation,
    hint,
    reach: 'ambiguous',
  })
}

const afterAttempts = ({ kind, message, details }: Failure, attempts: number): Failure =>
  new Failure(kind, attempts === 1 ? message : message.replace(/\.$/, ` (${attempts} attempts).`), {
    ...details,
    attempts,
  })

/** Why a request may be sent again; undefined when it must not be, or when that would not help. */
async function reasonToRepeat(
  result: Response | Fault,
  { changes }: Request,
  { isAnswer }: Manner,
): Promise<string | undefined> {
  if ('failure' in result) {
    if (!result.passing || (changes && result.reach === 'ambiguous')) return undefined
    return result.failure.message.replace(/^\S+: /, '').replace(/\.$/, '')
  }
  const { status } = result
  if (status === 429) return 'the rate of requests is limited (429)'
  if (changes) return undefined
  if (status === 408 || (status >= 500 && status <= 599)) return `the service could not answer (${status})`
  return status >= 200 && status <= 299 && !(await isAnswer(result)) ? 'the answer was not whole' : undefined
}

/**
 * Runs a request without the background compilation that keeps V8 11 (Node 20) alive for 65 to 95 ms after the answer:
 * undici's parser is WebAssembly and small.
 */
async function quietly<T>({ v8 }: Runtime, work: () => Promise<T>): Promise<T> {
  if (!v8.startsWith('11.')) return work()
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--wasm-tiering-budget=100000000')
  try {
    return await work()
  } finally {
    setFlagsFromString('--wasm-tiering-budget=1800000')
  }
}
