import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { findFormat } from '../../src/output/output-formats.ts'
import { createPrinter, type PrinterOptions } from '../../src/output/printer.ts'
import { renderScreen } from '../../src/output/table.ts'
import { columns, type Screen } from '../../src/output/view.ts'
import { slowTest } from '../support/sample.ts'
import { drawTable } from '../support/screens.ts'

const page = { columns: 60, color: false, now: 0 }
const testColumns = columns('name', 'status', 'depth')
const record = (index: number): JsonObject => ({ name: `test ${index}`, status: 'FAILED', depth: index })
const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => record(from + index))
const shapeOf = (rows: number) => ({ columns: testColumns, rows: records(0, rows) })

/** The processor time that a piece of work takes, in milliseconds. */
function cost(work: () => void): number {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1_000
}

describe('a long table', () => {
  slowTest('takes time in proportion to its rows', () => {
    drawTable(shapeOf(500), page)
    const short = cost(() => drawTable(shapeOf(1_000), page))
    const long = cost(() => drawTable(shapeOf(8_000), page))
    expect(long / short).toBeLessThan(8 * 3)
  })

  test('is laid out as a whole up to 64 lines, and behind them in parts', () => {
    const linesOfParts = (rows: number) =>
      [...renderScreen(shapeOf(rows), page)].map(part => part.split('\n').length - 1)
    // Nothing above, the titles and the rows, and nothing below.
    expect(linesOfParts(63)).toEqual([0, 64, 0])
    expect(linesOfParts(130)).toEqual([0, 64, 64, 3, 0])
  })

  test('has the widths of its first thousand rows; longer cells behind them are cut, but ids', () => {
    const rows = [...records(0, 1_000), { name: 'a much longer name', status: 'FAILED', depth: 1 }]
    expect(drawTable({ columns: testColumns, rows }, page).split('\n').at(-2)).toBe(
      'a much …  ✗ failed      1',
    )
    const withIds = { columns: [...columns(['name', { format: 'id' }]), ...testColumns.slice(1)], rows }
    expect(drawTable(withIds, page).split('\n').at(-2)).toBe('a much longer name  ✗ failed      1')
  })
})

describe('a table that is printed while it is read', () => {
  const style: PrinterOptions = {
    ...page,
    now: () => page.now,
    format: findFormat('table'),
    isDrawn: true,
    selection: undefined,
    terminal: false,
  }

  /** Prints shapes one after another; what was written before each, and at the end. */
  async function printed(shapes: readonly Screen[]): Promise<readonly string[]> {
    const written: string[] = []
    let text = ''
    const add = (piece: string) => {
      text += piece
    }
    const printer = createPrinter({ write: async piece => add(String(piece)) }, style)
    for (const shape of shapes) {
      await printer.add({ records: [], columns: [], screen: () => shape })
      written.push(text)
    }
    await printer.end()
    return [...written, text]
  }
  const pages = Array.from({ length: 12 }, (_, index) => ({
    columns: testColumns,
    rows: records(index * 100, index * 100 + 100),
  }))

  test('is drawn at its end', async () => {
    const written = await printed(pages)
    expect(written.slice(0, -1).join('')).toBe('')
    expect(written.at(-1)).toBe(drawTable(shapeOf(1_200), page))
  })

  test('keeps views with a heading separate, in order', async () => {
    const apart = { ...shapeOf(1), heading: ['Another'] }
    const written = await printed([...pages, apart, shapeOf(1)])
    expect(written.at(-1)).toBe(
      drawTable(shapeOf(1_200), page) +
        drawTable(
          { ...shapeOf(2), heading: ['Another'], rows: [...shapeOf(1).rows, ...shapeOf(1).rows] },
          page,
        ),
    )
  })
})
