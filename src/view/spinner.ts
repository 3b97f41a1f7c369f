import ora, { type Options } from 'ora'

export interface Spinner {
  stop(): unknown
}

const isStream = (stream: unknown): stream is NonNullable<Options['stream']> =>
  typeof stream === 'object' && stream !== null && 'write' in stream

/** Turns a spinner. The cursor stays visible and standard input untouched, so that nothing has to be restored. */
export const spin = (stream: unknown, text: string, color: boolean): Spinner =>
  ora({
    text,
    ...(color ? {} : { color: false }),
    ...(isStream(stream) ? { stream } : {}),
    hideCursor: false,
    discardStdin: false,
  }).start()
