import type { Command } from '../../cli/command.ts'
import { queueApplyCommand } from './apply.ts'
import { queueCheckCommand } from './check.ts'
import { queueCreateCommand } from './create.ts'
import { queueDeleteCommand } from './delete.ts'
import { queueDiffCommand } from './diff.ts'
import { queueDrainCommand } from './drain.ts'
import { queueExportCommand } from './export.ts'
import { queueGetCommand } from './get.ts'
import { queueListCommand } from './list.ts'
import { queuePauseCommand } from './pause.ts'
import { queueReportCommand } from './report.ts'
import { queueResumeCommand } from './resume.ts'
import { queueRunsCommand } from './runs.ts'
import { queueUpdateCommand } from './update.ts'
import { queueWaitCommand } from './wait.ts'
import { queueWatchCommand } from './watch.ts'

export const queueCommands: readonly Command[] = [
  queueCreateCommand,
  queueGetCommand,
  queueListCommand,
  queueUpdateCommand,
  queueDeleteCommand,
  queuePauseCommand,
  queueResumeCommand,
  queueDrainCommand,
  queueWaitCommand,
  queueWatchCommand,
  queueRunsCommand,
  queueReportCommand,
  queueExportCommand,
  queueDiffCommand,
  queueApplyCommand,
  queueCheckCommand,
]
