import { MergeqError } from '../base/errors.ts'
import { type EncodedJson, isObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import type { HttpRequest, RequestBody } from '../http/messages.ts'
import { formatInteger } from '../values/format.ts'
import { shellQuote } from '../values/suggested-command.ts'
import { addedFields, type BodyOverride } from './added-fields.ts'
import { maxBodySize, maxResponseSize } from './limits.ts'
import { isChange, type Operation, operationMethod, operationName } from './operation.ts'
import type { EncodedValue, ParamLocation, Params, ParamValues } from './params.ts'
import type { Resource } from './resource.ts'
import type { ServiceClient } from './service-client.ts'

/** A request to the service as plain data. The token is not part of it: the HTTP client adds it. */
export interface Request extends HttpRequest {
  /** The operation that is called; HTTP knows only its name, which is `operation`. */
  readonly called: Operation
  /** What the params name. */
  readonly resource: Resource
}

/** The members of a body. One of them can be encoded already; their own members cannot. */
interface Body {
  [key: string]: EncodedValue | undefined
}

const utf8 = new TextEncoder()

/** Throws a `refused` error for a body over the limit of docs/reference/service.md, "Limits". */
export async function buildRequest(
  client: ServiceClient,
  called: Operation,
  params: ParamValues<Params>,
): Promise<Request> {
  const { settings, host } = client
  const { route, decoder } = called
  const query = new URLSearchParams()
  const headers: Record<string, string> = {
    accept: '*/*',
    'user-agent': `mergeq/${host.runtime.version}`,
  }
  let credential: Request['credential'] = called.isPublic === true ? 'none' : 'token'
  for (const [location, value] of encodedParams(called, params)) {
    if (location === 'query')
      for (const [key, member] of Object.entries(value ?? {})) query.set(key, String(member))
    if (!location.startsWith('credential.')) continue
    headers[location.slice('credential.'.length)] = String(value)
    credential = 'in-headers'
  }
  const method = operationMethod(route)
  const operation = operationName(route)
  const body = method === 'GET' ? undefined : encode(bodyOf(called, params, addedFields(client, called)))
  const request = {
    called,
    operation,
    method,
    url: `${await settings.require('baseUrl')}/${operation}${query.size === 0 ? '' : `?${query}`}`,
    credential,
    isChange: isChange(called),
    resource: params,
    maxResponseSize: decoder.maxBytes ?? maxResponseSize,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  }
  await logOrigins(client)
  if (body !== undefined && body.bytes > maxBodySize) {
    const refused = { operation, status: undefined, resource: request.resource }
    throw bodyTooLargeError(operation, body.bytes, client.advice.afterRefusal(refused))
  }
  return request
}

function encodedParams(
  { params }: Operation,
  values: ParamValues<Params>,
): readonly (readonly [ParamLocation, EncodedValue])[] {
  return Object.entries(params).flatMap(([name, { location, encode }]) => {
    if (location === undefined) return []
    const value = encode === undefined ? values[name] : encode(values[name])
    return value === undefined ? [] : [[location, value as EncodedValue] as const]
  })
}

function bodyOf(operation: Operation, params: ParamValues<Params>, overrides: readonly BodyOverride[]): Body {
  const body: Body = Object.create(null)
  for (const [location, value] of encodedParams(operation, params)) {
    if (location === 'body') for (const [key, member] of Object.entries(value ?? {})) body[key] = member
    else if (location.startsWith('body.')) {
      const path = location.slice('body.'.length)
      if (isEncoded(value)) body[path] = value
      else setPath(body, path.split('.'), value)
    }
  }
  for (const { path, value } of overrides) setPath(body, path, value)
  return body
}

/** The body as it is sent, without members that are already encoded. */
export const sentBody = (
  operation: Operation,
  params: ParamValues<Params>,
  overrides: readonly BodyOverride[],
): JsonObject => {
  const body = bodyOf(operation, params, overrides)
  return Object.fromEntries(Object.keys(body).map(name => [name, jsonIn(body, name)]))
}

function jsonIn(body: Body, name: string): Json | undefined {
  const value = body[name]
  return value === undefined || isEncoded(value) ? undefined : value
}

export const bodyTooLargeError = (
  operation: string,
  bytes: number,
  hint = 'Send less data in one request.',
): MergeqError =>
  new MergeqError(
    'refused',
    `The request has ${formatInteger(bytes)} bytes or more; the limit is ${formatInteger(maxBodySize)} bytes (20 MiB). Nothing was sent.`,
    { operation, hint, isBodyTooLarge: true },
  )

const isEncoded = (value: EncodedValue): value is EncodedJson =>
  typeof value === 'object' &&
  value !== null &&
  'chunks' in value &&
  Array.isArray(value.chunks) &&
  value.chunks[0] instanceof Uint8Array

function setPath(body: Body, [key = '', ...path]: readonly string[], value: Json): void {
  body[key] = withPath(jsonIn(body, key), path, value)
}

/** Returns `current` with the value at a path in it; what is not an object on the way is replaced. */
function withPath(
  current: Json | undefined,
  [key, ...path]: readonly string[],
  value: Json | undefined,
): Json | undefined {
  if (key === undefined) return value
  // Without a prototype, `__proto__` is a member like others.
  const members: { [key: string]: Json | undefined } = Object.create(null)
  if (isObject(current)) for (const [name, member] of Object.entries(current)) members[name] = member
  members[key] = withPath(members[key], path, value)
  return members
}

/** Encodes a body like `JSON.stringify`. A member that is already encoded is copied unchanged. */
function encode(body: Body): RequestBody {
  const pieces: Uint8Array[] = []
  let bytes = 0
  let text = '{'
  const flush = () => {
    const piece = utf8.encode(text)
    pieces.push(piece)
    bytes += piece.length
    text = ''
  }
  let comma = ''
  for (const [key, value] of Object.entries(body)) {
    if (value === undefined) continue
    text += `${comma}${JSON.stringify(key)}:`
    comma = ','
    if (isEncoded(value)) {
      flush()
      pieces.push(...value.chunks)
      bytes += value.bytes
    } else text += JSON.stringify(value)
  }
  text += '}'
  flush()
  return { pieces, bytes }
}

/** Returns the body of a request; empty for a request without one, or with another value than an object. */
export function sentObject({ body }: Request): JsonObject {
  const sent = body === undefined ? undefined : parseJson(bodyText(body))
  return isObject(sent) ? sent : {}
}

export const bodyText = ({ pieces }: RequestBody): string => {
  const decoder = new TextDecoder()
  return pieces.map(piece => decoder.decode(piece, { stream: true })).join('') + decoder.decode()
}

const loggedOrigins = new WeakMap<object, number>()

async function logOrigins({ options, settings, logger }: ServiceClient): Promise<void> {
  if (!options.verbose) return
  const used = settings.used()
  const newSettings = [...used].slice(loggedOrigins.get(used) ?? 0)
  loggedOrigins.set(used, used.size)
  for (const [name, { value, origin }] of newSettings) await logger.debug(`${name}: ${value} (${origin})`)
}

const redactedToken = '[REDACTED]'

/** A request as `--dry-run` prints it (docs/reference/cli.md, "Dry run"): without the token, `body` as text. */
export const previewRequest = ({ operation, method, url, headers, credential, body }: HttpRequest) => ({
  operation,
  method,
  url,
  headers: credential === 'token' ? { ...headers, 'x-api-token': redactedToken } : headers,
  body: body && bodyText(body),
})

/** The request as a curl command, which reads the token from MERGEQ_TOKEN. */
export function curlCommand({ method, url, headers, body }: ReturnType<typeof previewRequest>): string {
  const words = ['curl', '-X', method, shellQuote(url)]
  for (const [name, value] of Object.entries(headers))
    words.push('-H', value === redactedToken ? `"${name}: $MERGEQ_TOKEN"` : shellQuote(`${name}: ${value}`))
  if (body !== undefined) words.push('--data-binary', shellQuote(body))
  return words.join(' ')
}
