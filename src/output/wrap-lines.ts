import { textWidth } from './text-width.ts'

/** Matches a command at the end of a sentence, which is kept on one line where it fits. */
const commandAtEnd = /(?<=: )(?:mergeq|git) \S.*$/

/** Matches a command inside a sentence, which is kept on one line where it fits. */
const quotedCommand = /`mergeq [^`]*`/g

/** Takes the place of the spaces of a command; no text for a terminal contains it. */
const joiner = '\uE000'

/** Matches the sign of a state and what follows it, or two texts with at least two spaces between them. */
const twoColumns = /^([✓✗◐●○!?](?:\u001B\[\d+m)? |\S+(?: \S+)* {2,})(\S.*)$/

/** The smallest width of the second of two texts, in columns. */
const minRightWidth = 24

/** Matches the styles and the indentation at the start of a line. */
const lineStart = /^((?:\u001B\[[\d;]*m)*)( *)/

/**
 * Returns a text whose lines are wrapped at `columns` columns, between words only: a longer word gets a line
 * of its own. Further lines of a wrapped line have its indentation, or begin below what follows its sign or
 * its first two spaces: `✓ #7 merged`, `mergeq pr wait 7  Waits until it merges`.
 */
export const wrapLines = (text: string, columns: number): string =>
  text
    .split('\n')
    .map(line => (textWidth(line) <= columns ? line : wrapLine(line, columns)))
    .join('\n')

function wrapLine(line: string, columns: number): string {
  const [start = '', styles = '', indent = ''] = lineStart.exec(line) ?? []
  const [, left = '', right = ''] = twoColumns.exec(line.slice(start.length)) ?? []
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
  const isWhole = command !== undefined && textWidth(command) <= width
  const words = line
    .slice(start.length, isWhole ? -command.length - 1 : undefined)
    .replace(quotedCommand, quoted => (textWidth(quoted) <= width ? quoted.replaceAll(' ', joiner) : quoted))
    .split(' ')
    .map(word => word.replaceAll(joiner, ' '))
  const lines: string[] = []
  let current: string | undefined
  for (const word of isWhole ? [...words, command] : words) {
    const longer = current === undefined ? word : `${current} ${word}`
    if (current !== undefined && textWidth(longer) > width) {
      lines.push(current)
      current = word
    } else current = longer
  }
  return `${styles}${[...lines, current ?? ''].map(text => `${indent}${text}`.trimEnd()).join('\n')}`
}
