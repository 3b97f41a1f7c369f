/** The output formats of `--output`. */
export const formats = ['table', 'json', 'ndjson', 'csv', 'markdown'] as const

/** The name of an output format. */
export type Format = (typeof formats)[number]

/** Whether a text names a format whose records are JSON: one document, or a document for each line. */
export const isJsonFormat = (format: string): boolean => format === 'json' || format === 'ndjson'
