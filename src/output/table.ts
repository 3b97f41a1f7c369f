import { pluralize } from '../domain/format.ts'
import { createChalk, renderLines } from './render-line.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import { createTableRenderer, type TableOptions } from './table-renderer.ts'
import { truncateCell } from './text-width.ts'
import type { TextBlock, View } from './view.ts'

// One file of the program then renders all that a terminal gets.
export { drawFrame } from './frame.ts'
export { createTableRenderer }

/** Renders a view for a terminal, in pieces of whole lines: heading, table, text blocks, then footer. */
export function* renderView(view: View, options: TableOptions): Generator<string> {
  if (view.rows.length === 0) yield renderLines(view.heading ?? [], options)
  else {
    const table = createTableRenderer(view, options)
    yield table.start
    yield* table.draw(view.rows)
  }
  for (const textBlock of view.textBlocks ?? []) yield renderTextBlock(textBlock, options)
  yield renderLines(view.footer ?? [], options)
}

/** The largest number of lines of a text block that are shown; further lines are only counted. */
const maxBlockLines = 40

/** Renders a text block: a line that introduces the text, then the text, indented. */
function renderTextBlock(
  { title, head, text }: TextBlock,
  { columns, color, redact = text => text }: TableOptions,
): string {
  const lines = sanitizeLines(text).trim().split('\n')
  const shownLines = lines
    .slice(0, maxBlockLines)
    .map(line => `  ${truncateCell(redact(line.trimEnd()), columns - 2)}`)
  const hiddenLines = lines.length - shownLines.length
  if (hiddenLines > 0) shownLines.push(`  … ${pluralize(hiddenLines, 'more line')}`)
  return `\n${createChalk(color).bold(sanitizeLine(title))}: ${sanitizeLine(head)}\n${shownLines.map(line => `${line.trimEnd()}\n`).join('')}`
}
