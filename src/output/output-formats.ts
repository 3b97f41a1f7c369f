/**
 * The output formats. Each prints a whole `document`, `records` one at a time, or `rows` under columns: lists and changes
 * that arrive over time cannot be printed as one document. A person reads only `table`, which is drawn on a terminal, and
 * the formats for documents: they are pasted into pages and comments, with what a person asks for, and not read by programs.
 */
export const outputFormats = [
  {
    name: 'table',
    summary: 'a table on a terminal; on a pipe, the same rows as tab-separated values without a header',
    prints: 'rows',
  },
  {
    name: 'json',
    summary: 'the document from the service, or for a change its result (a receipt); indented on a terminal',
    prints: 'document',
  },
  { name: 'ndjson', summary: 'one record per line, written as it arrives', prints: 'records' },
  {
    name: 'csv',
    summary: 'a header and RFC 4180 lines; cells that a spreadsheet would run as formulas are escaped',
    prints: 'rows',
  },
  { name: 'markdown', summary: 'a Markdown table', prints: 'rows', isForDocuments: true },
] as const

export type OutputFormat = (typeof outputFormats)[number] & { readonly isForDocuments?: boolean }

export type FormatOfRows = Extract<OutputFormat, { readonly prints: 'rows' }>['name']

export const formats: readonly OutputFormat['name'][] = outputFormats.map(({ name }) => name)

/** Returns the format with a name, or the first, so that an error about an unknown name is text. */
export const findFormat = (name: string | undefined): OutputFormat =>
  outputFormats.find(format => format.name === name) ?? outputFormats[0]

/** Whether a format prints JSON; its errors on standard error are JSON, too. */
export const printsData = ({ prints }: OutputFormat): boolean => prints !== 'rows'
