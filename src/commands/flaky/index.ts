import type { Command } from '../../run/command.ts'
import { flakyGateCommand } from './gate.ts'
import { flakyGetCommand } from './get.ts'
import { flakyLinkCommand } from './link.ts'
import { flakyListCommand } from './list.ts'
import { flakyMatchCommand } from './match.ts'
import { flakyQuarantinedCommand } from './quarantined.ts'
import { flakyReportCommand } from './report.ts'
import { flakyUnhealthyCommand } from './unhealthy.ts'

export const flakyCommands: readonly Command[] = [
  flakyListCommand,
  flakyGetCommand,
  flakyQuarantinedCommand,
  flakyUnhealthyCommand,
  flakyLinkCommand,
  flakyReportCommand,
  flakyMatchCommand,
  flakyGateCommand,
]
