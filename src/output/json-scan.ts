/** The result of scanning a JSON text. */
export interface JsonScan {
  /** Whether the nesting is deeper than the limit. */
  readonly isDeep: boolean
  /** Whether a double may not hold some number: 16 digits or more, or a large exponent. */
  readonly isPrecise: boolean
  /** Whether there is white space between tokens. */
  readonly isSpaced: boolean
  /** The start and end indexes of the objects in the lists of the outermost object, in order. */
  readonly items: readonly number[]
}

/**
 * The largest depth of a document: no response of the service is deeper, and recursion over it could
 * overflow the stack.
 */
const maxDepth = 200

const exponent = /[eE][+-]?\d{2}/y
const [quote, openList, closeList, openObject, closeObject] = [34, 91, 93, 123, 125]

/** Scans a valid JSON text in a single pass. Strings, which are most of the text, are skipped. */
export function scanJson(text: string): JsonScan {
  const items: number[] = []
  let [depth, digits, isPrecise, isSpaced] = [0, 0, false, false]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 46 || (code >= 48 && code <= 57)) {
      if (++digits >= 16) isPrecise = true
      continue
    }
    if (digits > 0 && (code === 69 || code === 101)) {
      exponent.lastIndex = index
      if (exponent.test(text)) isPrecise = true
    }
    digits = 0
    if (code === quote) index = endOfString(text, index)
    else if (code === openObject || code === openList) {
      if (++depth > maxDepth) return { isDeep: true, isPrecise, isSpaced, items }
      if (depth === 3 && code === openObject) items.push(index)
    } else if (code === closeObject || code === closeList) {
      if (depth-- === 3 && code === closeObject) items.push(index + 1)
    } else if (code <= 32) isSpaced = true
  }
  return { isDeep: false, isPrecise, isSpaced, items }
}

/**
 * Returns the index of the quote that ends a string: the first quote after an even number of backslashes.
 */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === 92) before--
    if ((end - before) % 2 === 1) return end
  }
}
