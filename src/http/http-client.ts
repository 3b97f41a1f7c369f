import { extendError, isMergeqError, MergeqError, toMergeqError } from '../base/errors.ts'
import { isLoopback } from '../base/url.ts'
import type { ServiceHost } from '../host/host.ts'
import type { AuthoritiesOptions } from './certificates.ts'
import { connectLimit, openEarly } from './early-connection.ts'
import type { HttpRequest, HttpResponse } from './messages.ts'
import { bypassesProxy, type ProxySource, proxyFromEnvironment, proxySource, proxyVariable } from './proxy.ts'
import { createTraffic, maxRetryAfter, type Traffic } from './traffic.ts'
import { classifyError, isTimeLimit, type TransportError } from './transport-error.ts'
import type { Attempt, ConnectionPool } from './undici.ts'

export { bypassesProxy, proxyFromEnvironment, proxyVariable }

interface HttpClientOptions
  extends AuthoritiesOptions,
    Pick<ServiceHost, 'clock' | 'random' | 'beforeRequests'> {
  /** The address of the proxy, in the place of that of the environment. */
  readonly proxy?: string | undefined
  /** What the requests of other clients count for, too. */
  readonly traffic?: Traffic | undefined
  /** What a 429 means for the other requests of the client; without it, and without `traffic`, nothing. */
  readonly rateLimit?: RateLimit | undefined
  nameOf(setting: 'caFile' | 'timeout'): string
  /** The shortest time limit of an attempt, in milliseconds; it limits opening a connection too. */
  readonly limit: number
  readonly interrupted: AbortSignal
  notify(text: string): Promise<void>
  /** Who is told that the service is silent; nobody where it is undefined, and without `rateLimit`. */
  readonly messages?: 'person' | 'log' | undefined
  /** Whether a read that got no byte in its time is repeated like others; otherwise it is repeated once. */
  readonly repeatsSilence?: boolean | undefined
}

/** How the requests of a command take a 429. */
export interface RateLimit {
  /** Whether repeats after it are not counted: one of many requests must not fail because they are many. */
  isOutlasted: boolean
}

interface HttpSendOptions {
  readonly token: string | undefined
  /** Counts the attempt that begins now. Returns its time limit in milliseconds, without the upload. */
  beginAttempt(): number
  readonly maxRetries: number
  /** Returns the milliseconds after which the request is not sent again. */
  remaining(): number
  /** A truncated response and a web page are retried. An error that this function throws ends the request. */
  isComplete(response: HttpResponse): Promise<boolean>
}

/** How often a request was sent, and when the last time, by the local clock, in milliseconds since 1970. */
export interface Sending {
  readonly attempts: number
  readonly sentAt: number
  /** The delay that the last response asks for, in milliseconds. */
  readonly retryAfter?: number | undefined
}

/** Opens no connection before the first request, which throws a usage error for certificates that cannot be used. */
export class HttpClient {
  private readonly options: HttpClientOptions
  private readonly proxies: ProxySource
  private readonly closing = new AbortController()
  private readonly traffic: Traffic | undefined
  /** What undici does, which is loaded with the first request. */
  private transport: ReturnType<HttpClient['loadTransport']> | undefined
  private retryCount = 0
  private isSilenceTold = false
  private hasSentChange = false
  /** Since when a rate limit is outlasted, by the clock that never jumps. */
  private limitedSince: number | undefined
  private announcedUntil = Number.NEGATIVE_INFINITY

  constructor(options: HttpClientOptions) {
    this.options = options
    this.traffic = options.traffic ?? (options.rateLimit === undefined ? undefined : createTraffic({}))
    this.proxies = proxySource(options.env, options.proxy)
  }

