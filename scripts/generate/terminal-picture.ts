import stringWidth from 'string-width'

/** Colors of the picture: readable on its own dark background, whatever the page around it shows. */
const colors = {
  background: '#161b22',
  border: '#30363d',
  title: '#8b949e',
  text: '#e6edf3',
  prompt: '#8b949e',
} as const

/** The color of each SGR parameter that mergeq prints; bright colors are those of the normal ones. */
const sgrColors: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#56d4dd',
  90: '#8b949e',
}

const charWidth = 8.4
const lineHeight = 20
const padding = 16
const titleHeight = 36

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

interface Style {
  readonly color?: string
  readonly bold?: boolean
  readonly dim?: boolean
}

/** Returns the style after an SGR parameter. Throws for a parameter that the picture cannot show. */
function applySgr(style: Style, parameter: number): Style {
  if (parameter === 0) return {}
  if (parameter === 1) return { ...style, bold: true }
  if (parameter === 2) return { ...style, dim: true }
  if (parameter === 22) return { ...style, bold: false, dim: false }
  if (parameter === 39) return { bold: style.bold === true, dim: style.dim === true }
  const color = sgrColors[parameter]
  if (color === undefined) throw new Error(`The picture has no color for SGR ${parameter}.`)
  return { ...style, color }
}

const attributesOf = ({ color, bold, dim }: Style): string =>
  [
    color === undefined ? '' : ` fill="${color}"`,
    bold === true ? ' font-weight="bold"' : '',
    dim === true ? ' opacity="0.7"' : '',
  ].join('')

const link = /\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g

/** Returns a line of terminal output. Each cell starts at its column, so that every font aligns columns. */
function drawLine(line: string): string {
  let [style, column, spans]: [Style, number, string] = [{}, 0, '']
  for (const part of line.replace(link, '').split(/(\x1b\[[\d;]*m)/)) {
    const parameters = /^\x1b\[([\d;]*)m$/.exec(part)?.[1]
    if (parameters !== undefined) style = parameters.split(';').map(Number).reduce(applySgr, style)
    else if (part.includes('\x1b')) throw new Error(`The picture cannot show ${JSON.stringify(part)}.`)
    else {
      for (const { index, 0: cell } of part.matchAll(/\S+(?: \S+)*/g)) {
        const x = (padding + (column + stringWidth(part.slice(0, index))) * charWidth).toFixed(1)
        spans += `<tspan x="${x}"${attributesOf(style)}>${escapeXml(cell)}</tspan>`
      }
      column += stringWidth(part)
    }
  }
  return spans
}

/** A command and what it printed on a terminal. */
export interface SessionStep {
  /** What happened since the step before, which the session does not show. */
  readonly note?: string
  readonly command: string
  readonly output: string
}

/** How long the recording shows what it has before the next command, its output and its end, in seconds. */
const pauses = { command: 2.5, output: 1.2, end: 6 } as const

/** A line, and after how many seconds it appears. */
interface TimedLine {
  readonly line: string
  readonly at: number
}

function timeLines(steps: readonly SessionStep[]): readonly TimedLine[] {
  let at = 0
  return steps.flatMap(({ note, command, output }, index) => {
    if (index > 0) at += pauses.command
    const typed = [
      ...(index === 0 ? [] : ['']),
      ...(note === undefined ? [] : [`\x1b[90m# ${note}\x1b[39m`]),
      `\x1b[90m$\x1b[39m \x1b[1m${command}\x1b[22m`,
    ].map(line => ({ line, at }))
    at += pauses.output
    return [
      ...typed,
      ...output
        .trimEnd()
        .split('\n')
        .map(line => ({ line, at })),
    ]
  })
}

/** Returns the style that shows lines one after the other, again and again; without motion, all at once. */
function animationOf(lines: readonly TimedLine[]): string {
  const moments = [...new Set(lines.map(({ at }) => at))].filter(at => at > 0)
  const end = Math.max(...moments) + pauses.end
  const rules = moments.map((at, index) => {
    const percent = ((100 * at) / end).toFixed(1)
    return `@keyframes at${index} { 0% { visibility: hidden } ${percent}%, 100% { visibility: visible } } .at${index} { animation: at${index} ${end.toFixed(1)}s step-end infinite }`
  })
  return `@media (prefers-reduced-motion: no-preference) { ${rules.join(' ')} }`
}

/**
 * Returns an SVG picture of a terminal session that plays in place. It uses fonts of the reader's system and loads
 * nothing; where it does not play, it shows the end. Throws for output that the picture cannot show, such as cursor movement.
 */
export function drawSession(title: string, columns: number, steps: readonly SessionStep[]): string {
  const lines = timeLines(steps)
  const moments = [...new Set(lines.map(({ at }) => at))].filter(at => at > 0)
  const width = Math.round(columns * charWidth + 2 * padding)
  const height = titleHeight + lines.length * lineHeight + padding
  const drawn = lines.flatMap(({ line, at }, index) => {
    const spans = drawLine(line)
    const y = titleHeight + (index + 1) * lineHeight - 4
    const moment = at === 0 ? '' : ` class="at${moments.indexOf(at)}"`
    return spans === '' ? [] : [`    <text y="${y}"${moment}>${spans}</text>`]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
  <title>${escapeXml(title)}</title>
  <style>${animationOf(lines)}</style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colors.background}" stroke="${colors.border}"/>
  <g fill="${colors.border}"><circle cx="20" cy="18" r="6"/><circle cx="40" cy="18" r="6"/><circle cx="60" cy="18" r="6"/></g>
  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace" font-size="14" fill="${colors.text}">
${drawn.join('\n')}
  </g>
</svg>
`
}
