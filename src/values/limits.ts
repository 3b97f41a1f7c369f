/** The maximum size of a request body in bytes, inclusive (docs/reference/service.md, "Limits"). */
export const maxBodySize = 20 * 1024 * 1024

/**
 * The default maximum size, in bytes after decompression, of a response with one record, queue or receipt. A
 * queue of 8,000 pull requests fits; the largest response observed so far is far below 1 MiB.
 */
export const maxResponseSize = 8 * 1024 * 1024

/** In bytes after decompression, for a response that is printed as it is. */
export const maxRawResponseSize = 64 * 1024 * 1024
/** In bytes after decompression, for the metrics of all repositories. */
export const maxMetricsSize = 16 * 1024 * 1024

/** The maximum size of a JSON response in bytes: a page of a list has at most 100 records. */
export const maxJsonSize = 16 * 1024 * 1024
/** The maximum number of values in a JSON response over 1 MiB. */
export const maxValues = 1024 * 1024
/** The maximum number of records in the lists of a JSON response. */
export const maxRecords = 50_000
/** The maximum number of metric samples that are parsed. */
export const maxSamples = 100_000

/** The shortest secret that is hidden in output; a shorter text could be part of ordinary words. */
export const minSecretLength = 8
/** The longest token, in characters. A longer text is never used, and takes too long to search for. */
export const maxTokenLength = 4096
/** The most bytes of a token and the white space around it. */
export const maxTokenFileSize = 64 * 1024

/** The longest range of `list-failing-tests` in ms, inclusive (docs/reference/service.md, "Limits"). */
export const maxWindow = 7 * 86_400_000

/** For a read, in milliseconds (docs/reference/network.md, "Time limits"). */
export const attemptLimit = 30_000
/** For a change, in milliseconds (docs/reference/network.md, "Time limits"). */
export const changeLimit = 60_000

export const defaultPageSize = 100
export const defaultMaxPages = 10_000

/** The largest settings file, in characters; a larger file is not a settings file. */
export const maxStoreSize = 1024 * 1024
