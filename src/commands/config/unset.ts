import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/confirm.ts'
import { describeProfile, keyArgument, readProfile, updateProfile } from './profile.ts'

export const configUnsetCommand = defineCommand({
  command: 'config unset',
  destructive: true,
  summary: 'Remove a stored setting',
  output: 'nothing',
  changesSettings: true,
  options: { key: keyArgument },
  examples: ['mergeq config unset repo'],
  async run({ key: { key } }, context) {
    // An unknown profile is an error: a command that removes a value does not create one.
    const profile = await readProfile(context)
    if (context.options.dryRun) {
      const place = await describeProfile(context)
      const preview = Object.hasOwn(profile, key)
        ? `Would remove ${key} from ${place}.`
        : `Would change nothing: ${key} is not set in ${place}.`
      return printPreview('config unset', preview, context)
    }
    await updateProfile(context, ({ [key]: _, ...values }) => values)
    return 0
  },
})
