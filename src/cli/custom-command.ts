import type { Operation, Params } from '../api/operation.ts'
import type { Command, CommandDescription, CommandRequest, CommandRunner, Confirmation } from './command.ts'
import { confirm, printDryRun } from './confirm.ts'
import type { CommandContext } from './context.ts'
import type { Inputs, InputValues } from './inputs.ts'

/** A request of an operation whose params are read from the command line. */
export interface RequestDefinition<F extends Inputs = Inputs> {
  readonly command: string
  readonly operation: Operation
  readonly inputs: F
  check?(values: InputValues<F>, overrides: readonly string[]): void
}

/** One request of a command. */
export type Invocation<F extends Inputs = Inputs> = CommandRequest<InputValues<F>>

/** A command with its own logic, before it becomes a `Command` with `run`. */
interface CustomCommand<F extends Inputs, R extends Inputs> extends CommandDescription {
  readonly inputs: F
  readonly operation?: Operation
  readonly request?: RequestDefinition<R>
  readonly readsRequests?: boolean
  readonly operations?: readonly Operation[] | 'any'
  readonly changesSettings?: boolean
  validate?(values: InputValues<F>, context: CommandContext): void
  confirm?(
    runs: readonly InputValues<R>[],
    values: InputValues<F>,
    context: CommandContext,
  ): Confirmation | undefined | Promise<Confirmation | undefined>
  dryRun?(
    values: InputValues<F>,
    context: CommandContext,
    invocations: readonly Invocation<R>[],
  ): Promise<number>
  run(
    values: InputValues<F>,
    context: CommandContext,
    invocations: readonly Invocation<R>[],
    runner: CommandRunner,
  ): Promise<number>
}

/** Defines a command with its own logic. */
export const defineCustomCommand = <const F extends Inputs, const R extends Inputs = Inputs>(
  custom: CustomCommand<F, R>,
): Command<Params, R, F> => {
  const { request, inputs, operation, readsRequests, validate, dryRun, run, ...description } = custom
  const { confirm: question, ...rest } = description
  return {
    ...rest,
    ...(request === undefined
      ? {}
      : {
          operation: request.operation,
          params: Object.keys(request.inputs),
          inputs: request.inputs,
          isComposition: operation === undefined,
          ...(request.check === undefined ? {} : { check: request.check }),
        }),
    options: inputs,
    async run(values, context) {
      validate?.(values, context)
      const requests = (
        request === undefined || readsRequests ? [] : await context.requests()
      ) as readonly Invocation<R>[]
      if (context.options.dryRun) {
        if (dryRun !== undefined) return dryRun(values, context, requests)
        if (request !== undefined) return printDryRun(request.operation, requests, context)
      }
      const runs = requests.map(({ values }) => values)
      await confirm(custom.command, await question?.(runs, values, context), context)
      return run(values, context, requests, context.runCommandLine)
    },
  }
}
