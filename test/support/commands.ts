import { loadCommands } from '../../src/run/command.ts'
import { commandGroups } from '../../src/commands/index.ts'

/** Every command that can be typed, group by group, in the order in which help lists them. */
export const allCommands = await loadCommands(commandGroups)
