/**
 * The output formats and what each can do. A further format is an entry here and a writer in
 * `src/output/formats.ts`.
 *
 * - `prints`: a whole `document`, `records` one at a time, or `rows` under columns. Lists and changes that
 *   arrive over time cannot be printed as one document.
 * - `isForPeople`: a person reads it: it is drawn on a terminal, and a text of the service is not parsed.
 * - `isWide`: rows may have more columns than a terminal has room for.
 */
export const outputFormats = [
  {
    name: 'table',
    summary: 'a table on a terminal; on a pipe, the same rows as tab-separated values without a header',
    prints: 'rows',
    isForPeople: true,
    isWide: false,
  },
  {
    name: 'json',
    summary: 'the document from the service, or for a change its result (a receipt); indented on a terminal',
    prints: 'document',
    isForPeople: false,
    isWide: false,
  },
  {
    name: 'ndjson',
    summary: 'one record per line, written as it arrives',
    prints: 'records',
    isForPeople: false,
    isWide: false,
  },
  {
    name: 'csv',
    summary: 'a header and RFC 4180 lines; cells that a spreadsheet would run as formulas are escaped',
    prints: 'rows',
    isForPeople: false,
    isWide: true,
  },
  {
    name: 'markdown',
    summary: 'a Markdown table',
    prints: 'rows',
    isForPeople: false,
    isWide: false,
  },
] as const

export type OutputFormat = (typeof outputFormats)[number]

export type FormatOfRows = Extract<OutputFormat, { readonly prints: 'rows' }>['name']

export const formats: readonly OutputFormat['name'][] = outputFormats.map(({ name }) => name)

/** Returns the format with a name, or the first, so that an error about an unknown name is text. */
export const findFormat = (name: string | undefined): OutputFormat =>
  outputFormats.find(format => format.name === name) ?? outputFormats[0]

/** Whether a format prints JSON; its errors on standard error are JSON, too. */
export const printsData = ({ prints }: OutputFormat): boolean => prints !== 'rows'
