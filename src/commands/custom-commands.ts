import type { CommandDefinition } from '../cli/command.ts'
import { api } from './api.ts'
import { authCommands } from './auth.ts'
import { configCommands } from './config.ts'
import { doctor } from './doctor.ts'
import { gate } from './flaky/gate.ts'
import { match } from './flaky/match.ts'
import { report } from './flaky/report.ts'
import { guard } from './guard.ts'
import { metricsCheck } from './metrics/check.ts'
import { metricsWatch } from './metrics/watch.ts'
import { explain } from './pr/explain.ts'
import { submitCommand } from './pr/submit.ts'
import { wait } from './pr/wait.ts'
import { apply } from './queue/apply.ts'
import { check } from './queue/check.ts'
import { deleteQueueCommand } from './queue/delete.ts'
import { diff } from './queue/diff.ts'
import { exportQueue } from './queue/export.ts'
import { watch } from './queue/watch.ts'
import { sandboxCommands } from './sandbox/sandbox.ts'
import { simulate } from './sandbox/simulate.ts'

/** The commands that are written by hand. */
export const customCommands: readonly CommandDefinition[] = [
  submitCommand,
  wait,
  explain,
  watch,
  exportQueue,
  diff,
  apply,
  check,
  deleteQueueCommand,
  metricsCheck,
  metricsWatch,
  report,
  match,
  gate,
  guard,
  api,
  ...authCommands,
  ...configCommands,
  doctor,
  ...sandboxCommands,
  simulate,
]
