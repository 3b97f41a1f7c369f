import { documentCommand } from '../../src/cli/command-doc.ts'
import { allCommands } from './commands.ts'

export const commandDocs = allCommands.map(documentCommand)

/** What is stored is stored on a disk: these are run by the built binary, in a shell. */
export const storingCommands = /^(auth (login|logout|token)|config (set|unset|get|path)|guard)$/

export const examples = commandDocs.flatMap(({ command, examples }) =>
  examples.map(example => ({ command, ...example })),
)
