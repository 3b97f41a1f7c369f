/** What is found in a text that is JSON. */
export interface JsonScan {
  /** Whether it is deeper than is read. */
  readonly isDeep: boolean
  /** Whether a number in it may not fit a double: 16 digits or more, or a large exponent. */
  readonly isPrecise: boolean
  /** Whether blanks stand between its tokens. */
  readonly isSpaced: boolean
  /** Where the objects in lists of the outermost object begin and end, one after the other. */
  readonly items: readonly number[]
}

/** Documents are at most so deep: more is no answer of this service, and would exhaust what walks it. */
const deepest = 200

const exponent = /[eE][+-]?\d{2}/y
const [quote, openList, closeList, openObject, closeObject] = [34, 91, 93, 123, 125]

/** Looks once through a text that is JSON. Strings, most of it, are skipped and not read. */
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
      if (++depth > deepest) return { isDeep: true, isPrecise, isSpaced, items }
      if (depth === 3 && code === openObject) items.push(index)
    } else if (code === closeObject || code === closeList) {
      if (depth-- === 3 && code === closeObject) items.push(index + 1)
    } else if (code <= 32) isSpaced = true
  }
  return { isDeep: false, isPrecise, isSpaced, items }
}

/** Where the quote stands that ends the string: one that no odd number of backslashes precedes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === 92) before--
    if ((end - before) % 2 === 1) return end
  }
}
