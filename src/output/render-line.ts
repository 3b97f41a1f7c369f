import { Chalk, type ChalkInstance } from 'chalk'
import { sanitizeSpaces } from './sanitize.ts'
import type { StyledLine } from './styled-text.ts'
import { type Style, stateStyle } from './styled-text.ts'
import { wrapLines } from './text-width.ts'

/** The terminal that text is rendered for. */
export interface TerminalStyle {
  readonly color: boolean
  /** Whether the terminal has links (OSC 8). */
  readonly links?: boolean
  /** Returns a text without secrets; called before a text is cut, which could leave a part of a secret. */
  redact?(text: string): string
}

const chalks = { color: new Chalk({ level: 1 }), plain: new Chalk({ level: 0 }) }

/** Returns an instance of chalk that colors text, or leaves it unchanged. */
export const createChalk = (color: boolean): ChalkInstance => (color ? chalks.color : chalks.plain)

/** Returns a text in a style, or unchanged without colors. */
export const applyStyle = (text: string, style: Style | undefined, color: boolean): string =>
  style === undefined || text === '' ? text : createChalk(color)[style](text)

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

/** Returns a line for a terminal: sanitized, redacted and styled, with its spaces. */
export function renderLine(
  line: StyledLine,
  { color, links = false, redact = text => text }: TerminalStyle,
): string {
  const pieces = typeof line === 'string' ? [line] : line
  return pieces
    .map(piece => {
      const { text, style, link } = typeof piece === 'string' ? { text: piece } : piece
      return applyLink(applyStyle(redact(sanitizeSpaces(text)), style, color), link, links)
    })
    .join('')
    .trimEnd()
}

/** Returns lines for a terminal, each with a line break, wrapped between words at `columns` columns. */
export const renderLines = (
  lines: readonly StyledLine[],
  options: TerminalStyle & { readonly columns: number },
): string => lines.map(line => `${wrapLines(renderLine(line, options), options.columns)}\n`).join('')
