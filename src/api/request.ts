import type { BodyValue, Inputs, InputValues, ParamLocation } from '../cli/inputs.ts'
import { maxAnswer, maxBodySize } from '../domain/limits.ts'
import { MergeqError } from '../errors.ts'
import { type EncodedChunks, get, type Json } from '../json.ts'
import { formatInteger } from '../output/view.ts'
import type { BodyOverride } from './body-overrides.ts'
import { type Operation, operationMethod, operationName, type Route } from './operation.ts'
import { type ResourceRef, resourceOf } from './receipt.ts'
import { parseResource } from './resource.ts'

/** A body in pieces, with its length in bytes as it will be sent. */
export interface Body {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
}

/** One request as plain data. The token is not in it: the transport puts it where `credential` says. */
export interface Request {
  readonly operation: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly credential: 'token' | 'in-headers'
  readonly body?: Body
  /** A change is never resent blindly. */
  readonly isChange: boolean
  readonly expects: 'json' | 'text' | 'anything'
  /** What it concerns, as its body finally says it. */
  readonly concerns: ResourceRef
  /** The largest answer that is read, in bytes after decompression. */
  readonly maxAnswer: number
}

/** What a request is made of besides its row and values. */
export interface RequestOptions {
  readonly baseUrl: string
  readonly userAgent: string
  readonly overrides: readonly BodyOverride[]
  /** What --max-answer says, in bytes; without it each operation has a limit of its own. */
  readonly maxAnswer?: number | undefined
  /** Laid over the body: what a walk asks next. */
  readonly pageQuery?: Readonly<Record<string, Json>>
}

interface BodyTree {
  [key: string]: BodyValue | undefined
}

const utf8 = new TextEncoder()

/** Makes the request of an operation. A body over the limit of service-api.md section 8 is a `refused` failure. */
export function createRequest<P extends Route, F extends Inputs>(
  row: Operation<P, F>,
  values: InputValues<F>,
  making: RequestOptions,
): Request {
  const body = treeOf(row, values, making)
  const query = new URLSearchParams()
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': making.userAgent }
  let credential: Request['credential'] = 'token'
  for (const [name, field] of Object.entries(row.inputs)) {
    const value = field.encode === undefined ? values[name] : field.encode(values[name])
    if (field.location === undefined || !isWire(value)) continue
    if (field.location.startsWith('credential.')) {
      headers[field.location.slice('credential.'.length)] = String(value)
      credential = 'in-headers'
    } else if (field.location === 'query')
      for (const [key, one] of Object.entries(value ?? {})) query.set(key, String(one))
  }
  const method = operationMethod(row.route)
  const search = query.size === 0 ? '' : `?${query}`
  const request = {
    operation: operationName(row.route),
    method,
    url: `${making.baseUrl}/${operationName(row.route)}${search}`,
    credential,
    isChange: row.effect !== false,
    expects: row.decoder.expects,
    concerns: aboutIn(row, values, body),
    maxAnswer: making.maxAnswer ?? row.decoder.maxBytes ?? maxAnswer,
  }
  if (method === 'GET') return { ...request, headers }
  return { ...request, headers: { ...headers, 'content-type': 'application/json' }, body: encode(body) }
}

/** What the body of a request is made of. */
type Parts = Pick<RequestOptions, 'overrides' | 'pageQuery'>

/** The body of an operation, before it is encoded: its fields, then what a walk asks, then `--set`. */
function treeOf<P extends Route, F extends Inputs>(
  row: Operation<P, F>,
  values: InputValues<F>,
  { overrides, pageQuery = {} }: Parts,
): BodyTree {
  const body: BodyTree = plain()
  for (const [name, field] of Object.entries(row.inputs)) {
    const value = field.encode === undefined ? values[name] : field.encode(values[name])
    if (!field.location?.startsWith('body') || !isWire(value)) continue
    if (field.location === 'body')
      for (const [key, one] of Object.entries(value ?? {})) setPath(body, [key], one)
    else setPath(body, pathIn(field.location), value)
  }
  for (const [key, value] of Object.entries(pageQuery)) setPath(body, [key], value)
  for (const { path, value } of overrides) setPath(body, path, value)
  return body
}

