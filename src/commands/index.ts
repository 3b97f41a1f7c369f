import { type Operation, operationMethod, type Route } from '../api/operation.ts'
import type {
  CommandDefinition,
  CommandDescription,
  CommandRunner,
  OperationCommand,
  RequestDefinition,
} from '../cli/command.ts'
import { type CommandContext, createContext, type SecretOutput } from '../cli/context.ts'
import type { Inputs, OptionDefinition, ParsedArgs } from '../cli/inputs.ts'
import { readInputs } from '../cli/invocation.ts'
import { runOperation } from '../cli/run-operation.ts'
import { parseContext, type ResolveOptions } from '../config/config.ts'
import type { Host } from '../host/host.ts'
import { api } from './api.ts'
import { authCommands } from './auth.ts'
import { configCommands } from './config.ts'
import { doctor } from './doctor.ts'
import { gate } from './flaky/gate.ts'
import { flakyGet } from './flaky/get.ts'
import { flakyList } from './flaky/list.ts'
import { match } from './flaky/match.ts'
import { report } from './flaky/report.ts'
import { guard } from './guard.ts'
import { metricsCheck } from './metrics/check.ts'
import { metricsWatch } from './metrics/watch.ts'
import { metrics } from './metrics.ts'
import { prCancel } from './pr/cancel.ts'
import { explain } from './pr/explain.ts'
import { prGet } from './pr/get.ts'
import { prRestart } from './pr/restart.ts'
import { prSubmit } from './pr/submit.ts'
import { prTargets } from './pr/targets.ts'
import { prTesting } from './pr/testing.ts'
import { wait } from './pr/wait.ts'
import { apply } from './queue/apply.ts'
import { check } from './queue/check.ts'
import { queueCreate } from './queue/create.ts'
import { queueDelete } from './queue/delete.ts'
import { diff } from './queue/diff.ts'
import { queueDrain } from './queue/drain.ts'
import { exportQueue } from './queue/export.ts'
import { queueGet } from './queue/get.ts'
import { queuePause } from './queue/pause.ts'
import { queueResume } from './queue/resume.ts'
import { queueUpdate } from './queue/update.ts'
import { watch } from './queue/watch.ts'
import { sandboxCommands } from './sandbox/sandbox.ts'
import { simulate } from './sandbox/simulate.ts'

const setOption: OptionDefinition = {
  syntax: '--set <path=value>',
  summary: 'Add a field to the body: JSON or text, dots make nesting (repeatable)',
  variadic: true,
}

/** A command as the parser and help use it. */
export interface RegisteredCommand
  extends CommandDescription,
    Pick<CommandDefinition, 'toleratesErrors' | 'propagatesExitCode'> {
  /** All options and arguments, those of the request that the command is built on included. */
  readonly words: readonly OptionDefinition[]
  /** The operations that the command sends, in the order of its work. */
  readonly operations: readonly Operation[] | 'any'
  /** The route of its operation, where the command is an operation. */
  readonly route?: Route
  run(args: ParsedArgs, host: Host, secrets: SecretOutput, runner: CommandRunner): Promise<number>
}

const definitionsOf = (inputs: Inputs): readonly OptionDefinition[] =>
  Object.values(inputs).flatMap(({ definitions }) => definitions)

/** `--set`, for an operation with a body. */
const setOptionOf = ({ route }: Operation): readonly OptionDefinition[] =>
  operationMethod(route) === 'POST' ? [setOption] : []

const registerOperation = (command: OperationCommand): RegisteredCommand => ({
  ...command,
  words: [...definitionsOf(command.inputs), ...setOptionOf(command.operation)],
  operations: [command.operation],
  route: command.operation.route,
  run: (args, host, secrets) =>
    withContext(args, host, secrets, purposeOf(command), context => runOperation(command, context)),
})

const registerCommand = (command: CommandDefinition): RegisteredCommand => {
  const { operation, operations = [], request, inputs } = command
  return {
    ...command,
    words: [
      ...definitionsOf(request?.inputs ?? {}),
      ...definitionsOf(inputs),
      ...(request === undefined ? [] : setOptionOf(request.operation)),
    ],
    operations:
      operations === 'any' ? 'any' : [...(request === undefined ? [] : [request.operation]), ...operations],
    ...(operation === undefined ? {} : { route: operation.route }),
    run: (args, host, secrets, runner) =>
      withContext(args, host, secrets, purposeOf(request, command.changesSettings), async context =>
        command.run(await readInputs(inputs, args, parseContext(context.settings, context)), context, runner),
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

const register = (command: OperationCommand | CommandDefinition): RegisteredCommand =>
  'run' in command ? registerCommand(command) : registerOperation(command)

const commands: readonly (OperationCommand | CommandDefinition)[] = [
  prSubmit,
  prCancel,
  prRestart,
  prGet,
  prTargets,
  prTesting,
  wait,
  explain,
  queueCreate,
  queueGet,
  queueUpdate,
  queueDelete,
  queuePause,
  queueResume,
  queueDrain,
  watch,
  exportQueue,
  diff,
  apply,
  check,
  metrics,
  metricsCheck,
  metricsWatch,
  flakyList,
  flakyGet,
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

/** Every command, group by group, in the order in which help lists them. */
export const allCommands: readonly RegisteredCommand[] = commands.map(register)
