import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Pair,
  type ParsedNode,
  Parser,
  parseDocument,
  Scalar,
  type ScalarTag,
  stringify,
  type Tags,
  visit,
} from 'yaml'
import type { SourceNode } from '../../../domain/queue-file.ts'
import { isMergeqError, usageError } from '../../../errors.ts'
import type { Json, JsonObject } from '../../../json.ts'
import { parseJson, stringifyJson } from '../../../output/json-text.ts'

/** Values are at most so deep. */
const deepest = 50

/** A text that JSON would write with escapes nobody sees otherwise: it stands in quotes, escaped. */
const isUnseen = (text: string): boolean =>
  stringifyJson(text) !== JSON.stringify(text) || /[\uD800-\uDFFF]/u.test(text)

const strings = 'tag:yaml.org,2002:str'

/** Texts are written so that nothing in them is invisible; everything else as it is usual. */
const customTags = (tags: Tags): Tags =>
  tags.map(tag => {
    if (typeof tag === 'string' || tag.tag !== strings || tag.collection !== undefined) return tag
    const { stringify: usual } = tag
    const seen: ScalarTag = {
      ...tag,
      stringify: (item, ...more) =>
        typeof item.value === 'string' && isUnseen(item.value)
          ? stringifyJson(item.value)
          : (usual?.(item, ...more) ?? stringify(item.value)),
    }
    return seen
  })

/**
 * YAML 1.2 with the schema of its core, whatever a file says; what YAML 1.1 would read otherwise (`off`) is
 * quoted.
 */
const options = {
  schema: 'core',
  compat: 'yaml-1.1',
  customTags,
  prettyErrors: false,
  logLevel: 'error',
} as const

/**
 * Whether values are nested too deeply: composing them would exhaust the stack, so tokens are counted first.
 */
function isDeep(text: string): boolean {
  const open = [...new Parser().parse(text)].map(token => ({ token, depth: 0 }))
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { token, depth } = one
    if (depth > deepest) return true
    const below =
      'items' in token
        ? token.items.flatMap(({ key, value }) => [key, value])
        : token.type === 'document'
          ? [token.value]
          : []
    for (const inner of below) if (inner) open.push({ token: inner, depth: depth + 1 })
  }
  return false
}

/**
 * Reads YAML or JSON, which is YAML. Refuses with a usage failure that names file and line: what is no YAML,
 * a key that stands twice, more than one document, anchors, aliases and tags, and what JSON cannot hold.
 */
export function parseYaml(text: string, file: string): SourceNode {
  const counter = new LineCounter()
  const lineAt = (offset = 0) => Math.max(1, counter.linePos(offset).line)
  const wrong = (offset: number | undefined, what: string) =>
    usageError(
      `${file}:${lineAt(offset)}: ${what}`,
      'Mend the file; `mergeq queue export` shows what one looks like.',
    )
  if (isDeep(text)) throw wrong(0, 'this is nested too deeply.')
  try {
    const document = parseDocument(text, { ...options, lineCounter: counter })
    const [error] = document.errors
    if (error !== undefined)
      throw wrong(error.pos[0], `this is no YAML: ${error.message.replace(/\.?$/, '.')}`)
    if (document.contents === null) throw wrong(0, 'this is empty.')
    return spotOf(document.contents)
  } catch (error) {
    if (isMergeqError(error)) throw error
    throw wrong(0, `this is no YAML: ${error instanceof Error ? error.message : String(error)}.`)
  }

  function spotOf(node: ParsedNode | null): SourceNode {
    const offset = node?.range[0]
    if (isAlias(node) || node?.anchor !== undefined)
      throw wrong(offset, 'anchors and aliases are not taken: write the value itself.')
    if (node?.tag !== undefined) throw wrong(offset, `the tag ${node.tag} is not taken.`)
    const line = lineAt(offset)
    if (isSeq(node)) return { line, value: node.items.map(item => spotOf(item).value) }
    if (isMap(node)) {
      const members = new Map<string, SourceNode>()
      for (const { key, value } of node.items) {
        if (!isScalar(key) || typeof key.value !== 'string')
          throw wrong(key.range?.[0] ?? offset, 'a key must be text (which may need quotes).')
        members.set(spotOf(key) && key.value, {
          ...spotOf(value),
          line: lineAt(key.range[0]),
        })
      }
      const value = Object.fromEntries([...members].map(([key, spot]) => [key, spot.value]))
      return { line, value, members }
    }
    if (node === null) return { line, value: null }
    return { line, value: scalarOf(node.value, node.source, offset) }
  }

  function scalarOf(value: unknown, source: string, offset: number | undefined): Json {
    if (typeof value === 'number') {
      // A number as JSON writes it keeps all its digits.
      const exact = parseJson(source)
      if (exact !== undefined && typeof exact !== 'string') return exact
      if (Number.isSafeInteger(value) || (!Number.isInteger(value) && Number.isFinite(value))) return value
      throw wrong(offset, `${source} is a number that cannot be kept exactly.`)
    }
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    throw wrong(offset, 'this is no value that JSON has.')
  }
}