/** What a run concerns: as the body that will be sent says it, `--set` included; without a body, as its values say it. */
export const concernsOf = <P extends Route, F extends Inputs>(
  row: Operation<P, F>,
  values: InputValues<F>,
  parts: Parts,
): ResourceRef => aboutIn(row, values, treeOf(row, values, parts))

function aboutIn<P extends Route, F extends Inputs>(
  row: Operation<P, F>,
  values: InputValues<F>,
  body: BodyTree,
): ResourceRef {
  const about = resourceOf(values)
  if (operationMethod(row.route) === 'GET') return about
  const named = ['repo', 'targetBranch', 'pr'].map(key => [key, jsonOf(body[key])] as const)
  const { targets } = about
  const sent = body.impactedTargets
  return {
    ...parseResource(Object.fromEntries(named)),
    ...(about.forkedRun === undefined ? {} : { forkedRun: about.forkedRun }),
    ...(sent === undefined ? {} : { targets: sent === targets?.list ? targets : targetsIn(jsonOf(sent)) }),
  }
}

/** The targets of a body that `--set` or `api` gave; undefined where they are neither a list nor ALL. */
const targetsIn = (list: Json | undefined): ResourceRef['targets'] =>
  list === 'ALL' || Array.isArray(list) ? { list, number: list.length } : undefined

/** A part of a body as the service will read it; undefined where it is missing or not JSON. */
function jsonOf(node: BodyValue | undefined): Json | undefined {
  if (node === undefined) return undefined
  try {
    const value: Json = JSON.parse(bodyText(encode({ value: node })))
    return get(value, 'value')
  } catch {
    return undefined
  }
}

/** The failure for a body over the limit. */
export const bodyTooLargeError = (operation: string, bytes: number): MergeqError =>
  new MergeqError(
    'refused',
    `${operation}: the body has ${formatInteger(bytes)} bytes or more, over the limit of ${formatInteger(maxBodySize)} (20 MiB); nothing was sent.`,
    {
      operation,
      hint: 'For impacted targets, send every target instead with --all.',
    },
  )

/** The path below the body that a place names. */
const pathIn = (place: ParamLocation): readonly string[] => place.slice('body.'.length).split('.')

const plain = (): BodyTree => Object.create(null)

/** Values that go on the wire as they are; anything else a field must turn into one of these by `wire`. */
const isWire = (value: unknown): value is BodyValue =>
  value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint'

const isTree = (node: BodyValue | undefined): node is BodyTree =>
  typeof node === 'object' && node !== null && !Array.isArray(node) && !isEncoded(node)

const isEncoded = (node: BodyValue): node is EncodedChunks =>
  typeof node === 'object' &&
  node !== null &&
  'chunks' in node &&
  Array.isArray(node.chunks) &&
  node.chunks[0] instanceof Uint8Array

/** Sets the value at a path; what stands in the way of a longer path is replaced. */
function setPath(tree: BodyTree, path: readonly string[], value: BodyValue): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    tree[key] = value
    return
  }
  const standing = tree[key]
  const below = plain()
  if (isTree(standing)) for (const [name, one] of Object.entries(standing)) below[name] = one
  tree[key] = below
  setPath(below, rest, value)
}

/** The body's bytes: what `JSON.stringify` makes of it, with lists that are encoded already standing in it as they are. */
function encode(tree: BodyTree): Body {
  const pieces: Uint8Array[] = []
  let bytes = 0
  let text = ''
  const flush = () => {
    if (text === '') return
    const piece = utf8.encode(text)
    pieces.push(piece)
    bytes += piece.length
    text = ''
  }
  const write = (node: BodyValue): void => {
    if (isEncoded(node)) {
      flush()
      for (const piece of node.chunks) pieces.push(piece)
      bytes += node.bytes
    } else if (isTree(node)) {
      let comma = '{'
      for (const [key, one] of Object.entries(node)) {
        if (one === undefined) continue
        text += `${comma}${JSON.stringify(key)}:`
        write(one)
        comma = ','
      }
      text += comma === '{' ? '{}' : '}'
    } else text += JSON.stringify(node)
  }
  write(tree)
  flush()
  return { pieces, bytes }
}

/** The body as text: what is shown of it. */
export const bodyText = ({ pieces }: Body): string => {
  const decoder = new TextDecoder()
  return pieces.map(piece => decoder.decode(piece, { stream: true })).join('') + decoder.decode()
}
