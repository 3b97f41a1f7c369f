import stringWidth from 'string-width'
import { memoize } from '../base/scheduling.ts'

const printableAscii = /^[ -~]*$/

/** Returns the columns of a text without its color sequences. Most texts are ASCII and need no width table. */
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

/** The most characters of a value that a cell or a line of a terminal shows. */
const maxShown = 500

/** Returns a value for a cell or a line, cut to a length that limits the cost of all further work on it. */
export function cutLongValue(text: string): string {
  if (text.length <= maxShown) return text
  // No grapheme of up to 20 characters is split.
  const end =
    graphemes()
      .segment(text.slice(0, maxShown + 20))
      .containing(maxShown)?.index ?? 0
  return `${text.slice(0, end || maxShown)}…`
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

/** Matches a command at the end of a line, behind a label or alone. It is never broken: a part is another command. */
const commandAtEnd =
  /(?:(?<=: )|(?<=^(?:\u001B\[[\d;]*m| )*))(?:git|mergeq(?= (?:api|auth|completion|config|doctor|flaky|guard|help|metrics|pr|queue|sandbox)\b)) \S.*$/

/** Most cells have neither name; the whole pattern looks back from each place of a text. */
export const endsWithCommand = (line: string): boolean =>
  /(?:git|mergeq) /.test(line) && commandAtEnd.test(line)

/** Whether the command at the end of a line, if there is one, fits a width in columns. */
export const commandFits = (line: string, maxWidth: number): boolean =>
  textWidth(commandAtEnd.exec(line)?.[0] ?? '') <= maxWidth

/** Matches a command inside a sentence, which is kept on one line where it fits. */
const quotedCommand = /`mergeq [^`]*`/g

/** Takes the place of the spaces of a command; no text for a terminal contains it. */
const joiner = '\uE000'

/** Matches the sign of a state and what follows it, or two texts with at least two spaces between them. */
const twoColumns = /^([✓✗◐◕●○!?](?:\u001B\[\d+m)? |\S+(?: \S+)* {2,})(\S.*)$/

/** The smallest width of the second of two texts, in columns. */
const minRightWidth = 24

/** Matches the indentation at the start of a line, and the styles around it. */
const lineStart = /^((?:\u001B\[[\d;]*m)*)( *)((?:\u001B\[[\d;]*m)*)/

/**
 * Returns a text whose lines are wrapped at `columns` columns, between words only: a longer word gets a line
 * of its own. Further lines of a wrapped line have its indentation, or begin below what follows its sign or
 * its first two spaces: `✓ #7 merged`, `mergeq pr wait 7  Waits until it merges`.
 */
export const wrapLines = (text: string, columns: number, { breaksCommands = false } = {}): string =>
  text
    .split('\n')
    .map(line => (textWidth(line) <= columns ? line : wrapLine(line, columns, breaksCommands)))
    .join('\n')

/** @param breaksCommands whether a command that does not fit on a line is broken, too, as in help */
function wrapLine(line: string, columns: number, breaksCommands = false): string {
  const [start = '', before = '', indent = '', after = ''] = lineStart.exec(line) ?? []
  const [, left = '', right = ''] = twoColumns.exec(line.slice(start.length)) ?? []
  // What a command is for stands below it.
  if (left !== '' && endsWithCommand(left.trimEnd()))
    return `${start}${left.trimEnd()}\n${wrapLine(`${indent}  ${right}`, columns)}`
  const column = indent.length + textWidth(left)
  const rightWidth = columns - column
  const isHanging =
    rightWidth >= minRightWidth && right.split(' ').every(word => textWidth(word) <= rightWidth)
  if (left !== '' && isHanging) {
    const [first = '', ...rest] = wrapLine(right, rightWidth).split('\n')
    return [`${start}${left}${first}`, ...rest.map(text => `${' '.repeat(column)}${text}`)].join('\n')
  }
  const width = columns - indent.length
  const [command] = commandAtEnd.exec(line) ?? []
  const isWhole = command !== undefined && (!breaksCommands || textWidth(command) <= columns - indent.length)
  const words = line
    .slice(start.length, isWhole ? -command.length : undefined)
    .trimEnd()
    .replace(quotedCommand, quoted => (textWidth(quoted) <= width ? quoted.replaceAll(' ', joiner) : quoted))
    .split(' ')
    .map(word => word.replaceAll(joiner, ' '))
  const lines: string[] = []
  let current: string | undefined
  for (const word of isWhole ? [...words.filter(Boolean), command] : words) {
    const longer = current === undefined ? word : `${current} ${word}`
    if (current !== undefined && textWidth(longer) > width) {
      lines.push(current)
      current = word
    } else current = longer
  }
  return `${before}${after}${[...lines, current ?? ''].map(text => `${indent}${text}`.trimEnd()).join('\n')}`
}
