import type { Fields, Given, Wire } from '../cli/inputs.ts'
import { flagOf, nameOfWord } from '../cli/inputs.ts'
import type { Json } from '../json.ts'
import { usage } from '../errors.ts'

/** A value for a path of the body, as `--set path=value` gives it. */
export interface Laid {
  readonly path: readonly string[]
  readonly value: Wire
}

/** Reads `path=value`: dots make nesting; the value is JSON if it parses as JSON, else a string. */
export function readSet(word: string, flag = '--set'): Laid {
  const equals = word.indexOf('=')
  const path = word.slice(0, equals).split('.')
  if (equals < 1 || path.includes(''))
    throw usage(
      `${flag}: '${word}' is not <path>=<value>.`,
      `For example ${flag} concurrency=5 or ${flag} pr.number=7.`,
    )
  return { path, value: jsonOr(word.slice(equals + 1)) }
}

/** JSON if it parses as JSON, else a string. A number that a double would change goes as it was typed. */
function jsonOr(word: string): Wire {
  try {
    const value: Json = JSON.parse(word)
    if (typeof value !== 'number' || String(value) === word.trim()) return value
    const bytes = new TextEncoder().encode(word.trim())
    return { encoded: [bytes], bytes: bytes.length }
  } catch {
    return word
  }
}

const overlaps = (one: readonly string[], other: readonly string[]): boolean =>
  one.every((key, index) => index >= other.length || other[index] === key)

/** Reads every `--set`. A path given twice, or one that a typed word already gives, is a usage failure. */
export function readSets(given: Given, fields: Fields): readonly Laid[] {
  const sets = (given.get('--set') ?? []).map(word => readSet(word))
  for (const [index, { path }] of sets.entries()) {
    const name = path.join('.')
    if (sets.slice(0, index).some(set => overlaps(set.path, path)))
      throw usage(`--set gives ${name} twice.`, 'Leave one of them out.')
    for (const { at = '', fills = [], setting, words } of Object.values(fields)) {
      const names = [...words.map(({ spell }) => nameOfWord(spell)), setting && flagOf[setting]]
      // A value that is always the same is what the command stands for: `queue pause` and its state.
      const isFixed = words.length === 0 && setting === undefined
      const typed = isFixed ? 'the command' : names.find(name => name !== undefined && given.has(name))
      const paths = [...(at.startsWith('body.') ? [at.slice('body.'.length)] : []), ...fills]
      if (typed !== undefined && paths.some(one => overlaps(one.split('.'), path)))
        throw usage(`--set gives ${name}, which ${typed} already gives.`, 'Leave one of them out.')
    }
  }
  return sets
}
