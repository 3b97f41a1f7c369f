import { type Style, stateStyle, stateWords } from './state-style.ts'

/** A piece of a line with a style or a link. Its text may come from the service. */
export interface Span {
  readonly text: string
  readonly style?: Style
  /** The URL that the text links to, where the terminal has links. */
  readonly link?: string
}

/** A line for a terminal: plain text, or pieces that follow each other. */
export type StyledLine = string | readonly (string | Span)[]

/** Returns a text with a style. */
export const styled = (text: string, style: Style): Span => ({ text, style })

/** Returns a text with a style, if there is one. */
const spanOf = (text: string, style: Style | undefined): Span =>
  style === undefined ? { text } : { text, style }

/** Returns a text that links to a URL; without a URL, the text alone. */
export const linkSpan = (text: string, url: string | undefined): Span =>
  url === undefined ? { text } : { text, link: url }

/** Returns a state with its sign and color: `◐ testing`. An unknown state has neither. */
export function stateSpan(state: string): Span {
  const style = stateStyle(state)
  const words = stateWords(state)
  return style === undefined ? { text: words } : { text: `${style.sign} ${words}`, style: style.style }
}

/** Returns the words of a state in its color, without the sign. */
export const wordsSpan = (state: string): Span => spanOf(stateWords(state), stateStyle(state)?.style)

/** Returns the sign of a state in its color; empty for an unknown state. */
export function signSpan(state: string): Span {
  const style = stateStyle(state)
  return style === undefined ? { text: '' } : { text: style.sign, style: style.style }
}

/** Returns the text of a line without styles. */
export const plainText = (line: StyledLine): string =>
  typeof line === 'string'
    ? line
    : line.map(piece => (typeof piece === 'string' ? piece : piece.text)).join('')
