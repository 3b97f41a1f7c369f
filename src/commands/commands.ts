import { api } from './api.ts'
import { authCommands } from './auth.ts'
import { metricsCheck } from './check.ts'
import type { Command } from './command.ts'
import { configCommands } from './config.ts'
import { deleteQueue } from './delete.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import { guard } from './guard.ts'
import { match } from './match.ts'
import { metricsWatch } from './metrics-watch.ts'
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
  deleteQueue,
  metricsCheck,
  metricsWatch,
  report,
  match,
  guard,
  api,
  ...authCommands,
  ...configCommands,
  doctor,
  ...sandboxCommands,
  simulate,
]
