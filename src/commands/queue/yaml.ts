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
import { isSameSetting, type QueueFile, type SourceNode } from '../../domain/queue-file.ts'
import { isExactNumber } from '../../domain/values/numbers.ts'
import { isMergeqError, usageError } from '../../errors.ts'
import { type Json, type JsonObject, stringifyJson } from '../../json.ts'

/** Upper limit for the nesting depth of values. */
const maxDepth = 50

/** Whether a text has characters that a person cannot see; such text is quoted and escaped. */
const hasInvisibleCharacters = (text: string): boolean =>
  stringifyJson(text) !== JSON.stringify(text) || /[\uD800-\uDFFF]/u.test(text)

const stringTag = 'tag:yaml.org,2002:str'

/** Writes text with invisible characters as quoted, escaped JSON, and other values as the library does. */
const customTags = (tags: Tags): Tags =>
  tags.map(tag => {
    if (typeof tag === 'string' || tag.tag !== stringTag || tag.collection !== undefined) return tag
    const { stringify: stringifyDefault } = tag
    const escapingTag: ScalarTag = {
      ...tag,
      stringify: (item, ...more) =>
        typeof item.value === 'string' && hasInvisibleCharacters(item.value)
          ? stringifyJson(item.value)
          : (stringifyDefault?.(item, ...more) ?? stringify(item.value)),
    }
    return escapingTag
  })

/**
 * YAML 1.2 with the core schema, whatever a file declares; text that YAML 1.1 reads otherwise (`off`) is
 * quoted.
 */
const options = {
  schema: 'core',
  compat: 'yaml-1.1',
  customTags,
  prettyErrors: false,
  logLevel: 'error',
} as const

/** Whether values are nested too deeply: counts tokens, as composing the values would exhaust the stack. */
function isTooDeep(text: string): boolean {
  const pending = [...new Parser().parse(text)].map(token => ({ token, depth: 0 }))
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const { token, depth } = entry
    if (depth > maxDepth) return true
    const children =
      'items' in token
        ? token.items.flatMap(({ key, value }) => [key, value])
        : token.type === 'document'
          ? [token.value]
          : []
    for (const child of children) if (child) pending.push({ token: child, depth: depth + 1 })
  }
  return false
}

/**
 * Parses YAML, which includes JSON. Throws a usage error that names file and line for invalid YAML, duplicate
 * keys, more than one document, anchors, aliases, tags, and values that JSON does not have.
 */
export function parseYaml(text: string, file: string): SourceNode {
  const lineCounter = new LineCounter()
  const lineAt = (offset = 0) => Math.max(1, lineCounter.linePos(offset).line)
  const syntaxError = (offset: number | undefined, problem: string) =>
    usageError(
      `${file}:${lineAt(offset)}: ${problem}`,
      'Fix the file. For an example, run: mergeq queue export',
    )
  if (isTooDeep(text)) throw syntaxError(0, 'the values are nested too deeply.')
  try {
    const document = parseDocument(text, { ...options, lineCounter })
    const [error] = document.errors
    if (error !== undefined)
      throw syntaxError(error.pos[0], `invalid YAML: ${error.message.replace(/\.?$/, '.')}`)
    if (document.contents === null) throw syntaxError(0, 'the file is empty.')
    return convertNode(document.contents)
  } catch (error) {
    if (isMergeqError(error)) throw error
    throw syntaxError(0, `invalid YAML: ${error instanceof Error ? error.message : String(error)}.`)
  }

  function convertNode(node: ParsedNode | null): SourceNode {
    const offset = node?.range[0]
    if (isAlias(node) || node?.anchor !== undefined)
      throw syntaxError(offset, 'anchors and aliases are not supported: write the value itself.')
    if (node?.tag !== undefined) throw syntaxError(offset, `the tag ${node.tag} is not supported.`)
    const line = lineAt(offset)
    if (isSeq(node)) return { line, value: node.items.map(item => convertNode(item).value) }
    if (isMap(node)) {
      const members = new Map<string, SourceNode>()
      for (const { key, value } of node.items) {
        if (!isScalar(key) || typeof key.value !== 'string')
          throw syntaxError(key.range?.[0] ?? offset, 'a key must be a string; use quotes if necessary.')
        members.set(convertNode(key) && key.value, {
          ...convertNode(value),
          line: lineAt(key.range[0]),
        })
      }
      const value = Object.fromEntries([...members].map(([key, member]) => [key, member.value]))
      return { line, value, members }
    }
    if (node === null) return { line, value: null }
    return { line, value: convertScalar(node.value, node.source, offset) }
  }

  function convertScalar(value: unknown, source: string, offset: number | undefined): Json {
    if (typeof value === 'number') {
      const isDecimal = /^[-+]?[\d.]+(?:e[-+]?\d+)?$/i.test(source)
      if (isDecimal ? isExactNumber(source) : Number.isSafeInteger(value)) return value
      throw syntaxError(offset, `the number ${source} cannot be represented exactly.`)
    }
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    throw syntaxError(offset, 'this value cannot be represented in JSON.')
  }
}

