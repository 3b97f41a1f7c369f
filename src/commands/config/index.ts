import type { Command } from '../../run/command.ts'
import { configGetCommand } from './get.ts'
import { configListCommand } from './list.ts'
import { configPathCommand } from './path.ts'
import { configSetCommand } from './set.ts'
import { configUnsetCommand } from './unset.ts'

export const configCommands: readonly Command[] = [
  configListCommand,
  configGetCommand,
  configSetCommand,
  configUnsetCommand,
  configPathCommand,
]
