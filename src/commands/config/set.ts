import { defineCommand } from '../../cli/command.ts'
import { argument } from '../../cli/inputs.ts'
import { printPreview } from '../../cli/preview.ts'
import { type SettingKey, settingDefinitions } from '../../config/setting-definitions.ts'
import { isMergeqError, MergeqError, usageError } from '../../errors.ts'
import { keyField } from './key.ts'
import { changeProfile, placeOf } from './profile-values.ts'

const longestValue = 4_096

/** Refuses what the setting's own reader refuses. */
function check(key: string, name: SettingKey, value: string): void {
  if (value.length > longestValue)
    throw usageError(`${key}: the value is longer than ${longestValue} characters.`)
  try {
    settingDefinitions[name].parse(value)
  } catch (error) {
    if (!isMergeqError(error)) throw error
    throw new MergeqError(error.kind, `${key}: ${error.message}`, error.details)
  }
}

export const configSetCommand = defineCommand({
  command: 'config set',
  summary: 'Store a setting, in the profile that --profile names',
  output: 'nothing',
  changesSettings: true,
  inputs: { key: keyField, value: argument('<value>', 'Its value', word => word) },
  examples: ['mergeq config set repo acme/web', 'mergeq config set target-branch release --profile work'],
  async run({ key: { key, name }, value }, context) {
    check(key, name, value)
    if (context.options.dryRun)
      return printPreview('config set', `Would set ${key} to ${value} in ${await placeOf(context)}.`, context)
    await changeProfile(context, values => ({ ...values, [key]: value }))
    return 0
  },
})
