import { parseUuid } from '../../../domain/values/parsers.ts'
import { toMergeqError, usageError } from '../../../errors.ts'
import { getString, isObject, type Json } from '../../../json.ts'
import { parseJson } from '../../../output/json-text.ts'

/**
 * The ids of the tests in a baseline: a list of ids, one a line (blank lines and those that begin with # are
 * skipped), or what `flaky list` printed as JSON or NDJSON. Anything else is a usage failure that names file
 * and line.
 */
export function readBaseline(text: string, file: string): ReadonlySet<string> {
  const plain = text.replace(/^\uFEFF/, '')
  const isJson = /^\s*[[{]/.test(plain)
  const document = isJson ? parseJson(plain) : undefined
  if (document !== undefined) return new Set(idsIn(document, `${file}:1`))
  const ids = plain.split(/\r?\n/).flatMap((line, index) => {
    const [word, place] = [line.trim(), `${file}:${index + 1}`]
    if (word === '' || (!isJson && word.startsWith('#'))) return []
    if (!isJson) return [idIn(word, place)]
    const record = parseJson(word)
    if (record === undefined) throw wrong(place, 'this is neither JSON nor a line of NDJSON.')
    return idsIn(record, place)
  })
  return new Set(ids)
}

const wrong = (place: string, what: string) =>
  usageError(
    `${place}: ${what}`,
    'A baseline is a list of test ids, or what `mergeq flaky list --json` printed.',
  )

/** The ids in a document of `flaky list`, in one of its records, or in a list of either. */
function idsIn(document: Json, place: string): readonly string[] {
  if (Array.isArray(document)) return document.flatMap(one => idsIn(one, place))
  if (typeof document === 'string') return [idIn(document, place)]
  if (!isObject(document)) throw wrong(place, 'this is no test.')
  if (Array.isArray(document.tests)) return idsIn(document.tests, place)
  const id = getString(document, 'id')
  if (id === undefined) throw wrong(place, 'a test without its id.')
  return [id.toLowerCase()]
}

function idIn(word: string, place: string): string {
  try {
    return parseUuid(word).toLowerCase()
  } catch (error) {
    throw wrong(place, toMergeqError(error).message)
  }
}
