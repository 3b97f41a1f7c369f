import type { ParsedArgs } from '../../../config/args.ts'
import { settingNames } from '../../../domain/queue-file.ts'
import { suggestName } from '../../../domain/similar-name.ts'
import { type MergeqError, usageError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'

/**
 * Creates the usage error for a setting that neither mergeq nor the live queue knows. The error names the
 * file or `--set`, and suggests the most similar setting.
 */
export function unknownSettingError(
  name: string,
  path: string,
  live: JsonObject,
  args: ParsedArgs,
): MergeqError {
  const isTyped = args.get('--set')?.some(text => text.startsWith(`${name}=`)) === true
  const suggestion = suggestName(name, [...settingNames, ...Object.keys(live)])
  return usageError(
    `${isTyped ? '--set' : path}: unknown queue setting '${name}'.`,
    `${suggestion ?? 'To see the settings of the queue, run: mergeq queue export'}\nTo send it anyway, add --allow-unknown.`,
  )
}
