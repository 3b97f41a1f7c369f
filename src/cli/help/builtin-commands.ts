import type { DocumentedCommand } from './command-doc.ts'

/** The shells that have a completion script. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/** The topics of `mergeq help <topic>`. */
export const topicNames = ['exit-codes', 'environment', 'formatting'] as const
export type Topic = (typeof topicNames)[number]

/** The two commands that tell of the others: they stand in the tree like any, and print from it. */
export const builtinCommands = [
  {
    command: 'completion',
    summary: 'Print the completion script of a shell',
    inputs: {},
    words: [{ syntax: '<shell>', summary: `One of ${shells.join(', ')}`, choices: shells }],
    operations: [],
    output: 'the script, which is also in the folder completions of the package',
    examples: [
      'source <(mergeq completion bash)',
      'mergeq completion zsh > "$HOME/.zfunc/_mergeq"',
      'mergeq completion fish > ~/.config/fish/completions/mergeq.fish',
      'mergeq completion powershell >> $PROFILE',
    ],
  },
  {
    command: 'help',
    summary: 'Print the help of a command, or a topic',
    inputs: {},
    words: [
      {
        syntax: '[word...]',
        summary: `A command, or one of ${topicNames.join(', ')}; nothing is all of mergeq`,
        suggestions: topicNames,
      },
    ],
    operations: [],
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
  },
] as const satisfies readonly DocumentedCommand[]
