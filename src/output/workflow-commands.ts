import { sanitizeLine } from './sanitize.ts'

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

/**
 * An annotation of GitHub Actions, on a file of the pull request or, without `file`, on the workflow run.
 */
export interface Annotation {
  readonly level: 'warning' | 'notice'
  readonly file?: string
  readonly title: string
  readonly message: string
}

/**
 * Matches the characters that are escaped in workflow commands; a single pass escapes no character twice.
 */
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
