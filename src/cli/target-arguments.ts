import type { ParseContext, ParsedArgs } from '../config/settings.ts'
import type { ImpactedTargets } from '../domain/values/target-list.ts'
import { usageError } from '../errors.ts'
import type { Input } from './inputs.ts'

/** The argument and options that give targets; exactly one of them must be typed. */
const sources = ['target', '--from', '--from-json', '--all', '--none']

const shown = (name: string): string => (name === 'target' ? 'Targets as arguments' : name)

/** The targets, from arguments, a file or standard input; an empty list needs --none. */
export const targetArguments: Input<ImpactedTargets> = {
  definitions: [
    { name: 'target', variadic: true, summary: 'Names of the impacted targets' },
    {
      name: '--from',
      value: 'file',
      summary: 'Read targets from a file, one per line (- for standard input)',
      file: true,
    },
    {
      name: '--from-json',
      value: 'file',
      summary: 'Read targets from a JSON array of strings (- for standard input)',
      file: true,
    },
    { name: '--all', summary: 'Mark every target as impacted' },
    { name: '--none', summary: 'Mark no target as impacted' },
  ],
  async read(args: ParsedArgs, context: ParseContext) {
    const typed = sources.filter(name => args.has(name))
    if (typed.length !== 1)
      throw usageError(
        typed.length === 0
          ? 'No targets were given.'
          : `${typed.map(shown).join(' and ')} cannot be used together.`,
        'Specify targets as arguments, or use one of --from, --from-json, --all and --none.',
      )
    const [source = ''] = typed
    const { readTargetSource } = await import('./read-target-arguments.ts')
    return readTargetSource(source, args.get(source) ?? [], context)
  },
}
