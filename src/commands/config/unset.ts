import { defineCommand } from '../../cli/command.ts'
import { printPreview } from '../../cli/preview.ts'
import { profileIn } from '../../config/store.ts'
import { keyField } from './key.ts'
import { changeProfile, placeOf } from './profile-values.ts'

export const configUnsetCommand = defineCommand({
  command: 'config unset',
  summary: 'Remove a stored setting',
  output: 'nothing',
  changesSettings: true,
  inputs: { key: keyField },
  examples: ['mergeq config unset repo'],
  async run({ key: { key } }, context) {
    const profile = profileIn(await context.settings.store.read(), await context.settings.require('profile'))
    if (context.options.dryRun) {
      const place = await placeOf(context)
      const would = Object.hasOwn(profile, key)
        ? `Would remove ${key} from ${place}.`
        : `Would change nothing: ${key} is not set in ${place}.`
      return printPreview('config unset', would, context)
    }
    await changeProfile(context, ({ [key]: _, ...values }) => values)
    return 0
  },
})
