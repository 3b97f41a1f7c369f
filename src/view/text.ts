/**
 * What may reach a terminal out of text that came from outside: everything that is visible, and the joiners inside
 * emoji. Control characters, escape sequences, bidirectional and invisible characters go (CLI.md section 4.8).
 */
const sequences =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])(?:[^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C))?|\u001B[ -/]*[0-~]?/g
const invisible =
  /(?![\uFE0E\uFE0F])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u{E0000}-\u{E0FFF}]/gu
const joiners = /\u200C|\u200D/

/** The text on one line, safe to show: white space of any kind becomes a space, what is not visible goes. */
export const oneLine = (text: string): string =>
  safe(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')).trim()

/** The text safe to show, its line breaks kept. */
export const manyLines = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(line => safe(line.replace(/\t/g, '  ')))
    .join('\n')

const safe = (text: string): string =>
  text.replace(sequences, '').replace(invisible, character => (joiners.test(character) ? character : ''))
