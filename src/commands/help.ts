import { topicNames } from '../cli/help/topic-names.ts'
import type { DocumentationCommand } from '../cli/registered-command.ts'

/** `mergeq help`: prints the help of a command, a group or a topic, or of mergeq as a whole. */
export const helpCommand: DocumentationCommand = {
  command: 'help',
  summary: 'Print the help of a command, or a topic',
  inputs: {},
  definitions: [
    {
      name: 'word',
      variadic: true,
      summary: `A command, or one of ${topicNames.join(', ')}; nothing is all of mergeq`,
      suggestions: topicNames,
    },
  ],
  operations: [],
  documentation: 'help',
  output: {
    table: 'the help, no wider than the terminal or 100 columns',
    json: 'the same as data: commands, arguments, flags, choices, defaults, examples, exit codes',
    ndjson: 'one command a line',
  },
  examples: [
    'mergeq help pr submit',
    'mergeq help exit-codes',
    "mergeq help --json | jq -r '.commands[].command'",
  ],
}
