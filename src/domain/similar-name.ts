import { closestMatch } from 'leven'

const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')

/** Returns the letters of a word in alphabetical order: the same for two words with transposed letters. */
const sortLetters = (word: string): string => [...word].sort().join('')

/** Minimum length of the beginning of a name that counts as the name. */
const minBeginning = 3

/**
 * Returns the name that was probably meant by a mistyped one; undefined if none is similar. Upper case and
 * separators do not count. A name is similar if the typed text is its beginning and the beginning of no other
 * name, if at most a third of the letters differ, or if two letters are transposed.
 */
export function findSimilarName<N extends string>(typed: string, names: readonly N[]): N | undefined {
  const normalized = normalizeName(typed)
  if (normalized === '') return undefined
  const candidates = names.map(normalizeName)
  const same = candidates.indexOf(normalized)
  if (same >= 0) return names[same]
  const longer = names.filter((_, index) => candidates[index]?.startsWith(normalized))
  if (longer.length === 1 && normalized.length >= minBeginning) return longer[0]
  const letters = sortLetters(normalized)
  const transposed = candidates.filter(
    name => name.length === normalized.length && sortLetters(name) === letters,
  )
  const maxDistance = Math.max(1, Math.floor(normalized.length / 3))
  const near = candidates.filter(({ length }) => Math.abs(length - normalized.length) <= maxDistance)
  const match =
    closestMatch(normalized, transposed, { maxDistance: 2 }) ??
    closestMatch(normalized, near, { maxDistance })
  return match === undefined ? undefined : names[candidates.indexOf(match)]
}

/** Returns the question `Did you mean json?` for a mistyped name; undefined if no name is similar. */
export function suggestName(typed: string, names: readonly string[]): string | undefined {
  const name = findSimilarName(typed, names)
  return name === undefined ? undefined : `Did you mean ${name}?`
}

export const hintWithSuggestion = (typed: string, names: readonly string[], hint: string): string =>
  [suggestName(typed, names) ?? [], hint].flat().join('\n')
