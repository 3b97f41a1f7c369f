import type { Params } from '../api/operation.ts'
import { parseOverride } from '../api/request.ts'
import type { Command } from './command.ts'
import { constant, type Inputs, paramInput, repeatableOption } from './inputs.ts'

/** What the requests of a command are read from. */
export type RequestSource<P extends Params, I extends Inputs, X extends Inputs> = Pick<
  Command<P, I, X>,
  'operation' | 'params' | 'fixed' | 'inputs' | 'options' | 'check'
> & { readonly command?: string }

/** Returns the inputs of a request: those of the params, of fixed values, and the options of the command. */
export function requestInputs<P extends Params, I extends Inputs, X extends Inputs>({
  operation,
  params,
  fixed = {},
  inputs,
  options,
}: Omit<RequestSource<P, I, X>, 'check'>): Inputs {
  const entries = Object.entries(operation?.params ?? {}).flatMap(([name, param]) => {
    if (Object.hasOwn(fixed, name)) return [[name, constant<unknown>(Reflect.get(fixed, name))] as const]
    if (params !== undefined && !params.includes(name)) return []
    return [[name, inputs?.[name] ?? paramInput(name, param)] as const]
  })
  const others = Object.entries(inputs ?? {}).filter(([name]) => operation?.params[name] === undefined)
  return { ...Object.fromEntries([...entries, ...others]), ...options }
}

/** The option `--set`, for a command that sends a body. */
export const setOption = repeatableOption({
  name: 'set',
  value: 'path=value',
  summary:
    'Add a field to the request body; dots in the path separate nested keys; a value that is not JSON is sent as text',
  parse: parseOverride,
})
