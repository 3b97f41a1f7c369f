import type { CommandDefinition } from '../cli/command.ts'
import { apiCommand } from './api.ts'
import { authLoginCommand } from './auth/login.ts'
import { authLogoutCommand } from './auth/logout.ts'
import { authStatusCommand } from './auth/status.ts'
import { authTokenCommand } from './auth/token.ts'
import { configGetCommand } from './config/get.ts'
import { configListCommand } from './config/list.ts'
import { configPathCommand } from './config/path.ts'
import { configSetCommand } from './config/set.ts'
import { configUnsetCommand } from './config/unset.ts'
import { doctorCommand } from './doctor.ts'
import { flakyGateCommand } from './flaky/gate.ts'
import { flakyMatchCommand } from './flaky/match.ts'
import { flakyReportCommand } from './flaky/report.ts'
import { guardCommand } from './guard.ts'
import { metricsCheckCommand } from './metrics/check.ts'
import { metricsWatchCommand } from './metrics/watch.ts'
import { prExplainCommand } from './pr/explain.ts'
import { submitCommand } from './pr/submit.ts'
import { prWaitCommand } from './pr/wait.ts'
import { queueApplyCommand } from './queue/apply.ts'
import { queueCheckCommand } from './queue/check.ts'
import { deleteQueueCommand } from './queue/delete.ts'
import { queueDiffCommand } from './queue/diff.ts'
import { queueExportCommand } from './queue/export.ts'
import { queueWatchCommand } from './queue/watch.ts'
import { sandboxExecCommand } from './sandbox/exec.ts'
import { sandboxSimulateCommand } from './sandbox/simulate.ts'
import { sandboxStartCommand } from './sandbox/start.ts'
import { sandboxTourCommand } from './sandbox/tour.ts'

/** The commands that are written by hand. */
export const customCommands: readonly CommandDefinition[] = [
  submitCommand,
  prWaitCommand,
  prExplainCommand,
  queueWatchCommand,
  queueExportCommand,
  queueDiffCommand,
  queueApplyCommand,
  queueCheckCommand,
  deleteQueueCommand,
  metricsCheckCommand,
  metricsWatchCommand,
  flakyReportCommand,
  flakyMatchCommand,
  flakyGateCommand,
  guardCommand,
  apiCommand,
  authLoginCommand,
  authLogoutCommand,
  authStatusCommand,
  authTokenCommand,
  configListCommand,
  configGetCommand,
  configSetCommand,
  configUnsetCommand,
  configPathCommand,
  doctorCommand,
  sandboxStartCommand,
  sandboxExecCommand,
  sandboxTourCommand,
  sandboxSimulateCommand,
]
