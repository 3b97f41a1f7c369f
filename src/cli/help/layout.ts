/** Blocks of text for people: nothing is wider than `width`, unless a single word is. */

/** The words of a text in lines of at most so many columns. */
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

/** A text in lines, each so far from the left. */
export const indentText = (text: string, width: number, by = 2): string =>
  wrapText(text, width - by)
    .map(line => `${' '.repeat(by)}${line}\n`)
    .join('')

/** Wider than this, or than half of what there is, a cell that is not the last one has a line of its own. */
const widestCell = 34

/** Rows of columns, each as wide as its widest cell; the last one is wrapped in what is left. */
export function alignColumns(rows: readonly (readonly string[])[], width: number): string {
  const before = rows.map(row => row.slice(0, -1))
  const widest = Math.min(widestCell, Math.floor(width / 2) - 4)
  const widths = (before[0] ?? []).map((_, index) =>
    Math.max(0, ...before.map(row => row[index]?.length ?? 0).filter(length => length <= widest)),
  )
  const left = widths.reduce((sum, one) => sum + one + 2, 2)
  return rows
    .map(row => {
      const head = `  ${row
        .slice(0, -1)
        .map((cell, index) => `${cell.padEnd(widths[index] ?? 0)}  `)
        .join('')}`
      const [first = '', ...rest] = wrapText(row.at(-1) ?? '', Math.max(width - left, 20))
      const begin = head.length > left ? [head, `${' '.repeat(left)}${first}`] : [`${head}${first}`]
      return [...begin, ...rest.map(line => `${' '.repeat(left)}${line}`)]
        .map(line => `${line.trimEnd()}\n`)
        .join('')
    })
    .join('')
}