  /**
   * Sends a request and repeats it where docs/reference/network.md, "Retries", allows: a read after any
   * transient error, a change only when the service certainly did not apply it. Returns the last response.
   * Throws a MergeqError whose `sentState` says how far the request got.
   */
  async send(request: HttpRequest, options: HttpSendOptions): Promise<HttpResponse & Sending> {
    const { clock, rateLimit } = this.options
    const url = new URL(request.url)
    // The error of a wrong proxy comes before anything is loaded.
    this.proxyFor(url)
    let outlasted = 0
    let silent = 0
    // Each turn is an attempt: also one after a 429 that is not counted, and a last one that the traffic does not let begin.
    for (let attempts = 1; ; attempts++) {
      let result: HttpResponse | TransportError
      let sentAt: number
      if (await this.mayBegin(options)) {
        try {
          this.transport ??= this.loadTransport(url)
          const { pools, sendOnce } = await this.transport
          sentAt = clock.now()
          const attempt = this.createAttempt(request, url, options)
          const silence = this.startSilenceTimer(attempt, url)
          // A change uses a new connection: the server may have closed one that was kept alive.
          const pool = pools.poolFor(url, request.isChange)
          result = await sendOnce(pool, attempt)
            .catch(error => this.explainFailure(error, attempt, url, pool))
            .finally(() => {
              clearTimeout(silence)
              return request.isChange ? pool.close() : undefined
            })
          // A 429 is an answer for all requests that share the traffic.
          if (isRateLimited(result)) this.noteRateLimit(result, attempts, options)
        } finally {
          this.traffic?.leave()
        }
      } else {
        result = this.notSent(url.host, request.operation)
        sentAt = clock.now()
      }
      // The repeat after it is not counted.
      const isOutlasted = isRateLimited(result) && rateLimit?.isOutlasted === true && options.maxRetries > 0
      if (isOutlasted) outlasted++
      if ('error' in result && result.isSilent) silent++
      const repeats = { attempts, counted: isOutlasted ? undefined : attempts - outlasted, silent }
      if (await this.waitForRetry(result, repeats, request, options)) continue
      if ('status' in result)
        return { ...result, attempts, sentAt, retryAfter: retryAfter(result.headers, clock.now()) }
      throw withAttempts(result.error, attempts, sentAt)
    }
  }

  /** Closes all connections; requests end, and are not sent again. */
  async close(): Promise<void> {
    this.closing.abort()
    // A transport that could not be opened was reported by send().
    await this.transport?.then(
      ({ pools }) => pools.close(),
      () => undefined,
    )
  }

  /** Returns the proxy for a URL; this machine is never reached through one. */
  private proxyFor(url: URL): URL | undefined {
    return isLoopback(url.hostname) ? undefined : this.proxies.proxyFor(url)
  }

  /** The milliseconds in which no request is sent, because the service asked for a pause. */
  pauseLeft(): number {
    return this.traffic?.pauseLeft(this.options.clock) ?? 0
  }

  /** Waits until the traffic of all clients permits an attempt; resolves to false if its time is over before. */
  private async mayBegin({ remaining }: HttpSendOptions): Promise<boolean> {
    const { clock, interrupted } = this.options
    const { traffic } = this
    if (traffic === undefined) return true
    const signal = AbortSignal.any([interrupted, this.closing.signal])
    try {
      return await traffic.enter({ clock, signal, remaining })
    } catch (error) {
      if (this.closing.signal.aborted && !interrupted.aborted) return false
      throw error
    }
  }

  private async loadTransport(url: URL) {
    const isSecure = url.protocol === 'https:'
    const isDirect = this.proxyFor(url) === undefined
    const early = isSecure && isDirect ? await openEarly(url) : undefined
    try {
      // First undici: V8 rejects code that was cached under other flags.
      const { createConnectionPools, createTrust, sendOnce } = await import('./undici.ts')
      await this.options.beforeRequests?.()
      const pools = createConnectionPools({
        proxyFor: url => this.proxyFor(url),
        limit: Math.min(connectLimit, this.options.limit),
        secureContext: isSecure ? await createTrust(this.options) : undefined,
        early,
      })
      return { pools, sendOnce }
    } catch (error) {
      early?.destroy()
      throw error
    }
  }

