import { defineCommand } from '../../cli/define-command.ts'
import { printPreview } from '../../cli/dry-run.ts'
import { profileIn } from '../../config/store.ts'
import { keyArgument } from './key.ts'
import { describeProfile, updateProfile } from './profile.ts'

export const configUnsetCommand = defineCommand({
  command: 'config unset',
  destructive: true,
  summary: 'Remove a stored setting',
  output: 'nothing',
  changesSettings: true,
  options: { key: keyArgument },
  examples: ['mergeq config unset repo'],
  async run({ key: { key } }, context) {
    const { settings } = context
    // An unknown profile is an error: a command that removes a value does not create one.
    const profile = profileIn(await settings.store.read(), await settings.require('profile'))
    if (context.options.dryRun) {
      const place = await describeProfile(context)
      const preview = Object.hasOwn(profile, key)
        ? `Would remove ${key} from ${place}.`
        : `Would change nothing: ${key} is not set in ${place}.`
      return printPreview(preview, context)
    }
    await updateProfile(context, ({ [key]: _, ...values }) => values)
    return 0
  },
})
