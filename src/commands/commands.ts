import { api } from './api.ts'
import { apply } from './apply.ts'
import { authCommands } from './auth.ts'
import type { Command } from './command.ts'
import { configCommands } from './config.ts'
import { deleteQueue } from './delete.ts'
import { diff } from './diff.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import { exportQueue } from './export.ts'
import { gate } from './gate.ts'
import { guard } from './guard.ts'
import { match } from './match.ts'
import { metricsCheck } from './metrics-check.ts'
import { metricsWatch } from './metrics-watch.ts'
import { check } from './queue-check.ts'
import { report } from './report.ts'
import { sandboxCommands } from './sandbox.ts'
import { simulate } from './simulate.ts'
import { submitAndWait } from './submit.ts'
import { wait } from './wait.ts'
import { watch } from './watch.ts'

/** The commands that are written by hand. */
export const commands: readonly Command[] = [
  submitAndWait,
  wait,
  explain,
  watch,
  exportQueue,
  diff,
  apply,
  check,
  deleteQueue,
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
