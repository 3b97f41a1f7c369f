import { Chalk } from 'chalk'
import { sanitizeSpaces } from './sanitize.ts'
import { cutLongValue, endsWithCommand, wrapLines } from './text-width.ts'

const chalk = new Chalk({ level: 1 })

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan' | 'magenta'

export const applyStyle = (text: string, style: Style | undefined, color = true): string =>
  style === undefined || !color ? text : chalk[style](text)

/** How a state looks on a terminal: its sign and its color, the same in every command. */
interface StateStyle {
  readonly sign: string
  readonly style: Style
}

/** The states of pull requests, queues, checks and tests, and the verdicts of mergeq, by their sign and color. */
const statesByStyle: readonly (readonly [sign: string, style: Style, states: string])[] = [
  ['○', 'dim', 'NOT_READY'],
  ['●', 'cyan', 'PENDING QUEUED WAITING'],
  ['◐', 'yellow', 'TESTING IN_PROGRESS'],
  ['◕', 'green', 'TESTS_PASSED'],
  ['✓', 'green', 'MERGED SUCCESS SUCCEEDED HEALTHY PASS'],
  ['✗', 'red', 'FAILED FAILURE ERROR TIMED_OUT BROKEN FAIL DROPPED NEW'],
  ['-', 'dim', 'CANCELLED SKIPPED'],
  ['!', 'magenta', 'PENDING_FAILURE'],
  ['►', 'green', 'RUNNING'],
  ['!', 'yellow', 'PAUSED DRAINING SWITCHING_MODES'],
  ['!', 'yellow', 'FLAKY STALE WARN BLOCKED HELD KNOWN QUARANTINED'],
]

export const stateStyles: ReadonlyMap<string, StateStyle> = new Map(
  statesByStyle.flatMap(([sign, style, states]) =>
    states.split(' ').map(state => [state, { sign, style }] as const),
  ),
)

/** Returns the sign and color of a state, whatever its case; undefined for any other text. */
export const stateStyle = (state: string): StateStyle | undefined => stateStyles.get(state.toUpperCase())

/** Returns the words of a state of the service, a check or a verdict; any other text is returned unchanged. */
const wordsOf = (state: string): string =>
  stateStyle(state) === undefined ? state : state.toLowerCase().replaceAll('_', ' ')

/** A piece of a line with a style or a link. Its text may come from the service. */
export interface Span {
  readonly text: string
  readonly style?: Style | undefined
  /** The URL that the text links to, where the terminal has links. */
  readonly link?: string | undefined
}

export type Pieces = readonly (string | Span)[]

export type StyledLine = string | Pieces

export const styled = (text: string, style: Style): Span => ({ text, style })

/** Returns a text that links to a URL; without a URL, the text alone. */
export const linkSpan = (text: string, url: string | undefined): Span => ({ text, link: url })

/** Returns a state with its sign and color: `◐ testing`. An unknown state has neither. */
export function stateSpan(state: string): Span {
  const known = stateStyle(state)
  const words = wordsOf(state)
  return { text: known === undefined ? words : `${known.sign} ${words}`, style: known?.style }
}

/** Returns the words of a state in its color, without the sign. */
export const wordsSpan = (state: string): Span => ({
  text: wordsOf(state),
  style: stateStyle(state)?.style,
})

/** Returns the sign of a state in its color; empty for an unknown state. */
export const signSpan = (state: string): Span => ({
  text: stateStyle(state)?.sign ?? '',
  style: stateStyle(state)?.style,
})

export const plainText = (line: StyledLine): string =>
  typeof line === 'string'
    ? line
    : line.map(piece => (typeof piece === 'string' ? piece : piece.text)).join('')

export interface TerminalStyle {
  readonly color: boolean
  /** Whether the terminal has links (OSC 8). */
  readonly links?: boolean
  /** Returns a text without secrets; called before a text is cut, which could leave a part of a secret. */
  redact?(text: string): string
}

