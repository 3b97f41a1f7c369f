/**
 * Matches terminal sequences. Text from outside may show visible characters and the joiners inside emoji on a
 * terminal; control characters, escape sequences, bidirectional and invisible characters are removed
 * (docs/reference/cli.md, "Text from the service").
 */
const sequences =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])|\u001B[ -/]*[0-~]?/g
/** Matches the end of a control string, which a terminal does not show. */
const stringEnds = /[\u0007\u001B\u009C]/g
// Patterns with character properties take 0.2 to 0.5 ms to create. They are created where they are used, and
// ASCII texts do not need them.
const createInvisiblePattern = () =>
  /(?![\uFE0E\uFE0F])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u{E0000}-\u{E0FFF}]/gu
/** Returns a pattern for characters that control a terminal or hide text. Unassigned characters are shown. */
const createActivePattern = () =>
  /(?!\uFE0E|\uFE0F|\u200C|\u200D|\t|\n)[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
/** Matches a text of visible ASCII characters, which is safe to show. */
const visibleAscii = /^[ -~]*$/
const joiners = /\u200C|\u200D/

/** Returns a text on one line that is safe to show: white space is a space, and invisible characters are removed. */
export const sanitizeLine = (text: string): string => sanitizeSpaces(text).trim()

/** Returns what `sanitizeLine` returns, with the spaces at both ends. */
export const sanitizeSpaces = (text: string): string =>
  removeInvisible(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' '))

/** Returns a text that is safe to show, with its line breaks. */
export const sanitizeLines = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(line => removeInvisible(line.replace(/\t/g, '  ')))
    .join('\n')

/** Removes escape sequences, in linear time; of a control string without an end, only its beginning. */
function removeSequences(text: string): string {
  let [kept, from, end] = ['', 0, -1]
  sequences.lastIndex = 0
  for (let match = sequences.exec(text); match !== null; match = sequences.exec(text)) {
    const [, stringStart] = match
    if (match.index > from) kept += text.slice(from, match.index)
    from = sequences.lastIndex
    if (stringStart === undefined) continue
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

const removeInvisible = (text: string): string =>
  visibleAscii.test(text)
    ? text
    : removeSequences(text).replace(createInvisiblePattern(), character =>
        joiners.test(character) ? character : '',
      )

/**
 * Matches the terminal sequences that mergeq writes itself: colors; cursor movement and clearing for the
 * spinner and the live view; cursor visibility, line wrapping, the alternate screen and synchronized output;
 * links; the bell, alone; line ends.
 */
const ownSequences =
  /(\u001B\[(?:[\d;]{0,32}m|\d{0,4}[AGHJK]|\?(?:7|25|1049|2026)[hl])|\u001B\]8;;(?:https?:\/\/[-\w/#&.:=?%@~]+)?\u0007|^\u0007$|\r(?=\n|\u001B\[\?7l))/u

/** Returns a text for a terminal: of what controls it, only the sequences that mergeq writes itself are left. */
export const forTerminal = (text: string): string =>
  text.search(createActivePattern()) === -1
    ? text
    : text
        .split(ownSequences)
        .map((piece, index) =>
          index % 2 === 1 ? piece : removeSequences(piece).replace(createActivePattern(), ''),
        )
        .join('')

/** Matches the beginning of a workflow command of GitHub Actions, Azure Pipelines or TeamCity. */
const commandPrefix = /::(?=[\w-]+(?: [^\n]*?)?::)|##(?=\[|vso\[|teamcity\[)/g

/** Returns whether a text begins like JSON, or like a further part of a JSON list. */
export const isJson = (text: string): boolean => /^\s*(?:,\s*)?[[{]|^\s*\],\s*"/.test(text)

/**
 * Returns the text with workflow commands disabled, so that a CI runner executes none
 * (docs/reference/cli.md, "Workflow commands"). In JSON the first character of a command is escaped and the
 * text parses to the same value; in plain text a space breaks the command.
 */
export const escapeWorkflowCommands = (text: string, asJson = isJson(text)): string =>
  text.replace(commandPrefix, ([first = '']) =>
    asJson ? `\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}${first}` : `${first} ${first}`,
  )

/** An annotation of GitHub Actions, on a file of the pull request or, without `file`, on the workflow run. */
export interface Annotation {
  readonly level: 'warning' | 'notice'
  readonly file?: string
  readonly title: string
  readonly message: string
}

/** Matches the characters that are escaped in workflow commands; a single pass escapes no character twice. */
const escapes = { data: /[%\r\n]/g, property: /[%\r\n:,]/g }

const escapeText = (text: string, part: keyof typeof escapes): string =>
  text.replace(
    escapes[part],
    character => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )

/**
 * Returns annotations as workflow commands, each on its own line. Every text is a single line, escaped as
 * GitHub documents it, and contains no command of any runner. The result is bytes: in a CI job, text output
 * has its workflow commands disabled and bytes do not, so no other text can reach the runner as a command.
 */
export const annotationLines = (annotations: readonly Annotation[]): Uint8Array =>
  new TextEncoder().encode(annotations.map(formatCommand).join(''))

function formatCommand({ level, file, title, message }: Annotation): string {
  const safe = (text: string) => escapeWorkflowCommands(sanitizeLine(text))
  const values = { file: safe(file ?? ''), title: safe(title) }
  const properties = Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${escapeText(value, 'property')}`)
  return `::${level} ${properties.join(',')}::${escapeText(safe(message), 'data')}\n`
}
