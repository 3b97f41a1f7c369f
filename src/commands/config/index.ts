import type { CommandModule } from '../../cli/registered-command.ts'
import { configGetCommand } from './get.ts'
import { configListCommand } from './list.ts'
import { configPathCommand } from './path.ts'
import { configSetCommand } from './set.ts'
import { configUnsetCommand } from './unset.ts'

/** The commands of `mergeq config`, in the order in which help lists them. */
export const configCommands: readonly CommandModule[] = [
  configListCommand,
  configGetCommand,
  configSetCommand,
  configUnsetCommand,
  configPathCommand,
]
