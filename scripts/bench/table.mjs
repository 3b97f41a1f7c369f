// Compares the results with their targets and formats them as tables.

/** The target that a figure reaches: `aim`, `must` or `no` for neither; undefined without a figure. */
function reachedTarget(figure, { must, aim }) {
  if (figure === undefined) return undefined
  return figure <= aim ? 'aim' : figure <= must ? 'must' : 'no'
}

const compareWithTarget = (what, figure, unit, target) => ({
  what,
  figure,
  unit,
  target,
  held: reachedTarget(figure, target),
})

/**
 * One entry for each line of the table. First the commands: time, CPU time, memory, and for each target the ratio of the
 * median time to that of the case that it names (undefined if that case was skipped). Then the memory figures that have a target, then the
 * package sizes.
 */
export function createFigures(measured, baseline, { packedKB, unpackedKB, packages }) {
  const byName = new Map(measured.map(row => [row.name, row]))
  const timePerItem = ({ ms, per = 1 }) => ms.median / per
  const ratio = (row, against = baseline) => {
    const other = byName.get(against)
    return other === undefined ? undefined : timePerItem(row) / timePerItem(other)
  }
  const lines = measured.flatMap(row => {
    const { name: what, ms, cpuMs, peakMB, quoted, target = [] } = row
    const [first, ...others] = [target].flat()
    const median = timePerItem(row)
    const costs = { what, ms, median, cpuMs, peakMB, quoted, against: first?.against }
    return [
      first === undefined
        ? { ...costs, figure: ratio(row), unit: 'x' }
        : { ...costs, ...compareWithTarget(what, ratio(row, first.against), 'x', first) },
      ...others.map(other => ({
        quoted,
        against: other.against,
        ...compareWithTarget(what, ratio(row, other.against), 'x', other),
      })),
    ]
  })
  const megabytes = measured
    .filter(({ megabytes, peakMB }) => megabytes !== undefined && peakMB !== undefined)
    .map(({ name, megabytes, peakMB }) => {
      const { above } = megabytes
      return above === undefined
        ? compareWithTarget(`memory of ${name}`, peakMB, 'MB', megabytes)
        : compareWithTarget(
            `memory of ${name}, above ${above}`,
            peakMB - byName.get(above).peakMB,
            'MB',
            megabytes,
          )
    })
  return [
    ...lines,
    ...megabytes,
    compareWithTarget('packed size', packedKB, 'KB', { must: 720, aim: 680 }),
    { what: 'unpacked size', figure: unpackedKB, unit: 'KB' },
    compareWithTarget('packages brought by an install', packages, '', { must: 1, aim: 1 }),
  ]
}

const formatFigure = (value, unit = '') => {
  if (value === undefined) return '-'
  if (unit === 'KB' || unit === 'MB') return `${Math.round(value)} ${unit}`
  if (unit === '') return String(value)
  return `${unit === '+x' && value >= 0 ? '+' : ''}${value.toFixed(value < 0.1 && unit === 'x' ? 3 : 2)}`
}
const formatTenths = value => value?.toFixed(1) ?? '-'

const headers = ['', 'min ms', 'median', 'max', 'CPU ms', 'MB', 'figure', 'must', 'aim', 'held']

/** The table as text, numbers aligned right. A figure without a unit is a ratio. */
export function formatTable(figures) {
  const rows = figures.map(({ what, ms, cpuMs, peakMB, figure, unit, target, held = '', against }) => [
    against === undefined ? what : `${what} / ${against}`,
    ...[ms?.min, ms?.median, ms?.max, cpuMs, peakMB].map(formatTenths),
    formatFigure(figure, unit),
    formatFigure(target?.must, unit),
    formatFigure(target?.aim, unit),
    held,
  ])
  const widths = headers.map((header, index) =>
    Math.max(header.length, ...rows.map(row => row[index].length)),
  )
  return [headers, ...rows]
    .map(row =>
      row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[index]))),
    )
    .map(row => row.join('  ').trimEnd())
    .join('\n')
}

const formatMarkdownRow = row => `| ${row.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`

/**
 * The figures that the README quotes, as a Markdown table: the median times in milliseconds of a command and of what it is
 * compared with, for each version of Node. The first run names the rows.
 */
export function formatSummary(runs, baseline) {
  const quoted = runs[0].figures.filter(({ quoted, figure }) => quoted === true && figure !== undefined)
  const timesOf = ({ what, against = baseline }) =>
    runs.map(({ figures }) => {
      const find = (name, with_) =>
        figures.find(row => row.what === name && (with_ === undefined || (row.against ?? baseline) === with_))
      const { figure } = find(what, against) ?? {}
      const other = find(against)?.median
      return other === undefined || figure === undefined
        ? '-'
        : `${formatMilliseconds(figure * other)} / ${formatMilliseconds(other)}`
    })
  return [
    ['what', ...runs.map(({ node }) => `Node ${node}, ms`), 'compared with'],
    ['---', ...runs.map(() => '---:'), '---'],
    ...quoted.map(row => [row.what, ...timesOf(row), row.against ?? baseline]),
  ]
    .map(formatMarkdownRow)
    .join('\n')
}

/** Three digits. */
const formatMilliseconds = ms => (ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : ms.toFixed(0))
