import type { OperationCommand } from '../cli/command.ts'
import { createContext } from '../cli/context.ts'
import { runOperation } from '../cli/run-operation.ts'
import { MergeqError, toMergeqError } from '../errors.ts'
import type { Host, Output } from '../host/host.ts'
import type { Json } from '../json.ts'
import { createRedactor } from '../output/redactor.ts'
import { commonMethodOptions, methodName, ownMethodOptions, toArgs } from './method-options.ts'
import { operationCommands } from './operation-commands.ts'

/** What a client is opened with besides settings. */
export interface ClientOnlyOptions {
  readonly token?: string
  readonly signal?: AbortSignal
  /** Told what the command line says on standard error while it works: repeats, warnings, how a list ended. */
  onNotice?(text: string): void
}

/** Settings, by their flags' names in camel case. */
export interface CommonClientOptions {
  readonly [setting: string]: unknown
}

/** One operation: what would be typed as an object, the answer as `--json` prints it. Rejects with a failure. */
export type ClientMethod = (
  options?: object & { readonly set?: Readonly<Record<string, Json>> },
) => Promise<Json>

/** What is written to in the place of a terminal or a pipe. */
const memoryOutput = (write: Output['write']): Output => ({ terminal: false, columns: 80, rows: 24, write })

/** The signal of a caller, with the reason that the line knows. */
function interruptionBy(signal: AbortSignal): AbortSignal {
  const stop = new AbortController()
  const abort = () => stop.abort(new MergeqError('interrupted', 'the call was aborted.'))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return stop.signal
}

/**
 * The operations of the service as methods: the line that the command line runs, with its settings, repeats, limits and
 * failures. What is not given is found where CLI.md section 3 says. What a failed change or a cut list left is in the
 * failure's `document`.
 */
export function createOperationMethods(
  options: ClientOnlyOptions & CommonClientOptions,
  host: Host,
): Readonly<Record<string, ClientMethod>> {
  const { token, signal, onNotice, ...rest } = options
  const common = toArgs('createClient', rest, commonMethodOptions)
  const { hide, redact, redactBytes } = createRedactor()
  if (token !== undefined) hide(token.trim())
  const surroundings: Host = {
    ...host,
    env: token === undefined ? host.env : { ...host.env, MERGEQ_TOKEN: token },
    err: memoryOutput(async text => onNotice?.(redact(String(text)).trimEnd())),
    interrupted: signal === undefined ? host.interrupted : interruptionBy(signal),
  }

  async function call(
    command: OperationCommand,
    { set = {}, ...own }: NonNullable<Parameters<ClientMethod>[0]>,
  ): Promise<Json> {
    const args = new Map([
      ...common,
      ...toArgs(methodName(command), own, [...ownMethodOptions(command), ...commonMethodOptions]),
    ])
    for (const flag of ['--json', '--yes', '--no-input']) args.set(flag, ['true'])
    const overrides = Object.entries(set).map(([path, value]) => `${path}=${JSON.stringify(value)}`)
    if (overrides.length > 0) args.set('--set', overrides)
    const purpose = { changes: command.operation.effect !== false, changesSettings: false }
    const utf8 = new TextDecoder()
    let printed = ''
    const out = memoryOutput(async text => {
      printed += typeof text === 'string' ? text : utf8.decode(text, { stream: true })
    })
    const context = await createContext(
      args,
      { ...surroundings, out },
      { hide, redact, redactBytes, reveal: async () => undefined },
      purpose,
    )
    const failures: MergeqError[] = []
    try {
      const logger = { ...context.logger, error: async (failure: MergeqError) => void failures.push(failure) }
      await runOperation(command, { ...context, logger })
    } catch (error) {
      failures.push(toMergeqError(error))
    } finally {
      await context.close()
    }
    const document: Json = printed === '' ? null : JSON.parse(printed)
    for (const failure of failures) {
      const { details, message } = failure
      throw Object.assign(failure, details, { name: 'MergeqError', message: redact(message), document })
    }
    return document
  }
  return Object.fromEntries(
    operationCommands.map((command): readonly [string, ClientMethod] => [
      methodName(command),
      (options = {}) => call(command, options),
    ]),
  )
}
