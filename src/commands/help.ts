import type { DocumentationCommand } from '../cli/command.ts'
import { topics } from '../cli/help.ts'

const topicNames = Object.keys(topics)

export const helpCommand: DocumentationCommand = {
  command: 'help',
  summary: 'Show help for a command or topic',
  definitions: [
    {
      name: 'word',
      variadic: true,
      summary: `Command or topic (${topicNames.join(', ')})`,
      suggestions: topicNames,
    },
  ],
  operations: [],
  documentation: 'help',
  output: {
    table: 'the help text, as wide as the terminal, at most 100 columns',
    json: 'the same information as JSON: commands, arguments, flags, choices, defaults, examples and exit codes',
    ndjson: 'one command per line',
  },
  examples: [
    'mergeq help pr submit',
    'mergeq help exit-codes',
    "mergeq help --json | jq -r '.commands[].command'",
  ],
}
