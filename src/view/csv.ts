import papa from 'papaparse'

/** RFC 4180 lines with CRLF; formulas are defused. */
export const csvLines = (rows: readonly (readonly string[])[]): string =>
  `${papa.unparse([...rows.map(row => [...row])], { escapeFormulae: true, newline: '\r\n' })}\r\n`
