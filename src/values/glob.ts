export interface TextMatcher {
  test(text: string): boolean
}

/** A piece of a glob: a character, `?`, `*`, or `**` with the slash behind it. */
const pieces = /\*\*\/?|./gsu

/**
 * Returns a matcher of whole texts: in a path, `*` and `?` do not match a slash; `**` matches everything. A regular
 * expression could need exponential time; this matcher needs at most one step for each character and piece.
 */
export function globMatcher(glob: string, isPath: boolean): TextMatcher {
  const parts = (glob.match(pieces) ?? []).map(piece => ({
    isRepeated: piece.startsWith('*'),
    matches: (character: string) =>
      piece.startsWith('**') ||
      (piece === '*' || piece === '?' ? !isPath || character !== '/' : piece === character),
  }))
  return {
    test(text) {
      /** Whether the text so far matches the first parts, for each number of parts. */
      const isMatch = parts.map(() => false)
      isMatch.unshift(true)
      // A part that is repeated matches no character, too.
      const skipRepeated = () => {
        for (const [index, { isRepeated }] of parts.entries())
          if (isRepeated && isMatch[index]) isMatch[index + 1] = true
      }
      skipRepeated()
      for (const character of text) {
        for (let count = parts.length; count >= 0; count--) {
          const [last, next] = [parts[count - 1], parts[count]]
          const goesOn = isMatch[count] === true && next?.isRepeated === true && next.matches(character)
          const isNext = isMatch[count - 1] === true && last?.isRepeated === false && last.matches(character)
          isMatch[count] = goesOn || isNext
        }
        skipRepeated()
      }
      return isMatch[parts.length] === true
    },
  }
}
