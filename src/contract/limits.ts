/** Most bytes of a request body, inclusive (service-api.md section 8). */
export const largestBody = 20 * 1024 * 1024

/** Widest range of one `list-failing-tests` request, in milliseconds, inclusive (service-api.md section 8). */
export const widestWindow = 7 * 86_400_000
