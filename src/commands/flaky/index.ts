import type { CommandModule } from '../../cli/registered-command.ts'
import { flakyGateCommand } from './gate.ts'
import { flakyGetCommand } from './get.ts'
import { flakyListCommand } from './list.ts'
import { flakyMatchCommand } from './match.ts'
import { flakyReportCommand } from './report.ts'

/** The commands of `mergeq flaky`, in the order in which help lists them. */
export const flakyCommands: readonly CommandModule[] = [
  flakyListCommand,
  flakyGetCommand,
  flakyReportCommand,
  flakyMatchCommand,
  flakyGateCommand,
]
