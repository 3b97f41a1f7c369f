import type { TableOptions } from '../../src/output/table.ts'
import { renderScreen } from '../../src/output/table.ts'
import type { Screen } from '../../src/output/view.ts'

/** Renders a screen as a single text. */
export const drawTable = (screen: Screen, options: TableOptions): string =>
  [...renderScreen(screen, options)].join('')
