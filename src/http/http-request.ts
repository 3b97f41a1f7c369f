/** The body of an HTTP request in pieces; `bytes` is its length as it will be sent. */
export interface RequestBody {
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
}

/** An HTTP request as plain data, with everything that the HTTP client needs to send it. */
export interface HttpRequest {
  /** The name of the operation, for messages. */
  readonly operation: string
  readonly method: string
  /** The absolute address, with its query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Whether the client adds the token, or `headers` holds another credential already, or there is none. */
  readonly credential: 'token' | 'in-headers' | 'none'
  readonly body?: RequestBody
  /**
   * Whether the request can change data of the service. The client repeats a change only when it was not
   * applied.
   */
  readonly isChange: boolean
  /** The largest response body that the client reads, in bytes after decompression. */
  readonly maxResponseSize: number
}
