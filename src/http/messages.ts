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

/** An HTTP response with its body decompressed: the whole response, or its beginning for a sink. */
export interface HttpResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
  /** The number of body bytes that were written to a sink; `bytes` is then empty. */
  readonly streamedBytes?: number
}

/** Receives the pieces of a response body that is too long to be buffered. */
export interface BodySink {
  /** Checks the beginning of the body before any piece is written. Throws when the response is not valid. */
  begin(start: HttpResponse): void
  /** Writes the next piece. Resolves to false when the reader needs no more pieces. */
  write(chunk: Uint8Array): Promise<boolean>
  end(): Promise<void>
}
