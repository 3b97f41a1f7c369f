/** What `scanJson` finds in a JSON text. */
export interface JsonScan {
  /** Whether the text has more than 200 levels of lists and objects. */
  readonly isDeep: boolean
  /** Whether a number in the text may not fit a double: 16 digits or more, or a large exponent. */
  readonly isPrecise: boolean
  /** Whether there is whitespace between tokens. */
  readonly isSpaced: boolean
  /** Start and end index of each object in a list of the outermost object, as pairs one after the other. */
  readonly items: readonly number[]
}

/**
 * A deeper document cannot be a response of the service, and would exhaust the stack of a recursive reader.
 */
const maxDepth = 200

const exponent = /[eE][+-]?\d{2}/y
const [quote, openList, closeList, openObject, closeObject] = [34, 91, 93, 123, 125]

/** Scans a text that is valid JSON once. Strings, which are most of a document, are skipped. */
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

/** The index of the quote that ends the string: the next quote after an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === 92) before--
    if ((end - before) % 2 === 1) return end
  }
}
