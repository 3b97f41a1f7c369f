import { extendError, isMergeqError, MergeqError, toMergeqError, usageError } from '../errors.ts'
import type { ServiceHost } from '../host/host.ts'
import { connectLimit, createLookup, preconnect } from './connect.ts'
import type { HttpRequest, HttpResponse } from './messages.ts'
import { bypassesProxy, proxyFromEnvironment, proxySource, proxyVariable } from './proxy.ts'
import type { Traffic } from './traffic.ts'
import { classifyError, type TransportError } from './transport-error.ts'
import type { ConnectionPools, sendOnce } from './undici.ts'

export { bypassesProxy, proxyFromEnvironment, proxyVariable }

/** A file with further certificate authorities. */
export interface AuthoritiesFile {
  /** Where it was named, for messages: `--ca-file`. */
  readonly origin: string
  readonly path: string
  /** Its text, in PEM. */
  readonly pem: string
}

export interface HttpClientOptions
  extends Pick<ServiceHost, 'env' | 'runtime' | 'clock' | 'random' | 'beforeRequests'> {
  /** The address of the proxy, in the place of that of the environment. */
  readonly proxy?: string | undefined
  /** What the requests of other clients count for, too; a client alone sends what it is asked to. */
  readonly traffic?: Traffic | undefined
  readonly authorities: readonly AuthoritiesFile[]
  /** Returns the name of a setting as the caller writes it. */
  nameOf(setting: 'caFile' | 'timeout'): string
  /** The shortest time limit of an attempt, in milliseconds; it limits opening a connection too. */
  readonly limit: number
  /** Cancels all requests; its reason is the error to show. */
  readonly interrupted: AbortSignal
  isLoopback(hostname: string): boolean
  notify(text: string): Promise<void>
}

/** What undici does, which is loaded with the first request. */
interface Transport {
  readonly pools: ConnectionPools
  readonly sendOnce: typeof sendOnce
}

interface HttpSendOptions {
  readonly token: string | undefined
  /** Returns the time limit of the attempt that begins now, in milliseconds, without the upload. */
  timeout(): number
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
}

export interface HttpClient {
  /**
   * Sends a request and repeats it where docs/reference/network.md, "Retries", allows: a read after any
   * transient error, a change only when the service certainly did not apply it. Returns the last response.
   * Throws a MergeqError whose `sentState` says how far the request got.
   */
  send(request: HttpRequest, options: HttpSendOptions): Promise<HttpResponse & Sending>
  /** Closes all connections; requests end, and are not sent again. */
  close(): Promise<void>
}

