import type { Command } from '../../run/command.ts'
import { sandboxExecCommand } from './exec.ts'
import { sandboxShellCommand } from './shell.ts'
import { sandboxStartCommand } from './start.ts'
import { sandboxTourCommand } from './tour.ts'

export const sandboxCommands: readonly Command[] = [
  sandboxStartCommand,
  sandboxExecCommand,
  sandboxShellCommand,
  sandboxTourCommand,
]
