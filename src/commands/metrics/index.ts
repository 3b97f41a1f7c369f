import type { CommandModule } from '../../cli/registered-command.ts'
import { metricsCommand } from '../metrics.ts'
import { metricsCheckCommand } from './check.ts'
import { metricsWatchCommand } from './watch.ts'

/** The commands of `mergeq metrics`, in the order in which help lists them. */
export const metricsCommands: readonly CommandModule[] = [
  metricsCommand,
  metricsCheckCommand,
  metricsWatchCommand,
]
