/** What a CI system takes as a command when it stands in a job's output: GitHub's, Azure's and TeamCity's. */
const commands = /::(?=[\w-]+(?: [^\n]*?)?::)|##(?=\[|vso\[|teamcity\[)/g

/** Whether a text looks like JSON, or like the next part of a list in JSON, by its beginning. */
export const isJson = (text: string): boolean => /^\s*(?:,\s*)?[[{]|^\s*\],\s*"/.test(text)

/**
 * The text with nothing in it that a CI runner would take as a command (CLI.md section 4.12). In JSON the first
 * character of one is escaped, so that it parses back to the same value; in plain text a space breaks it.
 */
export const escapeWorkflowCommands = (text: string, asJson = isJson(text)): string =>
  text.replace(commands, ([first = '']) =>
    asJson ? `\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}${first}` : `${first} ${first}`,
  )
