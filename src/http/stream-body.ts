export interface ResponseStart {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
}

/** Receives the pieces of a response body that is longer than `maxBuffered`. */
export interface BodySink {
  /** Checks the beginning of the body before any piece is written. Throws when the response is not valid. */
  begin(start: ResponseStart): void
  /** Writes the next piece. Resolves to false when the reader needs no more pieces. */
  write(chunk: Uint8Array): Promise<boolean>
  end(): Promise<void>
}

/** The largest body that is buffered, in bytes. A response that breaks within it can be requested again. */
const maxBuffered = 1024 * 1024

/**
 * Reads a response body: a short body is returned, a longer body is streamed to the sink. The result for a
 * body that was written to the sink has no bytes and says in `streamedBytes` how many there were. `untimed`
 * runs work that does not count towards the time limit of the attempt, because the reader of the sink may be
 * slow.
 */
export async function streamBody(
  head: Omit<ResponseStart, 'bytes'>,
  chunks: AsyncIterable<Uint8Array>,
  sink: BodySink,
  untimed: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<ResponseStart & { readonly streamedBytes?: number }> {
  let buffered: Uint8Array[] = []
  let [bytes, isStreamed] = [0, false]
  for await (const chunk of chunks) {
    bytes += chunk.length
    buffered.push(chunk)
    if (bytes <= maxBuffered) continue
    const next = Buffer.concat(buffered)
    buffered = []
    if (!isStreamed) sink.begin({ ...head, bytes: next })
    isStreamed = true
    if (!(await untimed(() => sink.write(next)))) break
  }
  if (!isStreamed) return { ...head, bytes: Buffer.concat(buffered) }
  await untimed(() => sink.end())
  return { ...head, bytes: new Uint8Array(0), streamedBytes: bytes }
}
