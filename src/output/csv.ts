import papa from 'papaparse'

/** The text of a cell. `isNumber` marks a JSON number, which a spreadsheet never reads as a formula. */
export interface CsvCell {
  readonly text: string
  readonly isNumber: boolean
}

/** Matches the beginning of a spreadsheet formula. */
const formulaPrefix = /^[=+\-@\t\r]/

/**
 * Returns RFC 4180 lines that end with CRLF. A leading apostrophe disables formulas; numbers stay
 * unchanged.
 */
export function csvLines(rows: readonly (readonly CsvCell[])[]): string {
  const disabledFormulas = new Set<string>()
  const safe = ({ text, isNumber }: CsvCell): string => {
    if (isNumber || !formulaPrefix.test(text)) return text
    disabledFormulas.add(`'${text}`)
    return `'${text}`
  }
  const cells = rows.map(row => row.map(safe))
  return `${papa.unparse(cells, { newline: '\r\n', quotes: value => disabledFormulas.has(value) })}\r\n`
}
