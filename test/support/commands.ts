import { documentCommand } from '../../src/cli/command-doc.ts'
import { loadCommands } from '../../src/command/command.ts'
import { commandGroups } from '../../src/commands/index.ts'
import { formats } from '../../src/output/output-formats.ts'

/** Every command that can be typed, group by group, in the order in which help lists them. */
export const allCommands = await loadCommands(commandGroups)

/** What help says of each command. */
export const commandDocs = allCommands.map(documentCommand)

export const examples = commandDocs.flatMap(({ command, examples }) =>
  examples.map(example => ({ command, ...example })),
)

/** The option of each output format, and no option. */
export const formatFlags: readonly string[] = ['', ...formats.map(format => `-o ${format}`)]
