import { type BodyValue, type Inputs, optionName } from '../cli/inputs.ts'
import type { ParsedArgs } from '../config/args.ts'
import { settingFlags } from '../config/input-settings.ts'
import { usageError } from '../errors.ts'
import type { Json } from '../json.ts'

/** A value for a path of the body, as `--set path=value` gives it. */
export interface BodyOverride {
  readonly path: readonly string[]
  readonly value: BodyValue
}

/** Reads `path=value`: dots make nesting; the value is JSON if it parses as JSON, else a string. */
export function parseOverride(word: string, flag = '--set'): BodyOverride {
  const equals = word.indexOf('=')
  const path = word.slice(0, equals).split('.')
  if (equals < 1 || path.includes(''))
    throw usageError(
      `${flag}: '${word}' is not <path>=<value>.`,
      `For example ${flag} concurrency=5 or ${flag} pr.number=7.`,
    )
  return { path, value: jsonOr(word.slice(equals + 1)) }
}

/** JSON if it parses as JSON, else a string. A number that a double would change goes as it was typed. */
function jsonOr(word: string): BodyValue {
  try {
    const value: Json = JSON.parse(word)
    if (typeof value !== 'number' || String(value) === word.trim()) return value
    const bytes = new TextEncoder().encode(word.trim())
    return { chunks: [bytes], bytes: bytes.length }
  } catch {
    return word
  }
}

const overlaps = (one: readonly string[], other: readonly string[]): boolean =>
  one.every((key, index) => index >= other.length || other[index] === key)

/** Reads every `--set`. A path given twice, or one that a typed word already gives, is a usage failure. */
export function readOverrides(args: ParsedArgs, fields: Inputs): readonly BodyOverride[] {
  const overrides = (args.get('--set') ?? []).map(word => parseOverride(word))
  for (const [index, { path }] of overrides.entries()) {
    const name = path.join('.')
    if (overrides.slice(0, index).some(set => overlaps(set.path, path)))
      throw usageError(`--set gives ${name} twice.`, 'Leave one of them out.')
    for (const { location = '', fills = [], setting, definitions } of Object.values(fields)) {
      const names = [...definitions.map(({ syntax }) => optionName(syntax)), setting && settingFlags[setting]]
      // A value that is always the same is what the command stands for: `queue pause` and its state.
      const isFixed = definitions.length === 0 && setting === undefined
      const typed = isFixed ? 'the command' : names.find(name => name !== undefined && args.has(name))
      const paths = [...(location.startsWith('body.') ? [location.slice('body.'.length)] : []), ...fills]
      if (typed !== undefined && paths.some(one => overlaps(one.split('.'), path)))
        throw usageError(`--set gives ${name}, which ${typed} already gives.`, 'Leave one of them out.')
    }
  }
  return overrides
}
