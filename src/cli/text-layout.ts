/** Layout of help texts. No line is wider than `width` columns unless a single word is. */

export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Returns the words of a text that fit into `width` columns with the `…` after them. */
const cutText = (text: string, width: number): string => `${wrapText(text, width - 1)[0] ?? ''}…`

export const indentText = (text: string, width: number): string =>
  wrapText(text, width - 2)
    .map(line => `  ${line}\n`)
    .join('')

const maxCellWidth = 34

/**
 * Returns rows of aligned columns, indented by two spaces. The last column is wrapped in the space that is
 * left. When an earlier cell is wider than `maxCellWidth` or about half of `width`, the last column begins on
 * the next line.
 *
 * @param isCut whether the last column is cut at the end of its line, with `…`, instead of wrapped
 */
export function alignColumns(rows: readonly (readonly string[])[], width: number, isCut = false): string {
  const leadingCells = rows.map(row => row.slice(0, -1))
  const maxWidth = Math.min(maxCellWidth, Math.floor(width / 2) - 4)
  const widths = (leadingCells[0] ?? []).map((_, index) =>
    Math.max(0, ...leadingCells.map(cells => cells[index]?.length ?? 0).filter(length => length <= maxWidth)),
  )
  const indent = widths.reduce((sum, cellWidth) => sum + cellWidth + 2, 2)
  return rows
    .map(row => {
      const head = `  ${row
        .slice(0, -1)
        .map((cell, index) => `${cell.padEnd(widths[index] ?? 0)}  `)
        .join('')}`
      const room = Math.max(width - indent, 20)
      const lines = wrapText(row.at(-1) ?? '', room)
      const [first = '', ...rest] = isCut && lines.length > 1 ? [cutText(row.at(-1) ?? '', room)] : lines
      const start = head.length > indent ? [head, `${' '.repeat(indent)}${first}`] : [`${head}${first}`]
      return [...start, ...rest.map(line => `${' '.repeat(indent)}${line}`)]
        .map(line => `${line.trimEnd()}\n`)
        .join('')
    })
    .join('')
}
