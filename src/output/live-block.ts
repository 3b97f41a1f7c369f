import type { Writer } from './printer.ts'

/** How large a terminal is. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** Lines on a terminal that are written over in place. */
export interface LiveBlock {
  /** Puts lines in the place of those that are there, in a terminal of the size that it has now. */
  draw(lines: readonly string[], size: TerminalSize): Promise<void>
  /** Leaves the lines as they are and the cursor below them, to be seen. */
  close(): Promise<void>
}

const [hideCursor, showCursor] = ['\u001B[?25l', '\u001B[?25h']
/** A character that is wider than it was taken for must not break a line in two. */
const [noWrap, wrap] = ['\u001B[?7l', '\u001B[?7h']
const [toLineEnd, toEnd] = ['\u001B[K', '\u001B[J']

/**
 * Opens a block: nothing is written before the first lines. Each drawing is one write, which clears nothing that it does
 * not write again, so that nothing flickers. A terminal that was made narrower has broken the lines that are there; one
 * that was made lower has scrolled some of them away, and brings them back when it grows.
 */
export async function createLiveBlock(sink: Writer): Promise<LiveBlock> {
  const { lineWidth } = await import('./table.ts')
  let widths: readonly number[] | undefined
  let [height, away] = [0, 0]

  /** How many rows above the cursor the lines that are there begin. */
  const above = ({ columns, rows }: TerminalSize): number => {
    const lines = (widths ?? []).reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    const back = Math.min(away, Math.max(0, rows - height))
    const seen = Math.min(lines, rows - 1)
    away += lines - seen - back
    height = rows
    return seen + back
  }
  return {
    async draw(lines, size) {
      const up = above(size)
      const back = up === 0 ? '' : `\u001B[${up}A`
      const written = lines.map(line => `${line}${toLineEnd}\r\n`).join('')
      const first = widths === undefined ? hideCursor : ''
      widths = lines.map(lineWidth)
      await sink.write(`${first}${back}\r${noWrap}${written}${toEnd}${wrap}`)
    },
    async close() {
      if (widths !== undefined) await sink.write(showCursor)
      widths = undefined
    },
  }
}
