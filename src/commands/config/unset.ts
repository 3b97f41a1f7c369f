import { command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import { describeProfile } from '../../config/profile.ts'
import { profileIn } from '../../config/store.ts'
import { updateProfile } from '../../config/store-update.ts'
import { joinList } from '../../values/format.ts'
import { keyArguments } from './shared/key.ts'

export const definition = command({
  name: 'config unset',
  destructive: true,
  summary: 'Remove stored settings',
  prints: 'nothing',
  settings: 'changed',
  options: { keys: keyArguments },
  examples: ['mergeq config unset repo', 'mergeq config unset org base-url --profile work'],
  async run({ keys }, cli) {
    const { settings } = cli
    const profileName = await settings.require('profile')
    // An unknown profile is an error: a command that removes a value does not create one.
    const profile = profileIn(await settings.store.read(), profileName)
    if (cli.options.dryRun) {
      const place = await describeProfile(cli.settings)
      const stored = keys.filter(key => Object.hasOwn(profile, key))
      const preview =
        stored.length > 0
          ? `Would remove ${joinList(stored)} from ${place}.`
          : `Would change nothing: ${joinList(keys)} ${keys.length === 1 ? 'is' : 'are'} not set in ${place}.`
      return printPreview(preview, cli)
    }
    await updateProfile(cli, profileName, values =>
      Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key))),
    )
    return 0
  },
})