/** Opens no connection before the first request. Throws a usage error for invalid authorities. */
export async function createHttpClient(clientOptions: HttpClientOptions): Promise<HttpClient> {
  const { env, runtime, clock, interrupted, isLoopback } = clientOptions
  const certificates = await parseCertificates(clientOptions.authorities)
  const proxies = proxySource(env, clientOptions.proxy)
  /** Returns the proxy for a URL; this machine is never reached through one. */
  const proxyFor = (url: URL) => (isLoopback(url.hostname) ? undefined : proxies.proxyFor(url))
  let transportPromise: Promise<Transport> | undefined
  let retryCount = 0
  const closing = new AbortController()

  /** Connects while undici and TLS are loaded: loading takes longer than a packet needs to return. */
  const openTransport = async (url: URL): Promise<Transport> => {
    const isSecure = url.protocol === 'https:'
    const limit = Math.min(connectLimit, clientOptions.limit)
    const connection =
      isSecure && proxyFor(url) === undefined ? preconnect(url, limit, createLookup(isLoopback)) : undefined
    await connection?.started
    // First undici: V8 rejects code that was cached under other flags.
    const { createConnectionPools, createTrust, sendOnce } = await import('./undici.ts')
    await clientOptions.beforeRequests?.()
    const secureContext = isSecure ? await createTrust(certificates) : undefined
    const pools = createConnectionPools({
      proxyFor,
      limit,
      preconnect: connection,
      isLoopback,
      secureContext,
    })
    return { pools, sendOnce }
  }

  const sendAttempt = async (
    { pools, sendOnce }: Transport,
    request: HttpRequest,
    { token, timeout, remaining }: HttpSendOptions,
  ): Promise<HttpResponse | TransportError> => {
    const limit = timeout()
    const wholeLimit = Number.isFinite(remaining()) ? limit : Number.POSITIVE_INFINITY
    const url = new URL(request.url)
    // A change uses a new connection: the server may have closed one that was kept alive.
    const pool = pools.poolFor(url, request.isChange)
    const credential: Record<string, string> =
      request.credential === 'token' && token !== undefined ? { 'x-api-token': token } : {}
    const headers = { ...request.headers, ...credential, 'accept-encoding': 'gzip' }
    const proxy = proxyFor(url)?.host
    // The start of the upload is observed only where it decides whether the request may have been applied.
    const isObserved = request.isChange || proxy !== undefined
    let began = !isObserved
    const markBegun = () => {
      began = true
    }
    try {
      const onBegin = isObserved ? markBegun : undefined
      return await sendOnce(pool, { request, headers, limit, wholeLimit, interrupted, onBegin })
    } catch (error) {
      if (interrupted.aborted)
        throw began
          ? extendError(toMergeqError(interrupted.reason), { sentState: 'ambiguous' })
          : interrupted.reason
      if (isMergeqError(error))
        return {
          retryable: error.details.isResponseTooLarge !== true,
          error: extendError(error, { host: url.host, operation: request.operation, sentState: 'ambiguous' }),
        }
      return classifyError(error, {
        node: runtime.node,
        operation: request.operation,
        host: url.host,
        proxy,
        proxies,
        // A request without a body has no upload to observe.
        began: began || (request.body === undefined && pool.isConnected()),
        limit,
        nameOf: clientOptions.nameOf,
      })
    } finally {
      if (request.isChange) await pool.close()
    }
  }

  const mayEnter = async (traffic: Traffic, { remaining }: HttpSendOptions): Promise<boolean> => {
    const signal = AbortSignal.any([interrupted, closing.signal])
    try {
      return await traffic.enter({ clock, signal, remaining })
    } catch (error) {
      if (interrupted.aborted) throw interrupted.reason
      if (closing.signal.aborted) return false
      throw error
    }
  }

  /** Sends an attempt when the traffic of all clients permits it. */
  const sendInTurn = async (request: HttpRequest, options: HttpSendOptions) => {
    const { traffic } = clientOptions
    const url = new URL(request.url)
    if (traffic !== undefined && !(await mayEnter(traffic, options)))
      return { result: outOfTime(url.host, request.operation), sentAt: clock.now() }
    try {
      transportPromise ??= openTransport(url)
      const transport = await transportPromise
      const sentAt = clock.now()
      const result = await sendAttempt(transport, request, options)
      const isLimited = 'status' in result && result.status === 429
      if (isLimited)
        traffic?.pause(Math.min(retryAfter(result.headers, clock.now()) ?? 0, maxRetryAfter), clock)
      return { result, sentAt }
    } finally {
      traffic?.leave()
    }
  }

  /** Waits before the next attempt. Returns false when the request must not be repeated. */
  const waitForRetry = async (
    result: HttpResponse | TransportError,
    attempts: number,
    request: HttpRequest,
    options: HttpSendOptions,
  ): Promise<boolean> => {
    if (closing.signal.aborted) return false
    const reason = await retryReason(result, request, options)
    if (reason === undefined || attempts > options.maxRetries || retryCount >= maxRetriesPerClient)
      return false
    const requestedDelay = 'status' in result ? retryAfter(result.headers, clock.now()) : undefined
    if (requestedDelay !== undefined && requestedDelay > maxRetryAfter) return false
    const delay = Math.max(backoff(attempts, clientOptions.random()), requestedDelay ?? 0)
    const remaining = options.remaining()
    const hasTime = delay < remaining
    retryCount++
    if (hasTime) await clientOptions.notify(`${reason}; retrying in ${(delay / 1_000).toFixed(1)}s.`)
    try {
      await clock.sleep(Math.min(delay, remaining), AbortSignal.any([interrupted, closing.signal]))
    } catch (error) {
      if (!closing.signal.aborted) throw error
    }
    return hasTime && !closing.signal.aborted
  }

  return {
    async send(request, options) {
      // The error of a wrong proxy comes before anything is loaded.
      proxyFor(new URL(request.url))
      for (let attempts = 1; ; attempts++) {
        const { result, sentAt } = await sendInTurn(request, options)
        if (await waitForRetry(result, attempts, request, options)) continue
        if ('status' in result) return { ...result, attempts, sentAt }
        throw withAttempts(result.error, attempts, sentAt)
      }
    },
    async close() {
      closing.abort()
      await (await transportPromise)?.pools.close()
    },
  }
}

/** The failure of a request that was not sent in time, because others come first or the service asked for a pause. */
const outOfTime = (host: string, operation: string): TransportError => ({
  retryable: false,
  error: new MergeqError('unavailable', `No request could be sent to ${host} in time.`, {
    host,
    operation,
    sentState: 'not-sent',
    hint: 'The client has sent too many requests, or the service asked for a pause. Nothing was sent.',
  }),
})

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

const maxRetriesPerClient = 10
/** The bound of the first delay, in milliseconds; it doubles with each attempt. */
const firstDelay = 500
const [minDelay, maxDelay] = [100, 20_000]
/** The longest `Retry-After` that mergeq waits for, in milliseconds. A longer one is reported to the user. */
const maxRetryAfter = 60_000

/** The delay in milliseconds after attempt number `attempt`, from 1: full jitter; `random` is from 0 to 1. */
export const backoff = (attempt: number, random: number): number =>
  Math.max(minDelay, Math.round(random * Math.min(maxDelay, firstDelay * 2 ** (attempt - 1))))

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

/** Throws a usage error for a text without a certificate and for a damaged certificate. */
async function parseCertificates(authorities: readonly AuthoritiesFile[]): Promise<readonly string[]> {
  if (authorities.length === 0) return []
  const { X509Certificate } = await import('node:crypto')
  return authorities.flatMap(({ origin, path, pem }) => {
    const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
    try {
      for (const certificate of certificates) new X509Certificate(certificate)
    } catch {
      throw usageError(
        `${origin}: ${path} contains a damaged certificate.`,
        'Download the file again. The format is PEM.',
      )
    }
    if (certificates.length > 0) return certificates
    throw usageError(
      `${origin}: ${path} contains no certificate.`,
      'Use a PEM file. A certificate starts with -----BEGIN CERTIFICATE-----.',
    )
  })
}
