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
  const same = names.find(name => normalizeName(name) === normalized)
  if (same !== undefined) return same
  const longer = names.filter(name => normalizeName(name).startsWith(normalized))
  if (longer.length === 1 && normalized.length >= minBeginning) return longer[0]
  const letters = sortLetters(normalized)
  const transposed = names.map(normalizeName).filter(name => sortLetters(name) === letters)
  const match =
    closestMatch(normalized, transposed, { maxDistance: 2 }) ??
    closestMatch(normalized, names.map(normalizeName), {
      maxDistance: Math.max(1, Math.floor(normalized.length / 3)),
    })
  return names.find(name => normalizeName(name) === match)
}

/** Returns the question `Did you mean json?` for a mistyped name; undefined if no name is similar. */
export function suggestName(typed: string, names: readonly string[]): string | undefined {
  const name = findSimilarName(typed, names)
  return name === undefined ? undefined : `Did you mean ${name}?`
}

export const hintWithSuggestion = (typed: string, names: readonly string[], hint: string): string =>
  [suggestName(typed, names) ?? [], hint].flat().join('\n')
