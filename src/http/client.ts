import { isMergeqError, MergeqError, toMergeqError } from '../errors.ts'
import type { Clock, Environment, Runtime } from '../host/host.ts'
import type { HttpResponse } from './attempt.ts'
import { backoff, maxRetryAfter, retryAfter } from './backoff.ts'
import { parseCertificates } from './certificates.ts'
import type { BodySink } from './pass-through.ts'
import { connectLimit, preconnect } from './preconnect.ts'
import { proxyFromEnvironment } from './proxy.ts'
import type { HttpRequest } from './request.ts'
import { classifyError, type TransportError } from './transport-error.ts'
import type { UndiciTransport } from './undici.ts'

export type { HttpResponse }

/** What a line to the service is made of. */
export interface HttpClientOptions {
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
  notify(text: string): Promise<void>
}

/** How one request is to be sent. */
export interface SendOptions {
  readonly token: string | undefined
  /** Milliseconds for an attempt that begins now, the upload not counted; asked anew for each. */
  limit(): number
  /** How often it may be repeated. */
  readonly retries: number
  /** Told when an attempt begins. */
  onAttempt(): void
  /**
   * Whether a 2xx is an answer at all: one that is cut or a web page is repeated like a fault. The failure that this
   * throws is final.
   */
  isComplete(response: HttpResponse): Promise<boolean>
  /** Where a long body goes as it comes. From its first piece on nothing is repeated: what breaks then was cut. */
  readonly sink?: BodySink | undefined
}

/** A line to the service. */
export interface HttpClient {
  /**
   * Sends a request and repeats it where WIRE.md section 2 allows: a read after any passing failure, a change only when
   * it was certainly not applied. What is left is the response, or a failure whose `reach` says how far it got.
   */
  send(request: HttpRequest, manner: SendOptions): Promise<HttpResponse & { readonly attempts: number }>
  close(): Promise<void>
}

/** Opens a line: nothing is connected before the first request. Authorities that cannot be read are a usage failure. */
export async function createHttpClient(wiring: HttpClientOptions): Promise<HttpClient> {
  const { env, runtime, clock, interrupted, isLoopback } = wiring
  const certificates = await parseCertificates(wiring.authorities)
  const proxy = proxyFromEnvironment(env)
  const proxyOf = ({ hostname }: URL) => (isLoopback(hostname) ? undefined : proxy?.host)
  let opening: Promise<UndiciTransport> | undefined
  let repeats = 0

  /** Connects while undici and TLS are being loaded, which takes longer than it takes a packet to come back. */
  const open = async (url: URL): Promise<UndiciTransport> => {
    const isSecure = url.protocol === 'https:'
    const limit = Math.min(connectLimit, wiring.limit)
    const early = isSecure && proxyOf(url) === undefined ? preconnect(url, limit) : undefined
    await early?.started
    const { createUndiciTransport } = await import('./undici.ts')
    return createUndiciTransport(env, {
      limit,
      preconnect: early,
      isLoopback,
      certificates: isSecure ? certificates : undefined,
    })
  }

  const once = async (
    { pools, sendOnce }: UndiciTransport,
    request: HttpRequest,
    { token, onAttempt, sink, ...manner }: SendOptions,
  ): Promise<HttpResponse | TransportError> => {
    onAttempt()
    const limit = manner.limit()
    const url = new URL(request.url)
    // A change rides on a connection of its own: one that was kept alive may have been dropped by the server.
    const way = pools.poolFor(url, request.isChange)
    const credential: Record<string, string> =
      request.credential === 'token' && token !== undefined ? { 'x-api-token': token } : {}
    const headers = { ...request.headers, ...credential, 'accept-encoding': 'gzip' }
    // Where it matters whether anything was sent, the body is watched; elsewhere it goes in one piece.
    const watched = request.isChange || proxyOf(url) !== undefined
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
      return await sendOnce(way, request, headers, limit, interrupted, onBegin, watchedSink)
    } catch (error) {
      if (isHandedOver && !interrupted.aborted) throw cutOff(error, request.operation, url.host)
      if (interrupted.aborted)
        throw began ? mayBeApplied(toMergeqError(interrupted.reason)) : interrupted.reason
      if (isMergeqError(error))
        return { sentState: 'ambiguous', retryable: error.details.overLimit !== true, failure: error }
      return classifyError(error, {
        operation: request.operation,
        host: url.host,
        proxy: proxyOf(url),
        began,
        limit,
      })
    } finally {
      if (request.isChange) await way.close()
    }
  }

  /** Waits before a repeat; false when there is none to be. */
  const mayRepeat = async (
    result: HttpResponse | TransportError,
    attempts: number,
    request: HttpRequest,
    manner: SendOptions,
  ): Promise<boolean> => {
    const why = await reasonToRepeat(result, request, manner)
    if (why === undefined || attempts > manner.retries || repeats >= wiring.budget) return false
    const asked = 'status' in result ? retryAfter(result.headers, clock.now()) : undefined
    if (asked !== undefined && asked > maxRetryAfter) return false
    const pause = Math.max(backoff(attempts, wiring.random()), asked ?? 0)
    repeats++
    await wiring.notify(`${request.operation}: ${why}; trying again in ${(pause / 1_000).toFixed(1)} s.`)
    await clock.sleep(pause, interrupted)
    return true
  }

  return {
    async send(request, manner) {
      opening ??= open(new URL(request.url))
      const wire = await opening
      return withoutWasmTiering(runtime, async () => {
        for (let attempts = 1; ; attempts++) {
          const result = await once(wire, request, manner)
          if (await mayRepeat(result, attempts, request, manner)) continue
          if ('status' in result) return { ...result, attempts }
          throw withAttempts(result.failure, attempts)
        }
      })
    },
    close: async () => (await opening)?.pools.close(),
  }
}

