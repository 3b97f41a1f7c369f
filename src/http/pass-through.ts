/** What came back, as far as it is known: `bytes` is the body, or its beginning. */
export interface ResponseStart {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
}

/** Where a body goes as it comes, once it is longer than what is kept to be looked at whole. */
export interface BodySink {
  /** Looks at the beginning of the body before any of it is handed over; throws where it is no answer. */
  begin(start: ResponseStart): void
  /** Takes the next piece; resolves to whether more is wanted. */
  write(piece: Uint8Array): Promise<boolean>
  /** Takes the end of the body. */
  end(): Promise<void>
}

/** A body up to this size, in bytes, is kept: until then an answer that breaks can be asked for again. */
export const maxBuffered = 1024 * 1024

/**
 * Reads a body: a short one whole, a longer one into the sink. `untimed` runs work that the limit of the attempt does
 * not count: a reader may be slow. The response of a body that was passed on has no bytes and says how many there were.
 */
export async function passThrough(
  head: Omit<ResponseStart, 'bytes'>,
  pieces: AsyncIterable<Uint8Array>,
  sink: BodySink,
  untimed: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<ResponseStart & { readonly passedOn?: number }> {
  let kept: Uint8Array[] = []
  let [bytes, isPassedOn] = [0, false]
  for await (const piece of pieces) {
    bytes += piece.length
    kept.push(piece)
    if (bytes <= maxBuffered) continue
    const next = Buffer.concat(kept)
    kept = []
    if (!isPassedOn) sink.begin({ ...head, bytes: next })
    isPassedOn = true
    if (!(await untimed(() => sink.write(next)))) break
  }
  if (!isPassedOn) return { ...head, bytes: Buffer.concat(kept) }
  await untimed(() => sink.end())
  return { ...head, bytes: new Uint8Array(0), passedOn: bytes }
}
