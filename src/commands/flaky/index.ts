import type { AnyCommand } from '../../cli/command.ts'
import { flakyGateCommand } from './gate.ts'
import { flakyGetCommand } from './get.ts'
import { flakyLinkCommand } from './link.ts'
import { flakyListCommand, flakyQuarantinedCommand, flakyUnhealthyCommand } from './list.ts'
import { flakyMatchCommand } from './match.ts'
import { flakyReportCommand } from './report.ts'

export const flakyCommands: readonly AnyCommand[] = [
  flakyListCommand,
  flakyGetCommand,
  flakyQuarantinedCommand,
  flakyUnhealthyCommand,
  flakyLinkCommand,
  flakyReportCommand,
  flakyMatchCommand,
  flakyGateCommand,
]
