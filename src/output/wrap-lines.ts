import { textWidth } from './text-width.ts'

/** Matches a command at the end of a sentence, which is kept on one line where it fits. */
const commandAtEnd = /(?<=: )(?:mergeq|git) \S.*$/

/** Matches a command inside a sentence, which is kept on one line where it fits. */
const quotedCommand = /`mergeq [^`]*`/g

/** Takes the place of the spaces of a command; no text for a terminal contains it. */
const joiner = '\uE000'

/** Matches the styles and the indentation at the start of a line. */
const lineStart = /^((?:\u001B\[[\d;]*m)*)( *)/

/**
 * Returns a text whose lines are wrapped at `columns` columns, between words only: a longer word gets a line
 * of its own. Further lines of a wrapped line have its indentation.
 */
export const wrapLines = (text: string, columns: number): string =>
  text
    .split('\n')
    .map(line => (textWidth(line) <= columns ? line : wrapLine(line, columns)))
    .join('\n')

function wrapLine(line: string, columns: number): string {
  const [start = '', styles = '', indent = ''] = lineStart.exec(line) ?? []
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
