// The options that commands make of the params of an operation.

import type { Operation } from '../api/operation.ts'
import type { Param, Params, ParamValues } from '../api/params.ts'
import { type Input, paramInput, readInputs } from './inputs.ts'

type OptionsOf<P extends Params, K extends keyof P> = {
  readonly [N in Exclude<keyof P, K>]: Input<
    P[N] extends { type: { check(value: unknown): infer T } } ? T : never
  >
}

/** The options of the params of an operation, except of those that a command reads itself. */
export const paramsOf = <P extends Params, const K extends keyof P = never>(
  { params }: Operation<P>,
  ...own: readonly K[]
): OptionsOf<P, K> =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([name]) => !own.some(key => key === name))
      .map(([name, param]) => [name, paramInput(name, param)]),
  ) as OptionsOf<P, K>

/** Options of params that a command passes on whole: their value is a record. */
export function paramsTogether<P extends Params>(params: P): Input<ParamValues<P>> {
  const inputs = Object.fromEntries(
    Object.entries<Param<unknown>>(params).map(([name, param]) => [name, paramInput(name, param)]),
  )
  return {
    definitions: Object.values(inputs).flatMap(({ definitions }) => definitions),
    read: async (args, context) => (await readInputs(inputs, args, context)) as ParamValues<P>,
  }
}
