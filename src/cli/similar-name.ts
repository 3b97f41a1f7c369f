import { closestMatch } from 'leven'

/** Returns a name in lower case without separators between words. */
const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')

/**
 * Returns the most similar name, with at most a third of the letters changed, rounded up; undefined if there
 * is none.
 */
export function findSimilarName(name: string, names: readonly string[]): string | undefined {
  const normalized = normalizeName(name)
  const match = closestMatch(normalized, names.map(normalizeName), {
    // Two swapped letters are two changes: `nmae` is `name`.
    maxDistance: Math.ceil(normalized.length / 3),
  })
  return names.find(candidate => normalizeName(candidate) === match)
}
