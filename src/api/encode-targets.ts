import { maxBodySize } from '../domain/limits.ts'
import { createStringArray } from '../domain/values/string-array.ts'
import { usageError } from '../errors.ts'
import type { ImpactedTargets } from './operations/pull-requests.ts'

/** Drops duplicates. Throws a usage error for an empty name. */
export function encodeTargets(names: readonly string[] | 'ALL'): ImpactedTargets {
  if (names === 'ALL') return { list: 'ALL', number: 0, dropped: 0, bytesRead: 0 }
  const list = createStringArray(maxBodySize)
  for (const name of names) {
    if (name === '') throw usageError('A target must not be empty.')
    list.addText(name)
  }
  return { list: list.encoded(), number: list.number, dropped: list.dropped, bytesRead: list.bytes }
}
