import { isUtf16 } from '../domain/values/text.ts'
import { isObject, type JsonObject, parseJson } from '../json.ts'
import { configKeys } from './setting-definitions.ts'

/** The largest settings file, in characters; a larger file is not a settings file. */
export const maxStoreSize = 1024 * 1024

/** Returns the document of a settings file, an empty one when there is no file. Throws an error that says what is wrong. */
export function parseDocument(text: string | undefined): JsonObject {
  if (text === undefined) return {}
  if (isUtf16(text)) throw new Error('it is encoded as UTF-16, not UTF-8')
  const document = parseJson(text)
  if (document === undefined) throw new Error(text.trim() === '' ? 'it is empty' : 'it contains invalid JSON')
  if (!isObject(document)) throw new Error('it must contain a JSON object')
  requireForm(document)
  return document
}

/** Throws for a member that another form would hide: without its base URL, a token would go to the default one. */
function requireForm(document: JsonObject): void {
  const { profiles = {} } = document
  if (!isObject(profiles)) throw new Error('profiles must be a JSON object')
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isObject(profile)) throw new Error(`the profile ${name} must be a JSON object`)
    for (const key of configKeys.keys()) {
      const value = Object.hasOwn(profile, key) ? profile[key] : ''
      const isList = key === 'token-command' && Array.isArray(value)
      if (typeof value !== 'string' && typeof value !== 'number' && !isList)
        throw new Error(`${key} of the profile ${name} must be a string`)
    }
  }
}
