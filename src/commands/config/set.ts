import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/confirm.ts'
import { argument } from '../../cli/inputs.ts'
import { type SettingKey, settingDefinitions } from '../../config/setting-definitions.ts'
import { isMergeqError, MergeqError, usageError } from '../../errors.ts'
import { describeProfile, keyArgument, updateProfile } from './profile.ts'

/** Upper limit for a stored value, in characters. */
const maxValueLength = 4_096

/**
 * Throws a usage error, or the error of the setting's parser, for a value that the setting does not accept.
 */
function validateValue(key: string, name: SettingKey, value: string): void {
  if (value.length > maxValueLength)
    throw usageError(`${key}: the value is longer than ${maxValueLength} characters.`)
  try {
    settingDefinitions[name].parse(value)
  } catch (error) {
    if (!isMergeqError(error)) throw error
    throw new MergeqError(error.kind, `${key}: ${error.message}`, error.details)
  }
}

export const configSetCommand = defineCommand({
  command: 'config set',
  summary: 'Store a setting in a profile',
  output: 'nothing',
  changesSettings: true,
  options: {
    key: keyArgument,
    value: argument({
      name: 'value',
      summary: 'Value to store',
      values: 'setting-values',
      parse: text => text,
    }),
  },
  examples: ['mergeq config set repo acme/web', 'mergeq config set target-branch release --profile work'],
  async run({ key: { key, name }, value }, context) {
    validateValue(key, name, value)
    if (context.options.dryRun) {
      const place = await describeProfile(context)
      return printPreview('config set', `Would set ${key} to ${value} in ${place}.`, context)
    }
    await updateProfile(context, values => ({ ...values, [key]: value }))
    return 0
  },
})
