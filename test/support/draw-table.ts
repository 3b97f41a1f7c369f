import type { TableOptions } from '../../src/output/table.ts'
import { renderView } from '../../src/output/table.ts'
import type { View } from '../../src/output/view.ts'

/** Renders a view for a terminal as a single text. */
export const drawTable = (view: View, options: TableOptions): string =>
  [...renderView(view, options)].join('')
