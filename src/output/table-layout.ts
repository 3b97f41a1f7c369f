import { textWidth } from './text-width.ts'
import type { Column, ColumnFormat } from './view.ts'

/** The smallest width of the columns that may be cut, and of the columns that wrap, in characters. */
const minWidths: Readonly<Partial<Record<ColumnFormat, number>>> = { plain: 8, text: 24, prose: 12 }

/** Whether a column of this format is narrowed where the terminal is narrow. */
export const canBeCut = (format: ColumnFormat): boolean => minWidths[format] !== undefined

/** The spaces between two columns. */
export const columnGap = 2

/** A column that is shown: its place in the view, and its width. */
export interface ColumnLayout {
  readonly index: number
  readonly width: number
}

/** Returns the width of the widest cell of a column, and at least `min`. */
export const maxCellWidth = (rows: readonly (readonly string[])[], index: number, min: number): number =>
  rows.reduce((max, row) => Math.max(max, textWidth(row[index] ?? '')), min)

/**
 * Returns the columns that fit a terminal with their widths. Columns with a priority are left out if they
 * have no values, or as long as the others do not fit at their smallest widths. Then the widest columns
 * that may be cut are narrowed until the table fits. A table of columns that may not be cut may be wider.
 *
 * @param contentWidths the width of the widest cell of each column; 0 for a column without values
 */
export function layoutColumns(
  columns: readonly Column[],
  contentWidths: readonly number[],
  maxWidth: number,
): readonly ColumnLayout[] {
  const natural = columns.map(({ title, format }, index) => {
    const width = Math.max(contentWidths[index] ?? 0, textWidth(title))
    return canBeCut(format) ? Math.min(maxWidth, width) : width
  })
  const smallest = columns.map(({ format }, index) =>
    Math.min(natural[index] ?? 0, minWidths[format] ?? Number.POSITIVE_INFINITY),
  )
  let shown = columns.flatMap(({ priority }, index) =>
    priority !== undefined && contentWidths[index] === 0 ? [] : [{ index, priority: priority ?? 0 }],
  )
  const totalWidth = (widths: readonly number[]) =>
    shown.reduce((sum, { index }) => sum + (widths[index] ?? 0) + columnGap, -columnGap)
  while (totalWidth(smallest) > maxWidth) {
    const last = Math.max(...shown.map(({ priority }) => priority))
    if (last <= 0) break
    const dropped = shown.findLastIndex(({ priority }) => priority === last)
    shown = shown.filter((_, place) => place !== dropped)
  }
  const widths = [...natural]
  const canShrink = shown.filter(({ index }) => (widths[index] ?? 0) > (smallest[index] ?? 0))
  for (let over = totalWidth(widths) - maxWidth; over > 0; over--) {
    const widest = canShrink
      .filter(({ index }) => (widths[index] ?? 0) > (smallest[index] ?? 0))
      .reduce((found, { index }) => ((widths[index] ?? 0) > (widths[found] ?? -1) ? index : found), -1)
    if (widest === -1) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return shown.map(({ index }) => ({ index, width: widths[index] ?? 0 }))
}
