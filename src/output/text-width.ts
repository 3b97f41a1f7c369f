import stringWidth from 'string-width'
import { memoize } from '../domain/memoize.ts'

const printableAscii = /^[ -~]*$/

/**
 * Returns the terminal columns of a text without its color sequences. Most texts are ASCII and need no
 * width table.
 */
export const textWidth = (text: string): number =>
  printableAscii.test(text) ? text.length : stringWidth(text)

/** Returns the segmenter of characters; creating it takes 5 ms, so it is created when a cell is cut. */
const graphemes = memoize(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

/** Returns a text truncated to a width in columns, with an ellipsis. No grapheme is split. */
export function truncateCell(text: string, maxWidth: number): string {
  if (text.length <= maxWidth && textWidth(text) <= maxWidth) return text
  let [cut, used] = ['', 0]
  for (const { segment } of graphemes().segment(text.slice(0, maxWidth * 16))) {
    used += textWidth(segment)
    if (used > maxWidth - 1) return `${cut}…`
    cut += segment
  }
  return text.length > maxWidth * 16 ? `${cut}…` : cut
}

/** Returns a text with line breaks inside words that are wider than `maxWidth` columns. */
export const breakLongWords = (text: string, maxWidth: number): string =>
  text.replace(/\S+/g, word => (textWidth(word) <= maxWidth ? word : breakWord(word, maxWidth)))

function breakWord(word: string, maxWidth: number): string {
  let [broken, used] = ['', 0]
  for (const { segment } of graphemes().segment(word)) {
    const width = textWidth(segment)
    if (used > 0 && used + width > maxWidth) {
      broken += '\n'
      used = 0
    }
    broken += segment
    used += width
  }
  return broken
}

const styleSequence = /(\u001B\[[\d;]*m|\u001B\]8;;[-\w/#&.:=?%@~]*\u0007)/

/** Returns a line truncated to a width in columns. The sequences of colors and links are kept. */
export function truncateLine(line: string, maxWidth: number): string {
  let remaining = maxWidth
  const pieces = line.split(styleSequence).map((piece, index) => {
    if (index % 2 === 1) return piece
    const kept = remaining > 0 ? truncateCell(piece, remaining) : ''
    remaining = kept === piece ? remaining - textWidth(kept) : 0
    return kept
  })
  return pieces.join('')
}
