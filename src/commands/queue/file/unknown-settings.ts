import { closestMatch } from 'leven'
import type { ParsedArgs } from '../../../cli/inputs.ts'
import { settingNames } from '../../../domain/queue-file.ts'
import { type MergeqError, usageError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'

/** A name without what people write differently: case, and dashes between words. */
const folded = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '')

/** The name that was probably meant, at most a third of its letters away; undefined where none is near. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const meant = folded(name)
  const match = closestMatch(meant, names.map(folded), {
    maxDistance: Math.max(1, Math.floor(meant.length / 3)),
  })
  return names.find(one => folded(one) === match)
}

/**
 * The usage failure for a setting that neither mergeq nor the live queue knows. It names the file, or
 * `--set`, and the setting that was probably meant.
 */
export function unknownSetting(name: string, path: string, live: JsonObject, args: ParsedArgs): MergeqError {
  const isTyped = args.get('--set')?.some(word => word.startsWith(`${name}=`)) === true
  const meant = nearest(name, [...settingNames, ...Object.keys(live)])
  return usageError(
    `${isTyped ? '--set' : path}: '${name}' is not a setting of a queue.`,
    `${
      meant === undefined ? '`mergeq queue export` shows the settings of a queue.' : `Did you mean ${meant}?`
    } --allow-unknown sends it as it is.`,
  )
}
