import { type BodyOverride, overlaps, parseOverride } from '../api/body-overrides.ts'
import type { Params } from '../api/param.ts'
import type { ParsedArgs } from '../config/args.ts'
import { settingDefinition } from '../config/setting-definitions.ts'
import { usageError } from '../errors.ts'
import { type Inputs, repeatableOption } from './inputs.ts'

export const setOption = repeatableOption({
  name: 'set',
  value: 'path=value',
  summary:
    'Add a field to the request body; dots in the path separate nested keys; a value that is not JSON is sent as text',
  parse: parseOverride,
})

/** Returns the option that was typed: `api` has its own options for the fields of a body. */
const typedOption = (args: ParsedArgs): string =>
  ['--field', '--raw-field'].find(name => args.has(name)) ?? '--set'

/** Throws a usage error for a path that is given twice, or that an option which was typed sets already. */
export function readOverrides(args: ParsedArgs, inputs: Inputs, params: Params): readonly BodyOverride[] {
  const overrides = setOption.read(args) ?? []
  for (const [index, { path }] of overrides.entries()) {
    const name = path.join('.')
    if (overrides.slice(0, index).some(set => overlaps(set.path, path)))
      throw usageError(`${typedOption(args)} was given twice for ${name}.`, 'Use each path only once.')
    for (const [key, { setting, definitions }] of Object.entries(inputs)) {
      const { location = '', fills = [] } = params[key] ?? {}
      const names = [...definitions.map(({ name }) => name), setting && settingDefinition(setting).flag]
      // A constant is what the command implies: `queue pause` and its state.
      const isFixed = definitions.length === 0 && setting === undefined
      const typed = isFixed ? 'the command' : names.find(name => name !== undefined && args.has(name))
      const paths = [...(location.startsWith('body.') ? [location.slice('body.'.length)] : []), ...fills]
      if (typed !== undefined && paths.some(inputPath => overlaps(inputPath.split('.'), path)))
        throw usageError(
          `${typedOption(args)} ${name} conflicts with ${typed}, which sets the same field.`,
          'Use only one of them.',
        )
    }
  }
  return overrides
}
