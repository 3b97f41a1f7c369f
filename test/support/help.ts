import { documentCommand } from '../../src/cli/command-doc.ts'
import { allCommands } from './commands.ts'

export const commandDocs = allCommands.map(documentCommand)

export const examples = commandDocs.flatMap(({ command, examples }) =>
  examples.map(example => ({ command, ...example })),
)
