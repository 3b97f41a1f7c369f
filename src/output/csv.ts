import papa from 'papaparse'

/** The text of a cell; `isNumber` says that it is a JSON number, which no spreadsheet takes for a formula. */
export interface CsvCell {
  readonly text: string
  readonly isNumber: boolean
}

/** What a spreadsheet takes for a formula begins so. */
const formula = /^[=+\-@\t\r]/

/** RFC 4180 lines with CRLF; formulas are defused by a leading apostrophe, numbers stay as they are. */
export function csvLines(rows: readonly (readonly CsvCell[])[]): string {
  const defused = new Set<string>()
  const safe = ({ text, isNumber }: CsvCell): string => {
    if (isNumber || !formula.test(text)) return text
    defused.add(`'${text}`)
    return `'${text}`
  }
  const cells = rows.map(row => row.map(safe))
  return `${papa.unparse(cells, { newline: '\r\n', quotes: value => defused.has(value) })}\r\n`
}