const formatDocument = (document: Document): string => document.toString({ lineWidth: 0 })

/** Creates the node of a value in block style. */
function createNode(value: Json): Node | null {
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

/** Returns the node of a value that replaces another node; comments of the node and of equal items stay. */
function replaceNode(previous: unknown, value: Json): Node | null {
  if (isSeq(previous) && Array.isArray(value) && value.length > 0) {
    previous.items = value.map(
      element => previous.items.find(item => isScalar(item) && item.value === element) ?? createNode(element),
    )
    return previous
  }
  const node = createNode(value)
  if (node !== null && isNode(previous)) {
    node.comment = previous.comment ?? null
    node.commentBefore = previous.commentBefore ?? null
  }
  return node
}

const createPair = (key: string, value: Json) => new Pair(new Scalar(key), createNode(value))

const pairKey = ({ key }: Pair): unknown => (isScalar(key) ? key.value : key)

/** The comment at the top of a new file. */
const fileComment =
  ' Settings of a merge queue. `mergeq queue diff -f` compares them with the live queue, and\n `mergeq queue apply -f` applies them. Settings that are not listed here stay unchanged.'

/** Formats a new queue file. */
export function writeYaml(queueFile: QueueFile): string {
  const document = new Document(null, options)
  document.contents = createNode({ ...queueFile })
  document.commentBefore = fileComment
  return formatDocument(document)
}

/**
 * Returns the text of a queue file with new settings. Equal values and all comments stay unchanged; the
 * repository and the branch are added if they are missing. `parseYaml` must accept the text.
 *
 * @param before the settings in the text
 * @param keepsState whether the state in the text stays although the new settings do not have it
 */
export function rewriteYaml(
  text: string,
  before: JsonObject,
  { settings, ...identity }: QueueFile,
  keepsState: boolean,
): string {
  const document: Document = parseDocument(text, options)
  const root = document.contents
  if (!isMap(root)) return text
  for (const [name, value] of Object.entries(identity))
    if (!root.has(name)) root.items.push(createPair(name, value))
  const settingsPair = root.items.find(pair => pairKey(pair) === 'settings')
  const mapping = settingsPair?.value
  if (!isMap(mapping)) {
    if (settingsPair === undefined) root.items.push(createPair('settings', settings))
    else settingsPair.value = replaceNode(mapping, settings)
    return formatDocument(document)
  }
  mapping.items = mapping.items.filter(pair => {
    const name = String(pairKey(pair))
    return Object.hasOwn(settings, name) || (keepsState && name === 'state')
  })
  for (const [name, value = null] of Object.entries(settings)) {
    const pair = mapping.items.find(candidate => pairKey(candidate) === name)
    if (pair === undefined) mapping.items.push(createPair(name, value))
    else if (!isSameSetting(name, before[name] ?? null, value)) pair.value = replaceNode(pair.value, value)
  }
  return formatDocument(document)
}
