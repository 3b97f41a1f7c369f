import { methodOf, operationOf, type Route, type Row } from './operation.ts'
import type { Encoded, Fields, Place, Values, Wire } from '../cli/inputs.ts'
import { at, type Json } from '../json.ts'
import { marked } from '../output/view.ts'
import { largestBody, maxAnswer } from '../domain/limits.ts'
import { type About, aboutOf } from './receipt.ts'
import { resourceIn } from './resource.ts'
import { Failure } from '../errors.ts'
import type { Laid } from './body-overrides.ts'

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
  readonly changes: boolean
  readonly expects: 'json' | 'text' | 'anything'
  /** What it concerns, as its body finally says it. */
  readonly concerns: About
  /** The largest answer that is read, in bytes after decompression. */
  readonly maxAnswer: number
}

/** What a request is made of besides its row and values. */
export interface Making {
  readonly baseUrl: string
  readonly userAgent: string
  readonly sets: readonly Laid[]
  /** What --max-answer says, in bytes; without it each operation has a limit of its own. */
  readonly maxAnswer?: number | undefined
  /** Laid over the body: what a walk asks next. */
  readonly more?: Readonly<Record<string, Json>>
}

interface Tree {
  [key: string]: Wire | undefined
}

const utf8 = new TextEncoder()

/** Makes the request of an operation. A body over the limit of service-api.md section 8 is a `refused` failure. */
export function makeRequest<P extends Route, F extends Fields>(
  row: Row<P, F>,
  values: Values<F>,
  making: Making,
): Request {
  const body = treeOf(row, values, making)
  const query = new URLSearchParams()
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': making.userAgent }
  let credential: Request['credential'] = 'token'
  for (const [name, field] of Object.entries(row.fields)) {
    const value = field.wire === undefined ? values[name] : field.wire(values[name])
    if (field.at === undefined || !isWire(value)) continue
    if (field.at.startsWith('credential.')) {
      headers[field.at.slice('credential.'.length)] = String(value)
      credential = 'in-headers'
    } else if (field.at === 'query')
      for (const [key, one] of Object.entries(value ?? {})) query.set(key, String(one))
  }
  const method = methodOf(row.route)
  const search = query.size === 0 ? '' : `?${query}`
  const request = {
    operation: operationOf(row.route),
    method,
    url: `${making.baseUrl}/${operationOf(row.route)}${search}`,
    credential,
    changes: row.changes !== false,
    expects: row.reply.expects,
    concerns: aboutIn(row, values, body),
    maxAnswer: making.maxAnswer ?? row.reply.maxBytes ?? maxAnswer,
  }
  if (method === 'GET') return { ...request, headers }
  return { ...request, headers: { ...headers, 'content-type': 'application/json' }, body: encode(body) }
}

/** What the body of a request is made of. */
type Parts = Pick<Making, 'sets' | 'more'>

/** The body of an operation, before it is encoded: its fields, then what a walk asks, then `--set`. */
function treeOf<P extends Route, F extends Fields>(
  row: Row<P, F>,
  values: Values<F>,
  { sets, more = {} }: Parts,
): Tree {
  const body: Tree = plain()
  for (const [name, field] of Object.entries(row.fields)) {
    const value = field.wire === undefined ? values[name] : field.wire(values[name])
    if (!field.at?.startsWith('body') || !isWire(value)) continue
    if (field.at === 'body') for (const [key, one] of Object.entries(value ?? {})) plant(body, [key], one)
    else plant(body, pathIn(field.at), value)
  }
  for (const [key, value] of Object.entries(more)) plant(body, [key], value)
  for (const { path, value } of sets) plant(body, path, value)
  return body
}

/** What a run concerns: as the body that will be sent says it, `--set` included; without a body, as its values say it. */
export const concernsOf = <P extends Route, F extends Fields>(
  row: Row<P, F>,
  values: Values<F>,
  parts: Parts,
): About => aboutIn(row, values, treeOf(row, values, parts))

function aboutIn<P extends Route, F extends Fields>(row: Row<P, F>, values: Values<F>, body: Tree): About {
  const about = aboutOf(values)
  if (methodOf(row.route) === 'GET') return about
  const named = ['repo', 'targetBranch', 'pr'].map(key => [key, jsonOf(body[key])] as const)
  const { targets } = about
  const sent = body.impactedTargets
  return {
    ...resourceIn(Object.fromEntries(named)),
    ...(about.forkedRun === undefined ? {} : { forkedRun: about.forkedRun }),
    ...(sent === undefined ? {} : { targets: sent === targets?.list ? targets : targetsIn(jsonOf(sent)) }),
  }
}

/** The targets of a body that `--set` or `api` gave; undefined where they are neither a list nor ALL. */
const targetsIn = (list: Json | undefined): About['targets'] =>
  list === 'ALL' || Array.isArray(list) ? { list, number: list.length } : undefined

/** A part of a body as the service will read it; undefined where it is missing or not JSON. */
function jsonOf(node: Wire | undefined): Json | undefined {
  if (node === undefined) return undefined
  try {
    const value: Json = JSON.parse(textOf(encode({ value: node })))
    return at(value, 'value')
  } catch {
    return undefined
  }
}

/** The failure for a body over the limit. */
export const tooLarge = (operation: string, bytes: number): Failure =>
  new Failure(
    'refused',
    `${operation}: the body has ${marked(bytes)} bytes or more, over the limit of ${marked(largestBody)} (20 MiB); nothing was sent.`,
    {
      operation,
      hint: 'For impacted targets, send every target instead with --all.',
    },
  )

/** The path below the body that a place names. */
const pathIn = (place: Place): readonly string[] => place.slice('body.'.length).split('.')

const plain = (): Tree => Object.create(null)

/** Values that go on the wire as they are; anything else a field must turn into one of these by `wire`. */
const isWire = (value: unknown): value is Wire =>
  value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint'

const isTree = (node: Wire | undefined): node is Tree =>
  typeof node === 'object' && node !== null && !Array.isArray(node) && !isEncoded(node)

const isEncoded = (node: Wire): node is Encoded =>
  typeof node === 'object' &&
  node !== null &&
  'encoded' in node &&
  Array.isArray(node.encoded) &&
  node.encoded[0] instanceof Uint8Array

/** Sets the value at a path; what stands in the way of a longer path is replaced. */
function plant(tree: Tree, path: readonly string[], value: Wire): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    tree[key] = value
    return
  }
  const standing = tree[key]
  const below = plain()
  if (isTree(standing)) for (const [name, one] of Object.entries(standing)) below[name] = one
  tree[key] = below
  plant(below, rest, value)
}

/** The body's bytes: what `JSON.stringify` makes of it, with lists that are encoded already standing in it as they are. */
function encode(tree: Tree): Body {
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
  const write = (node: Wire): void => {
    if (isEncoded(node)) {
      flush()
      for (const piece of node.encoded) pieces.push(piece)
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
export const textOf = ({ pieces }: Body): string => {
  const decoder = new TextDecoder()
  return pieces.map(piece => decoder.decode(piece, { stream: true })).join('') + decoder.decode()
}
