/** What a CI system takes as a command when it stands in a job's output: GitHub's, Azure's and TeamCity's. */
const commands = /::(?=[\w-]+(?: [^\n]*?)?::)|##(?=\[|vso\[|teamcity\[)/g

/**
 * The text with nothing in it that a CI runner would take as a command (CLI.md section 4.12). In JSON the first
 * character of one is escaped, so that it parses back to the same value; in plain text a space breaks it.
 */
export const harmless = (text: string): string =>
  text.replace(commands, ([first = '']) =>
    /^\s*[[{]/.test(text)
      ? `\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}${first}`
      : `${first} ${first}`,
  )
