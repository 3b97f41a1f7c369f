import {
  Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'
import { isSameSetting } from '../../../../api/operations/queue-settings.ts'
import { usageError } from '../../../../base/errors.ts'
import type { Json, JsonObject } from '../../../../base/json.ts'
import { isExactNumber } from '../../../../values/types.ts'
import type { QueueFile, SourceDocument } from './queue-file.ts'

/** YAML 1.2, whatever a file declares; text that YAML 1.1 reads otherwise (`off`) is quoted. */
const options = { schema: 'core', compat: 'yaml-1.1', prettyErrors: false, logLevel: 'error' } as const

/** A file with many more lists and mappings may nest them so deeply that composing them exhausts the stack. */
const maxCollections = 1_000

/** Whether a double keeps the digits of a number in YAML: `9007199254740993` and `.inf` are not kept. */
const isKept = (value: number, source: string): boolean =>
  /^[-+]?[\d.]+(?:e[-+]?\d+)?$/i.test(source) ? isExactNumber(source) : Number.isSafeInteger(value)

/**
 * Parses YAML, which includes JSON. Throws a usage error that names file and line for invalid YAML, duplicate
 * keys, more than one document, merge keys, anchors, aliases, tags, and values that JSON does not have.
 */
export function parseYaml(text: string, file: string): SourceDocument {
  const lineCounter = new LineCounter()
  const lineAt = (offset = 0) => Math.max(1, lineCounter.linePos(offset).line)
  const syntaxError = (offset: number | undefined, problem: string) =>
    usageError(`${file}:${lineAt(offset)}: ${problem}`, 'Fix the file. For an example, use queue export.')
  if ((text.match(/[[{]|[-?]\s/g) ?? []).length > maxCollections)
    throw syntaxError(0, 'the file has too many lists and mappings.')
  const document = parseDocument(text, { ...options, lineCounter })
  const [error] = document.errors
  if (error?.code === 'MULTIPLE_DOCS')
    throw syntaxError(error.pos[0], 'the file has more than one document. Write a file for each queue.')
  if (error !== undefined)
    // Without the part of the file that the parser quotes: it may be another file than was meant.
    throw syntaxError(error.pos[0], `invalid YAML: ${error.message.replace(/:? ".*|\.$/s, '')}.`)
  const { contents } = document
  if (contents === null) throw syntaxError(0, 'the file is empty.')
  visit(contents, {
    Pair(_, { key }) {
      if (isScalar(key) && key.value === '<<' && key.type === 'PLAIN')
        throw syntaxError(
          offsetOf(key),
          '`<<` (a merge key) is not supported: write the settings themselves, or put them into defaults.yaml.',
        )
    },
  })
  visit(contents, (_, node) => {
    const offset = offsetOf(node)
    if (isAlias(node) || (isNode(node) && node.anchor !== undefined))
      throw syntaxError(offset, 'anchors and aliases are not supported: write the value itself.')
    if (isNode(node) && node.tag !== undefined) throw syntaxError(offset, 'tags are not supported.')
    if (isPair(node) && !(isScalar(node.key) && typeof node.key.value === 'string'))
      throw syntaxError(offsetOf(node.key), 'a key must be a string; use quotes if necessary.')
    if (isScalar(node) && typeof node.value === 'number' && !isKept(node.value, node.source ?? ''))
      throw syntaxError(offset, `the number ${node.source} cannot be represented exactly.`)
  })
  return {
    value: document.toJS(),
    lineOf(...path) {
      let [key, value]: readonly [unknown, unknown] = [contents, contents]
      for (const name of path) {
        const pair: Pair | undefined = isMap(value) ? findPair(value, name) : undefined
        const item = isSeq(value) ? value.items[Number(name)] : undefined
        key = pair?.key ?? item
        value = pair?.value ?? item
      }
      return lineAt(offsetOf(key))
    },
  }
}

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined)

const findPair = (mapping: YAMLMap, name: string): Pair | undefined =>
  mapping.items.find(({ key }) => isScalar(key) && key.value === name)

const formatDocument = (document: Document): string => document.toString({ lineWidth: 0 })

const fileComment =
  ' Settings of a merge queue. `mergeq queue diff -f` compares them with the live\n queue; `mergeq queue apply -f` applies them. Settings that are not listed here\n stay unchanged.'

export function writeYaml(queueFile: QueueFile): string {
  const document = new Document(queueFile, options)
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
  for (const [name, value] of Object.entries(identity)) if (!document.has(name)) document.set(name, value)
  const mapping = document.get('settings')
  if (!isMap(mapping)) {
    document.set('settings', document.createNode(settings))
    return formatDocument(document)
  }
  for (const name of Object.keys(before))
    if (!Object.hasOwn(settings, name) && !(keepsState && name === 'state')) mapping.delete(name)
  for (const [name, value = null] of Object.entries(settings))
    if (!mapping.has(name) || !isSameSetting(name, before[name] ?? null, value))
      setValue(document, mapping, name, value)
  return formatDocument(document)
}

function setValue(document: Document, mapping: YAMLMap, name: string, value: Json): void {
  const previous = mapping.get(name, true)
  if (isSeq(previous) && Array.isArray(value) && value.length > 0) {
    previous.items = value.map(
      element =>
        previous.items.find(item => isScalar(item) && item.value === element) ?? document.createNode(element),
    )
    return
  }
  const node = document.createNode(value)
  if (isNode(previous)) {
    node.comment = previous.comment ?? null
    node.commentBefore = previous.commentBefore ?? null
  }
  mapping.set(name, node)
}
