import type { OperationCommand } from '../cli/command.ts'
import { createContext } from '../cli/context.ts'
import { runOperation } from '../cli/prelude.ts'
import { MergeqError, toMergeqError } from '../errors.ts'
import type { Host, Output } from '../host/host.ts'
import type { Json } from '../json.ts'
import { createRedactor } from '../output/redactor.ts'
import { commonMethodOptions, getMethodOptions, methodName, toArgs } from './method-options.ts'
import { operationCommands } from './operation-commands.ts'

/** The options of `createClient` that are no settings. */
export interface ClientOnlyOptions {
  /** The API token; by default the token that the command line would use. */
  readonly token?: string
  /** Aborts every call that is in progress. */
  readonly signal?: AbortSignal
  /** Receives each message that the command line would print on standard error, such as a warning. */
  onNotice?(text: string): void
}

/** Settings, by the names of their options in camel case: `targetBranch` for `--target-branch`. */
export interface CommonClientOptions {
  readonly [setting: string]: unknown
}

/**
 * Sends one operation. The options are those of the command in camel case; `set` adds fields to the body by
 * their dotted paths. Resolves to the value that `--json` prints, and rejects with a `MergeqError`.
 */
export type ClientMethod = (
  options?: object & { readonly set?: Readonly<Record<string, Json>> },
) => Promise<Json>

/** Returns an output that is no terminal and passes every text to `write`. */
const createOutput = (write: Output['write']): Output => ({ terminal: false, columns: 80, rows: 24, write })

/** Returns a signal that follows the signal of the caller, with an `interrupted` error as its reason. */
function toInterruption(signal: AbortSignal): AbortSignal {
  const interruption = new AbortController()
  const abort = () => interruption.abort(new MergeqError('interrupted', 'the call was aborted.'))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return interruption.signal
}

/**
 * Returns the methods of a client by name, a method for each operation of the service. The methods have the
 * settings, retries, limits and errors of the command line. Options that are left out are found as CLI.md
 * section 3 says. The `document` of an error holds the receipt of a failed change, or the part of a list that
 * was read.
 */
export function createOperationMethods(
  options: ClientOnlyOptions & CommonClientOptions,
  host: Host,
): Readonly<Record<string, ClientMethod>> {
  const { token, signal, onNotice, ...settings } = options
  const commonArgs = toArgs('createClient', settings, commonMethodOptions)
  const { hide, redact, redactBytes } = createRedactor()
  if (token !== undefined) hide(token.trim())
  const clientHost: Host = {
    ...host,
    env: token === undefined ? host.env : { ...host.env, MERGEQ_TOKEN: token },
    err: createOutput(async text => onNotice?.(redact(String(text)).trimEnd())),
    interrupted: signal === undefined ? host.interrupted : toInterruption(signal),
  }

  async function call(
    command: OperationCommand,
    { set = {}, ...methodOptions }: NonNullable<Parameters<ClientMethod>[0]>,
  ): Promise<Json> {
    const args = new Map([
      ...commonArgs,
      ...toArgs(methodName(command), methodOptions, [...getMethodOptions(command), ...commonMethodOptions]),
    ])
    for (const name of ['--json', '--yes', '--no-input']) args.set(name, ['true'])
    const overrides = Object.entries(set).map(([path, value]) => `${path}=${JSON.stringify(value)}`)
    if (overrides.length > 0) args.set('--set', overrides)
    const purpose = { changes: command.operation.effect !== false, changesSettings: false }
    const utf8 = new TextDecoder()
    let printed = ''
    const out = createOutput(async text => {
      printed += typeof text === 'string' ? text : utf8.decode(text, { stream: true })
    })
    const context = await createContext(
      args,
      { ...clientHost, out },
      { hide, redact, redactBytes, reveal: async () => undefined },
      purpose,
    )
    const errors: MergeqError[] = []
    try {
      const logger = { ...context.logger, error: async (error: MergeqError) => void errors.push(error) }
      await runOperation(command, { ...context, logger })
    } catch (error) {
      errors.push(toMergeqError(error))
    } finally {
      await context.close()
    }
    const document: Json = printed === '' ? null : JSON.parse(printed)
    const [first] = errors
    if (first !== undefined) {
      const { details, message } = first
      throw Object.assign(first, details, { name: 'MergeqError', message: redact(message), document })
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
