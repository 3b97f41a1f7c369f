/** Most bytes of a request body, inclusive (service-api.md section 8). */
export const maxBodySize = 20 * 1024 * 1024

/**
 * Largest answer about one thing (a record, a queue, a receipt), in bytes after decompression. A queue of 8,000 pull
 * requests fits; the largest that was ever seen is far below 1 MiB.
 */
export const maxAnswer = 8 * 1024 * 1024

/** Largest answer that is a list of tests or the metrics of all repositories, in bytes after decompression. */
export const maxListAnswer = 64 * 1024 * 1024

/** Widest range of one `list-failing-tests` request, in milliseconds, inclusive (service-api.md section 8). */
export const maxWindow = 7 * 86_400_000

/** Time limit of each attempt of a read, in milliseconds, where `timeout` is not set (WIRE.md section 3). */
export const attemptLimit = 30_000
/** Time limit of each attempt of a change, in milliseconds, where `timeout` is not set (WIRE.md section 3). */
export const changeLimit = 60_000
