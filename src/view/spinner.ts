import ora, { type Options } from 'ora'

export interface Spinner {
  say(text: string): void
  stop(): void
}

const isStream = (stream: unknown): stream is NonNullable<Options['stream']> =>
  typeof stream === 'object' && stream !== null && 'write' in stream

/** Turns a spinner. The cursor stays visible and standard input untouched, so that nothing has to be restored. */
export function spin(stream: unknown, text: string, color: boolean): Spinner {
  const spinner = ora({
    text,
    ...(color ? {} : { color: false }),
    ...(isStream(stream) ? { stream } : {}),
    hideCursor: false,
    discardStdin: false,
  }).start()
  return {
    say(news) {
      spinner.text = news
    },
    stop: () => void spinner.stop(),
  }
}
