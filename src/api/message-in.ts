import { get, getArray, isObject, type Json, type JsonObject } from '../json.ts'

export function messageIn(document: Json): string | undefined {
  if (typeof document === 'string') return document
  if (!isObject(document)) return undefined
  return ownMessage(document) ?? listedMessages(document)
}

const messageKeys = ['message', 'detail', 'error_description', 'error', 'title', 'reason']

function ownMessage(document: JsonObject): string | undefined {
  const error = get(document, 'error')
  if (isObject(error)) return ownMessage(error)
  return messageKeys
    .map(key => get(document, key))
    .find((value): value is string => typeof value === 'string' && value.trim() !== '')
}

function listedMessages(document: JsonObject): string | undefined {
  const messages = getArray(document, 'errors').flatMap(error => messageIn(error) ?? [])
  return messages.length === 0 ? undefined : messages.join('\n')
}
