/**
 * What may reach a terminal out of text that came from outside: everything that is visible, and the joiners inside
 * emoji. Control characters, escape sequences, bidirectional and invisible characters go (CLI.md section 4.8).
 */
const sequences =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])|\u001B[ -/]*[0-~]?/g
/** What may end a string that a terminal takes for itself. */
const stringEnds = /[\u0007\u001B\u009C]/g
const invisible =
  /(?![\uFE0E\uFE0F])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u{E0000}-\u{E0FFF}]/gu
/** What no terminal gets, whoever wrote it: that of it which acts or hides. What is only unassigned is shown. */
const acting =
  /(?!\uFE0E|\uFE0F|\u200C|\u200D|\t|\n)[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
const joiners = /\u200C|\u200D/

/** The text on one line, safe to show: white space of any kind becomes a space, what is not visible goes. */
export const sanitizeLine = (text: string): string =>
  safe(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')).trim()

/** The text safe to show, its line breaks kept. */
export const sanitizeLines = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(line => safe(line.replace(/\t/g, '  ')))
    .join('\n')

/**
 * The text without escape sequences; of a string for the terminal that does not end only the beginning goes. Each end is
 * looked for once, so that very many beginnings cost no more than their number.
 */
function withoutSequences(text: string): string {
  let [kept, from, end] = ['', 0, -1]
  sequences.lastIndex = 0
  for (let found = sequences.exec(text); found !== null; found = sequences.exec(text)) {
    const [, begin] = found
    if (found.index > from) kept += text.slice(from, found.index)
    from = sequences.lastIndex
    if (begin === undefined) continue
    if (end < from) {
      stringEnds.lastIndex = from
      end = stringEnds.exec(text)?.index ?? text.length
    }
    if (text[end] === '\u001B' ? text[end + 1] === '\\' : end < text.length)
      from = end + (text[end] === '\u001B' ? 2 : 1)
    sequences.lastIndex = from
  }
  return kept + text.slice(from)
}

const safe = (text: string): string =>
  withoutSequences(text).replace(invisible, character => (joiners.test(character) ? character : ''))

/**
 * The sequences that are our own: colours; moves of the cursor and clearing, as a spinner and a live view need them; the
 * cursor, line wrapping and drawing at once, on and off; the ends of lines.
 */
const own = /(\u001B\[(?:[\d;]{0,32}m|\d{0,4}[AGJK]|\?(?:7|25|2026)[hl])|\r(?=\n|\u001B\[\?7l))/

/** A text as a terminal may get it: of all that acts on a terminal only the sequences that are our own. */
export const forTerminal = (text: string): string =>
  text.search(acting) === -1
    ? text
    : text
        .split(own)
        .map((piece, index) => (index % 2 === 1 ? piece : withoutSequences(piece).replace(acting, '')))
        .join('')
