import { profileIn, updateProfile } from '../../config/store.ts'
import { command } from '../../run/command.ts'
import { printPreview } from '../../run/dry-run.ts'
import { keyArgument } from './key.ts'
import { describeProfile } from './profile.ts'

export const configUnsetCommand = command({
  name: 'config unset',
  destructive: true,
  summary: 'Remove a stored setting',
  prints: 'nothing',
  settings: 'changed',
  options: { key: keyArgument },
  examples: ['mergeq config unset repo'],
  async run({ key: { key } }, cli) {
    const { host, settings } = cli
    const profileName = await settings.require('profile')
    // An unknown profile is an error: a command that removes a value does not create one.
    const profile = profileIn(await settings.store.read(), profileName)
    if (cli.options.dryRun) {
      const place = await describeProfile(cli)
      const preview = Object.hasOwn(profile, key)
        ? `Would remove ${key} from ${place}.`
        : `Would change nothing: ${key} is not set in ${place}.`
      return printPreview(preview, cli)
    }
    await updateProfile(host, profileName, ({ [key]: _, ...values }) => values)
    return 0
  },
})
