import { memoize } from '../base/scheduling.ts'
import { pullRequestStates } from '../domain/states.ts'
import { plainText, renderLines, type StyledLine, stateSpan, styled } from './styled-text.ts'
import { createTableRenderer, type TableOptions } from './table.ts'
import { commandFits, textWidth, truncateLine } from './text-width.ts'
import type { Screen, Writer } from './view.ts'

/** The terminal that a frame is drawn for, and what is scrolled to. */
interface FrameOptions extends TableOptions {
  readonly rows: number
  /** The number of items above the first visible item. */
  readonly offset: number
  /** How to scroll, in parentheses after the number of rows that are not visible. */
  readonly scrollHint?: string
}

interface Frame {
  /** The lines: at most as many as the terminal has rows, and narrower than the terminal. */
  readonly lines: readonly string[]
  /** The number of items above the first visible item, at most as many as leave the page full. */
  readonly offset: number
  readonly pageSize: number
  /** The widths of the columns; as `minWidths` of the next frame, they keep the columns in their places. */
  readonly widths: readonly number[]
}

/** The width of the longest state of a pull request, so that a change of state moves no column. */
const maxStateWidth = memoize(() =>
  Math.max(...pullRequestStates.map(state => textWidth(stateSpan(state).text))),
)

function hiddenText(above: number, below: number, hint: string | undefined): StyledLine {
  const parts = [...(above > 0 ? [`${above} more above`] : []), ...(below > 0 ? [`${below} more below`] : [])]
  return [styled(`${parts.join(', ')}${hint === undefined ? '' : ` (${hint})`}`, 'dim')]
}

/** Draws a screen and the lines below it. Rows that do not fit are counted, and scrolled below heading and titles. */
export function drawFrame(screen: Screen, footer: readonly StyledLine[], options: FrameOptions): Frame {
  const { heading: head = [], columns = [], rows = [] } = screen
  const size = { ...options, columns: options.columns - 1 }
  const toLines = (text: string) => text.split('\n').slice(0, -1)
  // The terminal cuts what is wider, and a part of a command would be another one.
  const isWhole = (line: StyledLine) => commandFits(plainText(line), size.columns)
  const draw = (lines: readonly StyledLine[]) => toLines(renderLines(lines.filter(isWhole), size))
  const heading = draw(head)
  const foot = draw([...(screen.footer ?? []), ...footer])
  const minWidths = columns.map(({ format }, index) =>
    Math.max(options.minWidths?.[index] ?? 0, format === 'state' ? maxStateWidth() : 0),
  )
  const hasRows = rows.length > 0
  const table = createTableRenderer({ columns, rows }, { ...size, minWidths })
  const count = hasRows ? rows.length : heading.length
  // Above the rows are the heading and a line of titles.
  const fixed = hasRows ? heading.length + 1 : 0
  const space = Math.max(0, options.rows - fixed - foot.length)
  // The line that counts the others needs a row as well. Each row of a table is a line.
  const visibleCount = count <= space ? count : Math.max(0, space - 1)
  const first = Math.min(options.offset, count - visibleCount)
  const end = first + visibleCount
  const visible = hasRows
    ? [...heading, ...toLines([...table.draw(rows.slice(first, end))].join(''))]
    : heading.slice(first, end)
  const hidden =
    count > visibleCount ? draw([hiddenText(first, count - end, options.scrollHint)]).slice(0, 1) : []
  return {
    lines: [...visible, ...hidden, ...foot]
      .slice(0, options.rows)
      .map(line => truncateLine(line, size.columns)),
    offset: first,
    pageSize: Math.max(1, visibleCount),
    widths: table.contentWidths,
  }
}

const [hideCursor, showCursor] = ['\u001B[?25l', '\u001B[?25h']
const [enterScreen, leaveScreen] = ['\u001B[?1049h', '\u001B[?1049l']
/** Line wrapping is off: a character that is wider than expected must not move the lines below it. */
const [noWrap, wrap] = ['\u001B[?7l', '\u001B[?7h']
const [toTop, clearToLineEnd, clearBelow] = ['\u001B[H', '\u001B[K', '\u001B[J']

/** Creates a screen. Each frame is one write that clears only what it overwrites, so that it does not flicker. */
export function createAlternateScreen(sink: Writer) {
  let isShown = false
  return {
    /** Shows lines, which must fit the terminal. */
    async draw(lines: readonly string[]) {
      const enter = isShown ? '' : `${enterScreen}${hideCursor}`
      isShown = true
      const text = lines.map(line => `${line}${clearToLineEnd}`).join('\r\n')
      await sink.write(`${enter}${noWrap}${toTop}${text}${clearBelow}`)
    },
    /** Returns to the normal screen and shows the cursor. A later `draw` switches again. */
    async leave() {
      if (!isShown) return
      isShown = false
      await sink.write(`${wrap}${showCursor}${leaveScreen}`)
    },
  }
}
