import leven from 'leven'

const normalizeName = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')
const sortLetters = (word: string): string => [...word].sort().join('')

/** Returns how many letters differ, of which two that changed places count as one; infinite for too many. */
function distanceBetween(typed: string, name: string): number {
  const distance = leven(typed, name)
  const differing = distance === 2 && sortLetters(typed) === sortLetters(name) ? 1 : distance
  const [shorter, longer] = [typed.length, name.length].sort((a, b) => a - b) as [number, number]
  const isNear =
    differing === 0 || (differing === 1 ? longer > 2 : differing === 2 && (shorter > 4 || longer > 5))
  return isNear ? differing : Number.POSITIVE_INFINITY
}

/** Returns the nearest name to a mistyped one: at most two letters differ, one in short names. Undefined for several. */
export function findSimilarName<N extends string>(typed: string, names: readonly N[]): N | undefined {
  const distance = (name: string) => distanceBetween(normalizeName(typed), normalizeName(name))
  const least = Math.min(...names.map(distance))
  const [nearest, another] = new Set(names.filter(name => distance(name) === least))
  return Number.isFinite(least) && another === undefined ? nearest : undefined
}

/** Returns the question `Did you mean json?` for a mistyped name; undefined if no name is similar. */
export function suggestName(typed: string, names: readonly string[]): string | undefined {
  const name = findSimilarName(typed, names)
  return name === undefined ? undefined : `Did you mean ${name}?`
}

export const hintWithSuggestion = (typed: string, names: readonly string[], hint: string): string =>
  [suggestName(typed, names) ?? [], hint].flat().join('\n')
