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
 * Returns the columns that fit a terminal with their widths. Columns that need room are left out where there
 * is none. Columns with a priority are left out if they have no values, or as long as the others do not fit
 * at their smallest widths. Then the widest columns that may be cut are narrowed until the table fits, those
 * that yield before the others. A table of columns that may not be cut may be wider.
 *
 * @param contentWidths the width of the widest cell of each column; 0 for a column without values
 * @param wordWidths the width below which a column that wraps is not narrowed
 */
export function layoutColumns(
  columns: readonly Column[],
  contentWidths: readonly number[],
  maxWidth: number,
  wordWidths: readonly number[],
): readonly ColumnLayout[] {
  const natural = columns.map(({ title, format }, index) => {
    const width = Math.max(contentWidths[index] ?? 0, textWidth(title))
    return canBeCut(format) ? Math.min(maxWidth, width) : width
  })
  const smallest = columns.map(({ format }, index) =>
    Math.min(
      natural[index] ?? 0,
      Math.max(wordWidths[index] ?? 0, minWidths[format] ?? Number.POSITIVE_INFINITY),
    ),
  )
  let shown = columns.flatMap(({ priority }, index) =>
    priority !== undefined && contentWidths[index] === 0 ? [] : [{ index, priority: priority ?? 0 }],
  )
  const totalWidth = (widths: readonly number[]) =>
    shown.reduce((sum, { index }) => sum + (widths[index] ?? 0) + columnGap, -columnGap)
  const dropWhileWider = (widths: readonly number[], canDrop: (index: number) => boolean) => {
    while (totalWidth(widths) > maxWidth) {
      const candidates = shown.filter(({ index }) => canDrop(index))
      const last = Math.max(0, ...candidates.map(({ priority }) => priority))
      const dropped = candidates.findLast(({ priority }) => priority === last)
      if (last === 0 || dropped === undefined) break
      shown = shown.filter(column => column !== dropped)
    }
  }
  const rooms = new Set(columns.flatMap(({ needsRoom }) => needsRoom ?? []))
  for (const room of [...rooms].sort((a, b) => b - a)) {
    const roomy = columns.map(({ format }, index) =>
      Math.min(natural[index] ?? 0, canBeCut(format) ? room : Number.POSITIVE_INFINITY),
    )
    dropWhileWider(roomy, index => columns[index]?.needsRoom === room)
  }
  dropWhileWider(smallest, () => true)
  const widths = [...natural]
  const narrow = (minimums: readonly number[]) => {
    for (let over = totalWidth(widths) - maxWidth; over > 0; over--) {
      const widest = shown
        .filter(({ index }) => (widths[index] ?? 0) > (minimums[index] ?? 0))
        .reduce((found, { index }) => ((widths[index] ?? 0) > (widths[found] ?? -1) ? index : found), -1)
      if (widest === -1) break
      widths[widest] = (widths[widest] ?? 0) - 1
    }
  }
  narrow(columns.map(({ yieldsTo }) => yieldsTo ?? maxWidth))
  narrow(smallest)
  return shown.map(({ index }) => ({ index, width: Math.max(widths[index] ?? 0, wordWidths[index] ?? 0) }))
}
