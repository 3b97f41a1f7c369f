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
