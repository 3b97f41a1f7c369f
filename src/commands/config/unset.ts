import { defineCustomCommand } from '../../cli/custom-command.ts'
import { printPreview } from '../../cli/preview.ts'
import { keyArgument } from './profile/key-argument.ts'
import { describeProfile, readProfile, updateProfile } from './profile/profile-values.ts'

/** `config unset`: removes a value from the selected profile. */
export const configUnsetCommand = defineCustomCommand({
  command: 'config unset',
  destructive: true,
  summary: 'Remove a stored setting',
  output: 'nothing',
  changesSettings: true,
  inputs: { key: keyArgument },
  examples: ['mergeq config unset repo'],
  async dryRun({ key: { key } }, context) {
    const profile = await readProfile(context)
    const place = await describeProfile(context)
    const preview = Object.hasOwn(profile, key)
      ? `Would remove ${key} from ${place}.`
      : `Would change nothing: ${key} is not set in ${place}.`
    return printPreview('config unset', preview, context)
  },
  async run({ key: { key } }, context) {
    // An unknown profile is an error: a command that removes a value does not create one.
    await readProfile(context)
    await updateProfile(context, ({ [key]: _, ...values }) => values)
    return 0
  },
})
