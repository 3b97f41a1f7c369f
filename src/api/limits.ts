/** The maximum size of a request body in bytes, inclusive (docs/reference/service.md, "Limits"). */
export const maxBodySize = 20 * 1024 * 1024

/** Of a response with one record, queue (8,000 pull requests fit) or receipt, in bytes after decompression. */
export const maxResponseSize = 8 * 1024 * 1024

/** In bytes after decompression, for a response that is printed as it is. */
export const maxRawResponseSize = 64 * 1024 * 1024

/** In bytes after decompression, for the metrics of all repositories. */
export const maxMetricsSize = 16 * 1024 * 1024

/** The maximum size of a JSON response in bytes: a page of a list has at most 100 records. */
export const maxJsonSize = 16 * 1024 * 1024

/** The maximum number of values in a JSON response over 1 MiB. */
export const maxValues = 1024 * 1024

export const maxRecords = 50_000
