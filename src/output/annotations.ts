import { sanitizeLine } from './sanitize.ts'
import { escapeWorkflowCommands } from './workflow-commands.ts'

/** A note for GitHub's runner to put on a file of a pull request, or on the run where it names no file. */
export interface Annotation {
  readonly level: 'warning' | 'notice'
  readonly file?: string
  readonly title: string
  readonly message: string
}

/** What may not stand in a workflow command as it is; `%` first, so that nothing is escaped twice. */
const escapes = { data: /[%\r\n]/g, property: /[%\r\n:,]/g }

const escaped = (text: string, where: keyof typeof escapes): string =>
  text.replace(
    escapes[where],
    character => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )

/**
 * Annotations as workflow commands, a line each: the one thing that we print for a runner to act on. Every text in
 * them is on one line, escaped as GitHub documents it, and holds no command of any runner itself. They are bytes: text
 * is what the program makes harmless in a CI job, so nothing else gets through that way by mistake.
 */
export const annotationLines = (annotations: readonly Annotation[]): Uint8Array =>
  new TextEncoder().encode(annotations.map(lineOf).join(''))

function lineOf({ level, file, title, message }: Annotation): string {
  const safe = (text: string) => escapeWorkflowCommands(sanitizeLine(text))
  const named = { file: safe(file ?? ''), title: safe(title) }
  const properties = Object.entries(named)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${escaped(value, 'property')}`)
  return `::${level} ${properties.join(',')}::${escaped(safe(message), 'data')}\n`
}
