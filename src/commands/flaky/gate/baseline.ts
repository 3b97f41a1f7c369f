import { parseUuid, requireUtf8 } from '../../../domain/values/text.ts'
import { toMergeqError, usageError } from '../../../errors.ts'
import { getString, isObject, type Json, parseJson } from '../../../json.ts'

/**
 * Returns the test ids of a baseline, in lower case. A baseline is a list with an id on each line (blank
 * lines and lines that begin with # are skipped), or the JSON or NDJSON output of `flaky list`. Throws a
 * usage error that names file and line for anything else.
 */
export function readBaseline(baseline: string, file: string): ReadonlySet<string> {
  const content = requireUtf8(baseline, file)
  const isJson = /^\s*[[{]/.test(content)
  const document = isJson ? parseJson(content) : undefined
  if (document !== undefined) return new Set(collectIds(document, `${file}:1`))
  const ids = content.split(/\r?\n/).flatMap((line, index) => {
    const [text, location] = [line.trim(), `${file}:${index + 1}`]
    if (text === '' || (!isJson && text.startsWith('#'))) return []
    if (!isJson) return [parseTestId(text, location)]
    const record = parseJson(text)
    if (record === undefined) throw baselineError(location, 'invalid JSON.')
    return collectIds(record, location)
  })
  return new Set(ids)
}

const baselineError = (location: string, problem: string) =>
  usageError(
    `${location}: ${problem}`,
    'A baseline is a list of test IDs, or the output of `mergeq flaky list --json`.',
  )

/** Returns the ids in a document of `flaky list`, in a record of it, or in an array of either. */
function collectIds(document: Json, location: string): readonly string[] {
  if (Array.isArray(document)) return document.flatMap(item => collectIds(item, location))
  if (typeof document === 'string') return [parseTestId(document, location)]
  if (!isObject(document)) throw baselineError(location, 'not a test ID or a test record.')
  if (Array.isArray(document.tests)) return collectIds(document.tests, location)
  const id = getString(document, 'id')
  if (id === undefined) throw baselineError(location, 'the test record has no ID.')
  return [id.toLowerCase()]
}

function parseTestId(text: string, location: string): string {
  try {
    return parseUuid(text).toLowerCase()
  } catch (error) {
    throw baselineError(location, toMergeqError(error).message)
  }
}
