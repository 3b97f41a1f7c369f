import type { Output } from '../host/host.ts'
import type { OutputFormat } from '../output/output-formats.ts'
import { applyStyle } from '../output/styled-text.ts'
import { wrapLines } from '../output/text-width.ts'
import type { OptionDoc } from './command-doc.ts'

export interface HelpOptions {
  readonly out: Pick<Output, 'columns' | 'terminal'>
  /** Help is text, except in the formats that print data. */
  readonly format: OutputFormat
  readonly hasColor: boolean
  readonly isShort: boolean
  readonly version: string
}

export type Item = readonly [term: string, description: string]

/** The maximum width of a term that has its description beside it. */
const maxTermWidth = 34

/** Examples and prose of help may break: what is printed to be pasted may not. */
const inHelp = { breaksCommands: true }

export class Layout {
  readonly width: number
  readonly isShort: boolean
  readonly #isBold: boolean

  constructor({ out, hasColor, isShort }: HelpOptions) {
    this.width = Math.min(out.columns, 100)
    this.isShort = isShort
    this.#isBold = hasColor
  }

  paragraph(text: string): string {
    return `${wrapLines(text, this.width, inHelp)}\n`
  }

  indented(text: string): string {
    return this.lines(wrapLines(text, this.width - 2, inHelp).split('\n'))
  }

  /** Indents lines, which are not wrapped. */
  lines(lines: readonly string[]): string {
    return lines.map(line => `  ${line}\n`).join('')
  }

  /** Aligns descriptions, beside their terms or, if a term is wide, below it. */
  items(items: readonly Item[]): string {
    const maxWidth = Math.min(maxTermWidth, Math.floor(this.width / 2) - 4)
    const widths = items.map(([term]) => term.length).filter(width => width <= maxWidth)
    const termWidth = Math.max(0, ...widths)
    const room = this.width - termWidth - 4
    const column = ' '.repeat(this.width - room)
    return items
      .map(([term, description]) => {
        const text = wrapLines(description, room, inHelp).replaceAll('\n', `\n${column}`)
        const start = `  ${term}`.padEnd(column.length)
        return term.length <= termWidth ? `${start}${text}\n` : `${start.trimEnd()}\n${column}${text}\n`
      })
      .join('')
  }

  /** Aligns options with their descriptions; a brief one has neither range nor default. */
  options(options: readonly OptionDoc[], isBrief = false): string {
    return this.items(
      options.map(option => [
        formatOption(option),
        describeOption(isBrief ? { ...option, range: undefined, default: undefined } : option),
      ]),
    )
  }

  /** A section with its heading; nothing without a body. */
  section(title: string, body: string): readonly string[] {
    return body === '' ? [] : [`${applyStyle(`${title}:`, 'bold', this.#isBold)}\n${body}`]
  }

  start(summary: string, usage: string): string {
    const paragraphs = [this.paragraph(summary), this.paragraph(`Usage: ${usage}`)]
    return paragraphs.join(this.isShort ? '' : '\n')
  }

  learnMore(short: string, complete: string): readonly string[] {
    return this.isShort
      ? [this.paragraph(`Learn more: ${short}`)]
      : this.section('Learn more', this.indented(complete))
  }
}

/** Returns the summary of an argument or option with its choices, its range, its default, and whether it can be repeated. */
export function describeOption({ name, summary, choices = [], repeatable, ...doc }: OptionDoc): string {
  const isNamed = choices.every(choice => summary.includes(choice))
  const additions = [
    ...(isNamed ? [] : [choices.join(', ')]),
    ...(doc.range === undefined ? [] : [doc.range]),
    ...(doc.default === undefined ? [] : [`default: ${doc.default}`]),
    ...(repeatable === true && name.startsWith('-') ? ['repeatable'] : []),
  ]
  return additions.length === 0 ? summary : `${summary} (${additions.join('; ')})`
}

function formatOption({ name, short, value }: OptionDoc): string {
  if (!name.startsWith('-')) return name
  const names = `${short === undefined ? '    ' : `${short}, `}${name}`
  return value === undefined ? names : `${names} <${value}>`
}
