import type { Writer } from './printer.ts'

/** A terminal that shows frames on its alternate screen, so that the lines before them are kept. */
export interface AlternateScreen {
  /** Shows the lines, which must fit the terminal. */
  draw(lines: readonly string[]): Promise<void>
  /** Returns to the normal screen and shows the cursor. A later `draw` switches again. */
  leave(): Promise<void>
}

const [hideCursor, showCursor] = ['\u001B[?25l', '\u001B[?25h']
const [enterScreen, leaveScreen] = ['\u001B[?1049h', '\u001B[?1049l']
/** Line wrapping is off: a character that is wider than expected must not move the lines below it. */
const [noWrap, wrap] = ['\u001B[?7l', '\u001B[?7h']
const [toTop, clearToLineEnd, clearBelow] = ['\u001B[H', '\u001B[K', '\u001B[J']

/**
 * Creates a screen; nothing is written before the first frame. Each frame is a single write that clears only
 * what it overwrites, so that it does not flicker.
 */
export function createAlternateScreen(sink: Writer): AlternateScreen {
  let isShown = false
  return {
    async draw(lines) {
      const enter = isShown ? '' : `${enterScreen}${hideCursor}`
      isShown = true
      const text = lines.map(line => `${line}${clearToLineEnd}`).join('\r\n')
      await sink.write(`${enter}${noWrap}${toTop}${text}${clearBelow}`)
    },
    async leave() {
      if (!isShown) return
      isShown = false
      await sink.write(`${wrap}${showCursor}${leaveScreen}`)
    },
  }
}
