import ora, { type Options } from 'ora'

export interface Spinner {
  say(text: string): void
  stop(): void
}

/** A terminal that can be moved about in, and the one way to write to it. */
export interface Screen {
  readonly columns: number
  readonly rows: number
  write(text: string): Promise<void>
}

/** More writes than this under way, and a terminal is too slow for every frame. */
const mostWaiting = 8

/**
 * What ora takes for the terminal's stream: whatever it writes goes the way of all other text. Its moves are written as
 * Node's own streams write them.
 */
function streamOf(screen: Screen) {
  let waiting = 0
  const drained = new Set<() => void>()
  const write = (text: string | Uint8Array): boolean => {
    waiting++
    const done = () => {
      waiting--
      if (waiting > 0) return
      const listeners = [...drained]
      drained.clear()
      for (const listener of listeners) listener()
    }
    void screen.write(typeof text === 'string' ? text : new TextDecoder().decode(text)).then(done, done)
    return waiting <= mostWaiting
  }
  const moved = (by: number, [forth, back]: readonly [string, string]): string =>
    by === 0 ? '' : `\u001B[${Math.abs(by)}${by > 0 ? forth : back}`
  return {
    isTTY: true,
    get columns() {
      return screen.columns
    },
    get rows() {
      return screen.rows
    },
    write,
    cursorTo: (column: number) => write(`\u001B[${column + 1}G`),
    moveCursor: (_: number, down: number) => write(moved(down, ['B', 'A'])),
    clearLine: () => write('\u001B[0K'),
    once: (_: string, listener: () => void) => void drained.add(listener),
    removeListener: (_: string, listener: () => void) => void drained.delete(listener),
  }
}

/** ora uses no more of a stream than is there. */
const isStream = (stream: object): stream is NonNullable<Options['stream']> => 'write' in stream

/** Turns a spinner. The cursor stays visible and standard input untouched, so that nothing has to be restored. */
export function startSpinner(screen: Screen, text: string, color: boolean): Spinner {
  const stream = streamOf(screen)
  const spinner = ora({
    text,
    ...(color ? {} : { color: false }),
    ...(isStream(stream) ? { stream } : {}),
    isEnabled: true,
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
