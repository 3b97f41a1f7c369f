import { usage } from '../errors.ts'
import { count, size } from '../output/view.ts'
import type { Context, Encoded, Field, Given } from './inputs.ts'
import { largestBody } from '../domain/limits.ts'
import { openStringArray, type StringArray } from '../domain/values/json-string-array.ts'
import { jsonStrings, lines, type Reading, readTargets } from '../domain/values/target-input.ts'

/** The targets a pull request impacts: a list, encoded while it was read, or every target there is. */
export interface Targets {
  readonly list: 'ALL' | Encoded
  readonly number: number
  readonly dropped: number
  /** How much of an input was read, in bytes. */
  readonly read: number
}

/** The words that name where targets come from; exactly one of them must be typed. */
const sources = ['target', '--from', '--from-json', '--all', '--none']

const openList = (): StringArray => openStringArray(largestBody)

/** A list of which too much was read to tell its end counts as over the limit. */
const targetsOf = (list: StringArray, read = list.bytes, isWhole = true): Targets => ({
  list: isWhole
    ? list.encoded()
    : { encoded: [new Uint8Array(0)], bytes: Math.max(list.bytes, largestBody + 1) },
  number: list.number,
  dropped: list.dropped,
  read,
})

async function readInput(path: string, name: string, reading: Reading, context: Context): Promise<Targets> {
  const list = openList()
  let read = 0
  const isWhole = await context.during(
    () => `reading targets: ${count(list.number, 'target')}, ${size(read)} so far`,
    () =>
      readTargets(context.open(path), reading, list, name, bytes => {
        read = bytes
      }),
  )
  return targetsOf(list, read, isWhole)
}

function readArguments(words: readonly string[]): Targets {
  const list = openList()
  for (const word of words) {
    if (word === '') throw usage('A target must not be empty.')
    list.addText(word)
  }
  return targetsOf(list)
}

const shown = (name: string): string => (name === 'target' ? 'Targets as arguments' : name)

/** The targets, from arguments, a file or standard input; an empty list is never a request by itself. */
export const targetList: Field<Targets> = {
  words: [
    { spell: '[target...]', summary: 'Impacted targets, any names' },
    {
      spell: '--from <file>',
      summary: 'Read them from a file, one a line (- is standard input)',
      file: true,
    },
    { spell: '--from-json <file>', summary: 'Read them from a JSON array of strings', file: true },
    { spell: '--all', summary: 'The pull request impacts every target' },
    { spell: '--none', summary: 'The pull request impacts no target' },
  ],
  at: 'body.impactedTargets',
  needed: true,
  wire: ({ list }) => list,
  read(given: Given, context: Context) {
    const typed = sources.filter(name => given.has(name))
    if (typed.length !== 1)
      throw usage(
        typed.length === 0
          ? 'No targets were given.'
          : `${typed.map(shown).join(' and ')} cannot be combined.`,
        'Give targets as arguments, or exactly one of --from, --from-json, --all and --none.',
      )
    const [source = ''] = typed
    const words = given.get(source) ?? []
    if (source === '--all') return { list: 'ALL', number: 0, dropped: 0, read: 0 }
    if (source === '--none') return targetsOf(openList())
    if (source === 'target') return readArguments(words)
    return readInput(words[0] ?? '', source, source === '--from' ? lines : jsonStrings, context)
  },
}