/** Returns a state, whatever its case, in its color; any other text unchanged. */
export const colorizeState = (text: string, color: boolean): string =>
  applyStyle(text, stateStyle(text)?.style, color)

/** The URLs whose sequence is recognized when the width of a text is measured. */
const safeUrl = /^https?:\/\/[-\w/#&.:=?%@~]+$/

/** Returns a text as a link to a URL, where the terminal has links. */
export const applyLink = (text: string, url: string | undefined, links: boolean): string =>
  links && url !== undefined && safeUrl.test(url) && text !== ''
    ? `\u001B]8;;${url}\u0007${text}\u001B]8;;\u0007`
    : text

/** A part of a command would be another command. */
const cutUnlessCommand = (text: string): string => (endsWithCommand(text) ? text : cutLongValue(text))

/** Returns a line for a terminal: sanitized, redacted and styled, with its spaces. */
export function renderLine(
  line: StyledLine,
  { color, links = false, redact = text => text }: TerminalStyle,
): string {
  const pieces = typeof line === 'string' ? [line] : line
  return pieces
    .map(piece => {
      const { text, style, link } = typeof piece === 'string' ? { text: piece } : piece
      return applyLink(applyStyle(cutUnlessCommand(redact(sanitizeSpaces(text))), style, color), link, links)
    })
    .join('')
    .trimEnd()
}

/** Returns lines for a terminal, each with a line break, wrapped between words at `columns` columns. */
export const renderLines = (
  lines: readonly StyledLine[],
  options: TerminalStyle & { readonly columns: number },
): string => lines.map(line => `${wrapLines(renderLine(line, options), options.columns)}\n`).join('')

/** Returns a line for each fact that has a value: its name, and the values below each other. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | Span | undefined])[],
): readonly StyledLine[] {
  const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  const width = Math.max(...known.map(([name]) => name.length))
  return known.map(([name, value]) => [styled(`  ${name.padEnd(width)}  `, 'dim'), value])
}

/** What a logger needs for a terminal. */
export const textStyles = { applyStyle, renderLine, wrapLines }
export type TextStyles = typeof textStyles

/** Whether to color output: by `--color`, then the environment, then the terminal (docs/reference/cli.md, "Color"). */
export function shouldColor({
  color,
  env,
  terminal,
}: {
  readonly color: 'auto' | 'always' | 'never'
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: boolean
}): boolean {
  if (color !== 'auto') return color === 'always'
  if ((env.NO_COLOR ?? '') !== '') return false
  const forced = env.FORCE_COLOR ?? ''
  if (forced !== '') return forced !== '0' && forced !== 'false'
  if ((env.CLICOLOR_FORCE || '0') !== '0') return true
  if (env.CLICOLOR === '0') return false
  return terminal && env.TERM !== 'dumb'
}

/** Whether the terminal shows Unicode: on Windows, and with a UTF-8 locale (LC_ALL, LC_CTYPE or LANG). */
export function hasUnicode(env: Readonly<Record<string, string | undefined>>, platform: string): boolean {
  if (platform === 'win32') return true
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || ''
  return /utf-?8/i.test(locale)
}

/** The characters that mergeq draws with, and the ASCII character for each: one column wide, as before. */
const replacements: readonly (readonly [signs: string, ascii: string])[] = [
  ['✓✗◐◕●►○…·', '+x*%o>.~-'],
  ['▁▂▃▄▅▆▇█', '_.:-=+*#'],
  ['▏▎▍▌▋▊▉', '.::--=='],
  ['⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏', '-\\|/-\\|/-\\'],
]

const asciiSigns: ReadonlyMap<string, string> = new Map(
  replacements.flatMap(([signs, ascii]) => [...signs].map((sign, index) => [sign, ascii[index] ?? '?'])),
)

/** Returns a text with ASCII characters in the place of the signs and blocks that mergeq draws with. */
export const toAscii = (text: string): string =>
  text.replace(/[✓✗◐◕●►○…·▁-█▉-▏⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, sign => asciiSigns.get(sign) ?? sign)
