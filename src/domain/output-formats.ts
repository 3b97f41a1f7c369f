export const outputFormats = [
  {
    name: 'table',
    summary: 'a table on a terminal; on a pipe, the same rows as tab-separated values without a header',
    isJson: false,
  },
  {
    name: 'json',
    summary:
      'the document from the service, or a receipt for a change; indented on a terminal; same as --json',
    isJson: true,
  },
  { name: 'ndjson', summary: 'one record per line, written as it arrives', isJson: true },
  {
    name: 'csv',
    summary: 'a header and RFC 4180 lines; cells that a spreadsheet would run as formulas are escaped',
    isJson: false,
  },
  { name: 'markdown', summary: 'a Markdown table', isJson: false },
] as const

export type Format = (typeof outputFormats)[number]['name']

export const formats: readonly Format[] = outputFormats.map(({ name }) => name)

export const isJsonFormat = (format: string): boolean =>
  outputFormats.some(({ name, isJson }) => isJson && name === format)
