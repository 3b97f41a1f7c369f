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
