import ora, { type Options } from 'ora'
import { renderLine, type StyledLine } from './styled-text.ts'
import { textWidth } from './text-width.ts'

export type Spinner = ReturnType<typeof startSpinner>

/** A terminal that supports cursor movement, and the function that writes to it. */
export interface Screen {
  readonly columns: number
  readonly rows: number
  /** Nothing is drawn while this is false. */
  readonly canRedraw?: boolean
  write(text: string): Promise<void>
}

/** Returns the current text of a spinner. `columns` is the width that the terminal has for it. */
export type SpinnerText = (columns: number) => StyledLine

const [noWrap, wrap] = ['\u001B[?7l', '\u001B[?7h']

/** Returns a stream for ora, which writes to the screen as all other output does, with the sequences of Node. */
function createScreenStream(screen: Screen) {
  /** The text that the terminal shows, and the columns of the terminal at that time. */
  let [lastText, lastColumns] = ['', screen.columns]
  const write = (text: string): boolean => {
    if (screen.canRedraw !== true) return true
    const width = textWidth(text)
    if (width > 0) [lastText, lastColumns] = [text, screen.columns]
    // A terminal that has just become narrower must not wrap a text that was made for its former width.
    const output = width > 0 && width <= screen.columns ? `${noWrap}${text}${wrap}` : text
    screen.write(output).catch(() => undefined)
    return true
  }
  /** Moves to the first row of a text that a narrower terminal has wrapped: ora clears only its former rows. */
  const unwrap = (): string => {
    const rowsAt = (columns: number) => Math.max(1, Math.ceil(textWidth(lastText) / Math.max(1, columns)))
    const added = rowsAt(screen.columns) - rowsAt(lastColumns)
    lastText = ''
    return added > 0 ? `\u001B[${added}A\u001B[1G\u001B[J` : ''
  }
  return {
    isTTY: true,
    get columns() {
      return screen.columns
    },
    get rows() {
      return screen.rows
    },
    write,
    cursorTo: (column: number) => write(`${unwrap()}\u001B[${column + 1}G`),
    // ora moves up by one line only.
    moveCursor: () => write('\u001B[1A'),
    clearLine: () => write('\u001B[0K'),
  }
}

/** ora uses only the members that `createScreenStream` provides. */
const isOraStream = (stream: object): stream is NonNullable<Options['stream']> => 'write' in stream

/** The columns of the spinner itself, and one that stays free: a full line would wrap on some terminals. */
const reservedColumns = 3

/** Starts a spinner. The cursor stays visible and no input is read: nothing is to be restored at the end. */
export function startSpinner(screen: Screen, text: SpinnerText, color: boolean) {
  const stream = createScreenStream(screen)
  const render = () => renderLine(text(Math.max(1, screen.columns - reservedColumns)), { color })
  const spinner = ora({
    text: render(),
    ...(color ? {} : { color: false }),
    ...(isOraStream(stream) ? { stream } : {}),
    isEnabled: true,
    hideCursor: false,
    discardStdin: false,
  }).start()
  return {
    refresh(): void {
      spinner.text = render()
    },
    /** Clears the line; the spinner appears again with its next frame. */
    clear: () => void spinner.clear(),
    stop: () => void spinner.stop(),
  }
}