const toText = (document: Document): string => document.toString({ lineWidth: 0 })

/** A value as it stands in block style. */
function nodeOf(value: Json): Node | null {
  const { contents } = parseDocument(stringifyJson(value), { ...options, intAsBigInt: true })
  visit(contents, {
    Collection: (_, collection) => {
      collection.flow = collection.items.length === 0
    },
    Scalar: (_, scalar) => {
      delete scalar.type
    },
  })
  return contents
}

/**
 * The node of a value that takes the place of another: the comments stay, those of what stays in a list too.
 */
function inPlaceOf(old: unknown, value: Json): Node | null {
  if (isSeq(old) && Array.isArray(value) && value.length > 0) {
    old.items = value.map(one => old.items.find(item => isScalar(item) && item.value === one) ?? nodeOf(one))
    return old
  }
  const fresh = nodeOf(value)
  if (fresh !== null && isNode(old)) {
    fresh.comment = old.comment ?? null
    fresh.commentBefore = old.commentBefore ?? null
  }
  return fresh
}

const pairOf = (key: string, value: Json) => new Pair(new Scalar(key), nodeOf(value))

const keyOf = ({ key }: Pair): unknown => (isScalar(key) ? key.value : key)

/** A mapping as YAML, below a line or two of comment. */
export function writeYaml(value: JsonObject, comment: string): string {
  const document = new Document(null, options)
  document.contents = nodeOf(value)
  document.commentBefore = comment
  return toText(document)
}

/**
 * What a mapping in a file should hold: what stands there and means the same stays as it is, comments and
 * all.
 */
export interface Rewriting {
  /** What stands at the top of the file besides the mapping, where it is missing. */
  readonly head: JsonObject
  /** The name of the mapping. */
  readonly key: string
  readonly values: JsonObject
  /** Keys that are none of our business: they stay. */
  isForeign(key: string): boolean
  isSame(key: string, before: Json, after: Json): boolean
}

/** The text of a file, which `parseYaml` has taken, with other values and all its comments. */
export function rewriteYaml(text: string, before: JsonObject, rewriting: Rewriting): string {
  const { head, key, values, isForeign, isSame } = rewriting
  const document: Document = parseDocument(text, options)
  const top = document.contents
  if (!isMap(top)) return text
  for (const [name, value] of Object.entries(head))
    if (!top.has(name)) top.items.push(pairOf(name, value ?? null))
  const holder = top.items.find(one => keyOf(one) === key)
  const standing = holder?.value
  if (!isMap(standing)) {
    if (holder === undefined) top.items.push(pairOf(key, values))
    else holder.value = inPlaceOf(standing, values)
    return toText(document)
  }
  standing.items = standing.items.filter(pair => {
    const name = String(keyOf(pair))
    return Object.hasOwn(values, name) || isForeign(name)
  })
  for (const [name, value = null] of Object.entries(values)) {
    const pair = standing.items.find(one => keyOf(one) === name)
    if (pair === undefined) standing.items.push(pairOf(name, value))
    else if (!isSame(name, before[name] ?? null, value)) {
      pair.value = inPlaceOf(pair.value, value)
    }
  }
  return toText(document)
}
