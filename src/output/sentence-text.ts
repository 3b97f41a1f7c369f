import { sanitizeLine } from './sanitize.ts'
import { wrapLines } from './wrap-lines.ts'

/** Returns a sentence for a terminal. A failed change has an empty one: its error is printed instead. */
export function sentenceText(
  sentence: string,
  { terminal, columns, redact = text => text }: SentenceTerminal,
): string {
  const line = redact(sanitizeLine(sentence))
  return line === '' ? '' : `${terminal ? wrapLines(line, columns) : line}\n`
}

/** Where a sentence is printed: it is wrapped on a terminal only. */
interface SentenceTerminal {
  readonly terminal: boolean
  readonly columns: number
  redact?(text: string): string
}
