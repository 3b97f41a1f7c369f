import { encodeTargets, type ImpactedTargets } from '../api/operations/impacted-targets.ts'
import type { ParsedArgs } from '../config/args.ts'
import type { ParseContext } from '../config/parse-context.ts'
import { formatBytes, pluralize } from '../domain/format.ts'
import { maxBodySize } from '../domain/limits.ts'
import { createStringArray, type StringArray } from '../domain/values/string-array.ts'
import { parseJsonStrings, parseLines, readTargets, type TargetParser } from '../domain/values/target-list.ts'
import { usageError } from '../errors.ts'
import type { Input } from './inputs.ts'

/** The argument and options that give targets; exactly one of them must be typed. */
const sources = ['target', '--from', '--from-json', '--all', '--none']

/** A list that was not read to its end counts as over the limit. */
const targetsOf = (list: StringArray, read: number, isWhole: boolean): ImpactedTargets => ({
  list: isWhole
    ? list.encoded()
    : { chunks: [new Uint8Array(0)], bytes: Math.max(list.bytes, maxBodySize + 1) },
  number: list.number,
  dropped: list.dropped,
  bytesRead: read,
})

async function readInput(
  path: string,
  name: string,
  reading: TargetParser,
  context: ParseContext,
): Promise<ImpactedTargets> {
  const list = createStringArray(maxBodySize)
  let read = 0
  const isWhole = await context.withSpinner(
    () => `Reading targets: ${pluralize(list.number, 'target')}, ${formatBytes(read)} so far`,
    () =>
      readTargets(context.open(path), reading, list, name, bytes => {
        read = bytes
      }),
  )
  return targetsOf(list, read, isWhole)
}

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
  read(args: ParsedArgs, context: ParseContext) {
    const typed = sources.filter(name => args.has(name))
    if (typed.length !== 1)
      throw usageError(
        typed.length === 0
          ? 'No targets were given.'
          : `${typed.map(shown).join(' and ')} cannot be used together.`,
        'Specify targets as arguments, or use one of --from, --from-json, --all and --none.',
      )
    const [source = ''] = typed
    const words = args.get(source) ?? []
    if (source === '--all') return encodeTargets('ALL')
    if (source === '--none') return encodeTargets([])
    if (source === 'target') return encodeTargets(words)
    return readInput(words[0] ?? '', source, source === '--from' ? parseLines : parseJsonStrings, context)
  },
}
