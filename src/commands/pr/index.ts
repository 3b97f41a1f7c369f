import type { Command } from '../../run/command.ts'
import { prCancelCommand } from './cancel.ts'
import { prExplainCommand } from './explain.ts'
import { prGetCommand } from './get.ts'
import { prLandCommand } from './land.ts'
import { prListCommand } from './list.ts'
import { prRestartCommand } from './restart.ts'
import { prSubmitCommand } from './submit.ts'
import { prTargetsCommand } from './targets.ts'
import { prTestingCommand } from './testing.ts'
import { prWaitCommand } from './wait.ts'

export const prCommands: readonly Command[] = [
  prSubmitCommand,
  prCancelCommand,
  prRestartCommand,
  prGetCommand,
  prListCommand,
  prTargetsCommand,
  prTestingCommand,
  prWaitCommand,
  prLandCommand,
  prExplainCommand,
]