  private createAttempt(
    request: HttpRequest,
    url: URL,
    { token, beginAttempt, remaining }: HttpSendOptions,
  ): Attempt {
    const limit = beginAttempt()
    const credential: Record<string, string> =
      request.credential === 'token' && token !== undefined ? { 'x-api-token': token } : {}
    // The start of the upload is observed only where it decides whether the request may have been applied.
    const isObserved = request.isChange || this.proxyFor(url) !== undefined
    if (request.isChange) this.hasSentChange = true
    return {
      request,
      headers: { ...request.headers, ...credential, 'accept-encoding': 'gzip' },
      limit,
      wholeLimit: Number.isFinite(remaining()) ? limit : Number.POSITIVE_INFINITY,
      interrupted: this.options.interrupted,
      isObserved,
      hasBegun: !isObserved,
      hasHead: false,
    }
  }

  private startSilenceTimer(attempt: Attempt, { host }: URL): NodeJS.Timeout | undefined {
    const { messages, rateLimit, notify } = this.options
    if (messages === undefined || rateLimit === undefined || this.isSilenceTold) return undefined
    return setTimeout(() => {
      if (this.isSilenceTold || attempt.hasHead) return
      this.isSilenceTold = true
      notify(`Still waiting for ${host} to respond to ${attempt.request.operation}.`)
    }, silenceDelays[messages])
  }

  private explainFailure(
    error: unknown,
    { request, limit, hasBegun, hasHead }: Attempt,
    url: URL,
    pool: ConnectionPool,
  ): TransportError {
    const { interrupted, nameOf } = this.options
    const { operation } = request
    if (interrupted.aborted)
      throw hasBegun
        ? extendError(toMergeqError(interrupted.reason), { sentState: 'ambiguous' })
        : interrupted.reason
    if (isMergeqError(error))
      return {
        retryable: error.details.isResponseTooLarge !== true,
        error: extendError(error, { host: url.host, operation, sentState: 'ambiguous' }),
      }
    const failure = classifyError(error, {
      operation,
      host: url.host,
      proxy: this.proxyFor(url)?.host,
      proxies: this.proxies,
      // A request without a body has no upload to observe.
      began: hasBegun || (request.body === undefined && pool.isConnected()),
      limit,
      nameOf,
    })
    return { ...failure, isSilent: isTimeLimit(error) && !hasHead }
  }

  /** Pauses the traffic after a 429; where it is outlasted, nothing more is sent after ten minutes of them. */
  private noteRateLimit({ headers }: HttpResponse, attempts: number, { maxRetries }: HttpSendOptions): void {
    const { clock, random, rateLimit } = this.options
    this.traffic?.pause(retryAfter(headers, clock.now()) ?? 0, clock)
    if (rateLimit?.isOutlasted !== true) return
    if (maxRetries > 0) this.traffic?.pause(backoff(attempts, random()), clock)
    const now = clock.monotonic()
    this.limitedSince ??= now
    if (now + this.pauseLeft() - this.limitedSince > maxPatience) this.traffic?.stop()
  }

  /** Tells of a pause, but only once: requests that were sent together are told of it together. */
  private async announcePause(delay: number, text: string): Promise<void> {
    const until = this.options.clock.monotonic() + delay
    if (until <= this.announcedUntil + 1_000) return
    this.announcedUntil = until
    await this.options.notify(text)
  }

  /** The failure of a request that was not sent in time, because others come first or the service asked for a pause. */
  private notSent(host: string, operation: string): TransportError {
    const left = this.pauseLeft()
    const seconds = Math.ceil(left / 1_000)
    const isLimited = left > maxRetryAfter || this.traffic?.isStopped() === true
    const message = isLimited
      ? `No request was sent, because ${host} reported that the rate limit was exceeded (429).`
      : `No request could be sent to ${host} in time.`
    const time = seconds === 0 ? 'later' : `in ${seconds}s`
    const hint = isLimited
      ? `Try again ${time}.`
      : 'The client has sent too many requests, or the service asked for a pause. Nothing was sent.'
    const limit = isLimited ? { status: 429, retryAfter: seconds } : {}
    const details = { host, operation, sentState: 'not-sent', hint, ...limit } as const
    return { retryable: false, error: new MergeqError('unavailable', message, details) }
  }

