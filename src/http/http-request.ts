/** The body of an HTTP request in pieces; `bytes` is its length as it will be sent. */
export interface RequestBody {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
}

export interface HttpRequest {
  readonly operation: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly credential: 'token' | 'in-headers' | 'none'
  readonly body?: RequestBody
  /** Whether the request can change data. A change is repeated only when it was certainly not applied. */
  readonly isChange: boolean
  /** The largest response body that the client reads, in bytes after decompression. */
  readonly maxResponseSize: number
}
