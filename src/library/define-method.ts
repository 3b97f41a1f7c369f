import type { BodyOverride } from '../api/body-overrides.ts'
import { type Operation, operationMethod } from '../api/operation.ts'
import type { Params, ParamValues } from '../api/param.ts'
import type { Config } from '../config/config.ts'
import { usageError } from '../errors.ts'
import type { CallClient } from './call-client.ts'
import { type CallOutcome, callService } from './call-service.ts'
import { type GivenSettings, settingReaders } from './client-options.ts'
import { type OptionReader, type OptionReaders, type OptionValues, readOptions } from './option-readers.ts'
import { checkOverrides, readSet } from './set-option.ts'
import type { Client, CommonOptions } from './types.ts'

export type MethodName = keyof Client

export type MethodOptions<M extends MethodName> = NonNullable<Parameters<Client[M]>[0]>

type OwnReaders<M extends MethodName> = {
  readonly [K in Exclude<keyof MethodOptions<M>, keyof CommonOptions | 'set'>]-?: OptionReader<unknown>
}

/** What the params of a call are made from in addition to its own options. */
export interface CallInputs {
  readonly client: CallClient
  readonly settings: Config
  readonly given: GivenSettings
  /** Milliseconds since 1970. */
  readonly now: number
  /** Whether `set` gives fields of the body. */
  readonly hasOverrides: boolean
}

type CallOptions = GivenSettings & { readonly set?: readonly BodyOverride[] | undefined }

/** The reader of `set` for an operation without a body. */
const refuseSet: typeof readSet = (_, name) => {
  throw usageError(`${name}: this operation has no body.`, 'Remove this option.')
}

const settingsIn = (options: CallOptions): GivenSettings =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(settingReaders, name)))

export interface MethodDefinition<M extends MethodName> {
  readonly name: M
  /**
   * Sends the operation. Throws a usage error for wrong options, before anything is sent.
   *
   * @param clientSettings the settings that the client gives
   * @param open creates the client of this call
   */
  call(
    options: unknown,
    clientSettings: GivenSettings,
    open: (given: GivenSettings, changes: boolean) => Promise<CallClient>,
  ): Promise<CallOutcome>
}

/**
 * Defines a method: the readers of its options, which must be those of its type, and how they become the
 * params of its operation.
 *
 * @param paramNames the param that an option gives, where its name differs
 */
export function defineMethod<M extends MethodName, P extends Params, R extends OwnReaders<M> & OptionReaders>(
  name: M,
  operation: Operation<P>,
  readers: R,
  createParams: (options: OptionValues<R>, inputs: CallInputs) => Promise<ParamValues<NoInfer<P>>>,
  paramNames: Readonly<Record<string, keyof P & string>> = {},
): MethodDefinition<M> {
  const hasBody = operationMethod(operation.route) === 'POST'
  const allReaders = { ...readers, ...settingReaders, set: hasBody ? readSet : refuseSet }
  return {
    name,
    async call(options, clientSettings, open) {
      const values: OptionValues<R> & CallOptions = readOptions(name, options, allReaders)
      const given: GivenSettings = { ...clientSettings, ...settingsIn(values) }
      const { set: overrides = [] } = values
      const optionNames = Object.keys({ ...given, ...values })
      checkOverrides(
        name,
        overrides,
        operation.params,
        new Map(optionNames.map(option => [option, paramNames[option] ?? option])),
      )
      const client = await open(given, operation.effect !== false)
      try {
        const { settings, host } = client
        const inputs = { client, settings, given, now: host.clock.now(), hasOverrides: overrides.length > 0 }
        return await callService(client, operation, await createParams(values, inputs), overrides)
      } finally {
        await client.close()
      }
    },
  }
}