  private async waitForRetry(
    result: HttpResponse | TransportError,
    { attempts, counted, silent }: Repeats,
    request: HttpRequest,
    options: HttpSendOptions,
  ): Promise<boolean> {
    const { clock, random, interrupted, notify, repeatsSilence } = this.options
    const { signal } = this.closing
    if (signal.aborted) return false
    // Readings after a change decide what became of it.
    if (silent > 1 && repeatsSilence !== true && !this.hasSentChange) return false
    const reason = await retryReason(result, request, options)
    if (reason === undefined || this.traffic?.isStopped() === true) return false
    if (counted !== undefined && (counted > options.maxRetries || this.retryCount >= maxRetriesPerClient))
      return false
    const requestedDelay = 'status' in result ? retryAfter(result.headers, clock.now()) : undefined
    const delay =
      counted === undefined ? this.pauseLeft() : Math.max(backoff(attempts, random()), requestedDelay ?? 0)
    if (delay > maxRetryAfter) return false
    const remaining = options.remaining()
    const hasTime = delay < remaining
    if (counted !== undefined) this.retryCount++
    const text = `${reason}; retrying in ${(delay / 1_000).toFixed(1)}s.`
    if (hasTime && counted === undefined) await this.announcePause(delay, text)
    else if (hasTime) await notify(text)
    try {
      await clock.sleep(Math.min(delay, remaining), AbortSignal.any([interrupted, signal]))
    } catch (error) {
      if (!signal.aborted) throw error
    }
    return hasTime && !signal.aborted
  }
}

interface Repeats {
  readonly attempts: number
  /** How many of these are counted; undefined if the next one is not. */
  readonly counted: number | undefined
  /** How many of these got no byte in their time. */
  readonly silent: number
}

/**
 * The delay that the `Retry-After` header asks for, in milliseconds: seconds, or a date that is compared with
 * the Date header of the response, or else with `now`. Undefined when the header is missing or invalid.
 */
function retryAfter(headers: ReadonlyMap<string, string>, now: number): number | undefined {
  const header = headers.get('retry-after')?.trim()
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const [until, sentAt] = [Date.parse(header), Date.parse(headers.get('date') ?? '')]
  return Number.isNaN(until) || /^[-+.\d]*$/.test(header)
    ? undefined
    : Math.max(0, until - (Number.isNaN(sentAt) ? now : sentAt))
}

const isRateLimited = (result: HttpResponse | TransportError): result is HttpResponse =>
  'status' in result && result.status === 429

const withAttempts = (error: MergeqError, attempts: number, sentAt: number): MergeqError =>
  attempts === 1
    ? extendError(error, { attempts, sentAt })
    : extendError(error, { attempts, sentAt }, error.message.replace(/\.$/, ` (${attempts} attempts).`))

/** Undefined when the request must not be repeated or a retry would not help. */
async function retryReason(
  result: HttpResponse | TransportError,
  { isChange }: HttpRequest,
  { isComplete }: HttpSendOptions,
): Promise<string | undefined> {
  if ('error' in result) {
    if (!result.retryable || (isChange && result.error.details.sentState === 'ambiguous')) return undefined
    return result.error.message.replace(/\.$/, '')
  }
  const { status } = result
  if (status >= 200 && status <= 299)
    return isChange || (await isComplete(result)) ? undefined : 'The response was incomplete'
  if (status === 429) return 'The service reported that the rate limit was exceeded (429)'
  const isTransient = status === 408 || (status >= 500 && status <= 599)
  return isTransient && !isChange ? `The service could not process the request (${status})` : undefined
}

export const maxRetriesPerClient = 10
/** After so many milliseconds without a byte of the response that is told. */
const silenceDelays = { person: 5_000, log: 20_000 } as const
/** The bound of the first delay, in milliseconds, which doubles with each attempt, and those of every delay. */
export const retryDelays = { first: 500, min: 100, max: 20_000 }
/** How long a command over several queues or pull requests outlasts a rate limit, in milliseconds. */
export const maxPatience = 10 * 60_000

/** The delay in milliseconds after attempt number `attempt`, from 1: full jitter; `random` is from 0 to 1. */
export const backoff = (attempt: number, random: number): number =>
  Math.max(
    retryDelays.min,
    Math.round(random * Math.min(retryDelays.max, retryDelays.first * 2 ** (attempt - 1))),
  )