/** An interruption after the request was handed to a connection. */
const mayBeApplied = ({ kind, message, exit, details }: MergeqError): MergeqError =>
  new MergeqError(kind, message, { ...details, exit, sentState: 'ambiguous' })

/** The failure for an answer of which a part was handed over when it broke; ours, and one too large, are told as they are. */
function cutOff(error: unknown, operation: string, host: string): MergeqError {
  const what = isMergeqError(error) ? error.message : `${operation}: the answer of ${host} was cut.`
  const hint = 'What was printed is not whole: do not use it. Try again later.'
  if (isMergeqError(error) && error.kind !== 'bad-answer') return error
  return new MergeqError('bad-answer', `${what} A part of it was printed.`, {
    operation,
    hint,
    sentState: 'ambiguous',
  })
}

const withAttempts = ({ kind, message, details }: MergeqError, attempts: number): MergeqError =>
  new MergeqError(kind, attempts === 1 ? message : message.replace(/\.$/, ` (${attempts} attempts).`), {
    ...details,
    attempts,
  })

/** Why a request may be sent again; undefined when it must not be, or when that would not help. */
async function reasonToRepeat(
  result: HttpResponse | TransportError,
  { isChange }: HttpRequest,
  { isComplete }: SendOptions,
): Promise<string | undefined> {
  if ('failure' in result) {
    if (!result.retryable || (isChange && result.sentState === 'ambiguous')) return undefined
    return result.failure.message.replace(/^\S+: /, '').replace(/\.$/, '')
  }
  const { status } = result
  if (status === 429) return 'the rate of requests is limited (429)'
  if (isChange) return undefined
  if (status === 408 || (status >= 500 && status <= 599)) return `the service could not answer (${status})`
  return status >= 200 && status <= 299 && !(await isComplete(result))
    ? 'the answer was not whole'
    : undefined
}

/**
 * Runs a request without the background compilation that keeps V8 11 (Node 20) alive for 65 to 95 ms after the answer:
 * undici's parser is WebAssembly and small.
 */
async function withoutWasmTiering<T>({ v8 }: Runtime, work: () => Promise<T>): Promise<T> {
  if (!v8.startsWith('11.')) return work()
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString('--wasm-tiering-budget=100000000')
  try {
    return await work()
  } finally {
    setFlagsFromString('--wasm-tiering-budget=1800000')
  }
}
