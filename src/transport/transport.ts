import { setFlagsFromString } from 'node:v8'
import type { Dispatcher } from 'undici'
import requestBy from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import { Failure, isFailure } from '../failure.ts'
import type { Body, Request } from '../request/request.ts'
import type { Environment, Runtime } from '../world/world.ts'
import { faultOf } from './faults.ts'

/** What came back: the body is decompressed and whole. */
export interface Response {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
}

/** What a line to the service is made of. */
export interface Wiring {
  readonly env: Environment
  readonly runtime: Runtime
  /** A further certificate authority, as PEM. */
  readonly ca?: string
  /** Ends everything that is under way. */
  readonly interrupted: AbortSignal
}

/** A line to the service. */
export interface Line {
  /** Sends one request. `limit` bounds it, in milliseconds; `token` goes where the request's credential says. */
  send(request: Request, token: string | undefined, limit: number): Promise<Response>
  close(): Promise<void>
}

const connectLimit = 10_000
const idleLimit = 15_000
const largestHeaders = 16 * 1024
const largestAnswer = 64 * 1024 * 1024

const variable = (env: Environment, name: string): string => env[name.toLowerCase()] || env[name] || ''

/** Opens a line: nothing is connected before the first request. A loopback address is never proxied. */
export function openLine({ env, runtime, ca, interrupted }: Wiring): Line {
  const options = {
    connect: { timeout: connectLimit, ...(ca === undefined ? {} : { ca }) },
    maxHeaderSize: largestHeaders,
    bodyTimeout: idleLimit,
  }
  const dispatchers = new Map<boolean, Dispatcher>()
  const dispatcherFor = (direct: boolean): Dispatcher => {
    const standing = dispatchers.get(direct)
    if (standing !== undefined) return standing
    const made = direct
      ? new Agent(options)
      : new EnvHttpProxyAgent({
          ...options,
          httpProxy: variable(env, 'HTTP_PROXY'),
          httpsProxy: variable(env, 'HTTPS_PROXY') || variable(env, 'HTTP_PROXY'),
          noProxy: variable(env, 'NO_PROXY'),
        })
    dispatchers.set(direct, made)
    return made
  }
  return {
    send: (request, token, limit) =>
      quietly(runtime, () => attempt(dispatcherFor, request, token, limit, interrupted)),
    close: async () => {
      await Promise.all([...dispatchers.values()].map(dispatcher => dispatcher.destroy()))
    },
  }
}

/**
 * Runs the first request without the background compilation that keeps V8 11 (Node 20) alive for 65 to 95 ms after
 * the answer: undici's parser is WebAssembly and small.
 */
async function quietly<T>(runtime: Runtime, work: () => Promise<T>): Promise<T> {
  if (!runtime.v8.startsWith('11.')) return work()
  setFlagsFromString('--wasm-tiering-budget=100000000')
  try {
    return await work()
  } finally {
    setFlagsFromString('--wasm-tiering-budget=1800000')
  }
}

async function attempt(
  dispatcherFor: (direct: boolean) => Dispatcher,
  request: Request,
  token: string | undefined,
  limit: number,
  interrupted: AbortSignal,
): Promise<Response> {
  const { origin, host, hostname, pathname, search } = new URL(request.url)
  const direct = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
  const credential: Record<string, string> =
    request.credential === 'token' && token !== undefined ? { 'x-api-token': token } : {}
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(limit)])
  try {
    const { statusCode, headers, body } = await requestBy.call(dispatcherFor(direct), {
      origin,
      path: `${pathname}${search}`,
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers: {
        ...request.headers,
        ...credential,
        'accept-encoding': 'gzip',
        ...(request.body === undefined ? {} : { 'content-length': String(request.body.bytes) }),
      },
      body: request.body === undefined ? null : whole(request.body),
      headersTimeout: limit,
      signal,
    })
    const bytes = await readAll(body, request.operation, host)
    const flat = new Map(
      Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
      ),
    )
    return {
      status: statusCode,
      headers: flat,
      bytes: await unpack(bytes, flat.get('content-encoding'), request.operation),
    }
  } catch (error) {
    if (isFailure(error)) throw error
    if (interrupted.aborted) throw interrupted.reason
    throw faultOf(error, request.operation, host, limit).failure
  }
}

const whole = ({ pieces, bytes }: Body): Uint8Array => {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return first
  const all = new Uint8Array(bytes)
  let offset = 0
  for (const piece of pieces) {
    all.set(piece, offset)
    offset += piece.length
  }
  return all
}

const tooLarge = (operation: string): Failure =>
  new Failure('bad-answer', `${operation}: the answer is larger than 64 MiB.`, { operation })

async function readAll(
  body: AsyncIterable<Uint8Array>,
  operation: string,
  _host: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > largestAnswer) throw tooLarge(operation)
  }
  return whole({ pieces: chunks, bytes })
}

async function unpack(
  bytes: Uint8Array,
  encoding: string | undefined,
  operation: string,
): Promise<Uint8Array> {
  if (encoding === undefined || encoding === 'identity' || bytes.length === 0) return bytes
  const { gunzipSync } = await import('node:zlib')
  try {
    return gunzipSync(bytes, { maxOutputLength: largestAnswer })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(operation)
    throw new Failure('bad-answer', `${operation}: the answer says that it is ${encoding}, and is not.`, {
      operation,
    })
  }
}
