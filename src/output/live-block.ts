import type { Writer } from './printer.ts'

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** A block of lines on a terminal that is redrawn in place. */
export interface LiveBlock {
  /** Replaces the lines of the block. `size` is the current size of the terminal. */
  draw(lines: readonly string[], size: TerminalSize): Promise<void>
  /** Ends the block: its lines stay visible and the cursor is below them. */
  close(): Promise<void>
}

const [hideCursor, showCursor] = ['\u001B[?25l', '\u001B[?25h']
/**
 * Line wrapping is off while the block is drawn: a character that is wider than expected must not wrap a
 * line.
 */
const [noWrap, wrap] = ['\u001B[?7l', '\u001B[?7h']
const [toLineEnd, toEnd] = ['\u001B[K', '\u001B[J']

/**
 * Creates a block; nothing is written before the first lines. Each frame is a single write that clears only
 * what it overwrites, so that the block does not flicker. A narrower terminal wraps the lines of the last
 * frame; a lower terminal scrolls some of them away and shows them again when it grows.
 */
export async function createLiveBlock(sink: Writer): Promise<LiveBlock> {
  const { textWidth } = await import('./text-width.ts')
  let widths: readonly number[] | undefined
  let [height, scrolledRows] = [0, 0]

  /** Returns how many rows above the cursor the last frame begins. */
  const rowsAbove = ({ columns, rows }: TerminalSize): number => {
    const lines = (widths ?? []).reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    const returned = Math.min(scrolledRows, Math.max(0, rows - height))
    const visible = Math.min(lines, rows - 1)
    scrolledRows += lines - visible - returned
    height = rows
    return visible + returned
  }
  return {
    async draw(lines, size) {
      const distance = rowsAbove(size)
      const cursorUp = distance === 0 ? '' : `\u001B[${distance}A`
      const text = lines.map(line => `${line}${toLineEnd}\r\n`).join('')
      const cursorSwitch = widths === undefined ? hideCursor : ''
      widths = lines.map(textWidth)
      await sink.write(`${cursorSwitch}${cursorUp}\r${noWrap}${text}${toEnd}${wrap}`)
    },
    async close() {
      if (widths !== undefined) await sink.write(showCursor)
      widths = undefined
    },
  }
}
