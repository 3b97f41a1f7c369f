// The results as figures held against targets, and as one table.

/** How a figure stands to its target. */
function held(figure, { must, aim }) {
  if (figure === undefined) return undefined
  return figure <= aim ? 'aim' : figure <= must ? 'must' : 'no'
}

const compared = (what, figure, unit, target) => ({ what, figure, unit, target, held: held(figure, target) })

/**
 * One entry for each line of the table: a command with its time, CPU time and memory and the ratio of its median to
 * the row that it is held against, unless that was skipped; then the peaks of memory that have a target; then the sizes.
 */
export function figuresOf(measured, baseline, { packedKB, unpackedKB, packages }) {
  const named = new Map(measured.map(row => [row.name, row]))
  const each = ({ ms, per = 1 }) => ms.median / per
  const ratio = row => {
    const other = named.get(row.target?.against ?? baseline)
    return other === undefined ? undefined : each(row) / each(other)
  }
  const lines = measured.map(row => {
    const { name: what, ms, cpuMs, peakMB, quoted, target } = row
    const costs = { what, ms, cpuMs, peakMB, quoted }
    if (target === undefined) return { ...costs, figure: ratio(row), unit: 'x' }
    const { above, unit } = target
    if (unit === 's') return { ...costs, ...compared(what, each(row) / 1000, unit, target) }
    const figure = above === undefined ? ratio(row) : ratio(row) - ratio(named.get(above))
    return { ...costs, ...compared(what, figure, above === undefined ? 'x' : '+x', target) }
  })
  const peaks = measured
    .filter(({ peak, peakMB }) => peak !== undefined && peakMB !== undefined)
    .map(({ name, peak, peakMB }) =>
      compared(`peak memory of ${name}`, peakMB / named.get(peak.against ?? baseline).peakMB, 'x', peak),
    )
  const megabytes = measured
    .filter(({ megabytes, peakMB }) => megabytes !== undefined && peakMB !== undefined)
    .map(({ name, megabytes, peakMB }) => {
      const { above } = megabytes
      return above === undefined
        ? compared(`memory of ${name}`, peakMB, 'MB', megabytes)
        : compared(`memory of ${name}, above ${above}`, peakMB - named.get(above).peakMB, 'MB', megabytes)
    })
  return [
    ...lines,
    ...peaks,
    ...megabytes,
    { ...compared('packed size', packedKB, 'KB', { must: 300, aim: 150 }), quoted: true },
    { what: 'unpacked size', figure: unpackedKB, unit: 'KB' },
    compared('packages brought by an install', packages, '', { must: 1, aim: 1 }),
  ]
}

const number = (value, unit = '') => {
  if (value === undefined) return '-'
  if (unit === 's') return `${value.toFixed(2)} s`
  if (unit === 'KB' || unit === 'MB') return `${Math.round(value)} ${unit}`
  if (unit === '') return String(value)
  return `${unit === '+x' && value >= 0 ? '+' : ''}${value.toFixed(value < 0.1 && unit === 'x' ? 3 : 2)}`
}
const tenths = value => value?.toFixed(1) ?? '-'

const heads = ['', 'min ms', 'median', 'max', 'CPU ms', 'MB', 'figure', 'must', 'aim', 'held']

/** The table as text: numbers to the right. `figure` is the ratio to `node -e 0` where no other unit is told. */
export function tableOf(figures) {
  const rows = figures.map(({ what, ms, cpuMs, peakMB, figure, unit, target, held = '' }) => [
    what,
    ...[ms?.min, ms?.median, ms?.max, cpuMs, peakMB].map(tenths),
    number(figure, unit),
    number(target?.must, unit),
    number(target?.aim, unit),
    held,
  ])
  const widths = heads.map((head, index) => Math.max(head.length, ...rows.map(row => row[index].length)))
  return [heads, ...rows]
    .map(row =>
      row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[index]))),
    )
    .map(row => row.join('  ').trimEnd())
    .join('\n')
}

const cellsOf = row => `| ${row.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** The figures that the README quotes, as Markdown: what is measured, and how it stands to what. */
export const summaryOf = (figures, baseline) =>
  [
    ['what', 'figure', 'times'],
    ['---', '---:', '---'],
    ...figures
      .filter(({ quoted, figure }) => quoted === true && figure !== undefined)
      .map(({ what, figure, unit, target }) => {
        const against = target.against ?? baseline
        return [what, number(figure, unit), /x$/.test(unit) ? against : '']
      }),
  ]
    .map(cellsOf)
    .join('\n')
