import { type Operation, operationMethod } from '../api/operation.ts'
import type { CommandDefinition, OperationCommand } from '../cli/command.ts'
import { type CommandContext, createContext, type SecretOutput } from '../cli/context.ts'
import type { Inputs, OptionDefinition } from '../cli/inputs.ts'
import type { RequestDefinition } from '../cli/invocation.ts'
import { runOperation, runWithPrelude } from '../cli/prelude.ts'
import type { RegisteredCommand, RunnableCommand } from '../cli/registered-command.ts'
import type { ParsedArgs } from '../config/args.ts'
import type { ResolveOptions } from '../config/config.ts'
import type { Host } from '../host/host.ts'
import { apiCommand } from './api.ts'
import { authLoginCommand } from './auth/login.ts'
import { authLogoutCommand } from './auth/logout.ts'
import { authStatusCommand } from './auth/status.ts'
import { authTokenCommand } from './auth/token.ts'
import { completionCommand } from './completion.ts'
import { configGetCommand } from './config/get.ts'
import { configListCommand } from './config/list.ts'
import { configPathCommand } from './config/path.ts'
import { configSetCommand } from './config/set.ts'
import { configUnsetCommand } from './config/unset.ts'
import { doctorCommand } from './doctor.ts'
import { flakyGateCommand } from './flaky/gate.ts'
import { flakyGetCommand } from './flaky/get.ts'
import { flakyListCommand } from './flaky/list.ts'
import { flakyMatchCommand } from './flaky/match.ts'
import { flakyReportCommand } from './flaky/report.ts'
import { guardCommand } from './guard.ts'
import { helpCommand } from './help.ts'
import { metricsCheckCommand } from './metrics/check.ts'
import { metricsWatchCommand } from './metrics/watch.ts'
import { metricsCommand } from './metrics.ts'
import { prCancelCommand } from './pr/cancel.ts'
import { prExplainCommand } from './pr/explain.ts'
import { prGetCommand } from './pr/get.ts'
import { prRestartCommand } from './pr/restart.ts'
import { prSubmitCommand } from './pr/submit.ts'
import { prTargetsCommand } from './pr/targets.ts'
import { prTestingCommand } from './pr/testing.ts'
import { prWaitCommand } from './pr/wait.ts'
import { queueApplyCommand } from './queue/apply.ts'
import { queueCheckCommand } from './queue/check.ts'
import { queueCreateCommand } from './queue/create.ts'
import { queueDeleteCommand } from './queue/delete.ts'
import { queueDiffCommand } from './queue/diff.ts'
import { queueDrainCommand } from './queue/drain.ts'
import { queueExportCommand } from './queue/export.ts'
import { queueGetCommand } from './queue/get.ts'
import { queuePauseCommand } from './queue/pause.ts'
import { queueResumeCommand } from './queue/resume.ts'
import { queueUpdateCommand } from './queue/update.ts'
import { queueWatchCommand } from './queue/watch.ts'
import { sandboxExecCommand } from './sandbox/exec.ts'
import { sandboxSimulateCommand } from './sandbox/simulate.ts'
import { sandboxStartCommand } from './sandbox/start.ts'
import { sandboxTourCommand } from './sandbox/tour.ts'

const setOption: OptionDefinition = {
  syntax: '--set <path=value>',
  summary: 'Add a field to the body: JSON or text, dots make nesting (repeatable)',
  variadic: true,
}

const definitionsOf = (inputs: Inputs): readonly OptionDefinition[] =>
  Object.values(inputs).flatMap(({ definitions }) => definitions)

/** `--set`, for an operation with a body. */
const setOptionOf = ({ route }: Operation): readonly OptionDefinition[] =>
  operationMethod(route) === 'POST' ? [setOption] : []

const registerOperation = (command: OperationCommand): RunnableCommand => ({
  ...command,
  definitions: [...definitionsOf(command.inputs), ...setOptionOf(command.operation)],
  operations: [command.operation],
  route: command.operation.route,
  run: (args, host, secrets) =>
    withContext(args, host, secrets, purposeOf(command), context => runOperation(command, context)),
})

const registerCommand = (command: CommandDefinition): RunnableCommand => {
  const { operation, operations = [], request, inputs } = command
  return {
    ...command,
    definitions: [
      ...definitionsOf(request?.inputs ?? {}),
      ...definitionsOf(inputs),
      ...(request === undefined ? [] : setOptionOf(request.operation)),
    ],
    operations:
      operations === 'any' ? 'any' : [...(request === undefined ? [] : [request.operation]), ...operations],
    ...(operation === undefined ? {} : { route: operation.route }),
    run: (args, host, secrets, runner) =>
      withContext(args, host, secrets, purposeOf(request, command.changesSettings), context =>
        runWithPrelude(command, context, runner),
      ),
  }
}

const purposeOf = (request: RequestDefinition | undefined, changesSettings = false) => ({
  changes: request !== undefined && request.operation.effect !== false,
  changesSettings,
})

async function withContext(
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  purpose: Omit<ResolveOptions, 'notify'>,
  work: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const context = await createContext(args, host, secrets, purpose)
  try {
    return await work(context)
  } finally {
    await context.close()
  }
}

const register = (command: OperationCommand | CommandDefinition): RunnableCommand =>
  'run' in command ? registerCommand(command) : registerOperation(command)

const commands: readonly (OperationCommand | CommandDefinition)[] = [
  prSubmitCommand,
  prCancelCommand,
  prRestartCommand,
  prGetCommand,
  prTargetsCommand,
  prTestingCommand,
  prWaitCommand,
  prExplainCommand,
  queueCreateCommand,
  queueGetCommand,
  queueUpdateCommand,
  queueDeleteCommand,
  queuePauseCommand,
  queueResumeCommand,
  queueDrainCommand,
  queueWatchCommand,
  queueExportCommand,
  queueDiffCommand,
  queueApplyCommand,
  queueCheckCommand,
  metricsCommand,
  metricsCheckCommand,
  metricsWatchCommand,
  flakyListCommand,
  flakyGetCommand,
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

/** Every command, group by group, in the order in which help lists them. */
export const allCommands: readonly RegisteredCommand[] = [
  ...commands.map(register),
  completionCommand,
  helpCommand,
]
