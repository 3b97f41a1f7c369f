import { documentCommand } from '../../src/cli/help/command-doc.ts'
import { allCommands } from './commands.ts'

export const pages = allCommands.map(documentCommand)

/** What is stored is stored on a disk: these are run by the built binary, in a shell. */
export const stores = /^(auth (login|logout|token)|config (set|unset|get|path)|guard)$/

export const examples = pages.flatMap(({ command, examples }) =>
  examples.map(example => ({ command, ...example })),
)
