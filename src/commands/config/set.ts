import { usageError, withName } from '../../base/errors.ts'
import { command } from '../../command/command.ts'
import { printPreview } from '../../command/dry-run.ts'
import { argument } from '../../command/inputs.ts'
import { describeProfile } from '../../config/profile.ts'
import { settingDefinitions } from '../../config/setting-definitions.ts'
import { fromEnvironment } from '../../config/settings.ts'
import { requireStorable } from '../../config/store.ts'
import { updateProfile } from '../../config/store-update.ts'
import { parseTokenCommand } from '../../config/token-program.ts'
import { keyArgument, settingText } from './shared/key.ts'

const maxValueLength = 4_096

export const definition = command({
  name: 'config set',
  summary: 'Store a setting in a profile',
  prints: 'nothing',
  settings: 'changed',
  options: {
    key: keyArgument,
    value: argument(settingText, 'Value to store'),
  },
  examples: ['mergeq config set repo acme/web', 'mergeq config set target-branch release --profile work'],
  async run({ key: { key, name }, value }, cli) {
    if (value.length > maxValueLength)
      throw usageError(`${key}: the value is longer than ${maxValueLength} characters.`)
    withName(key, () => {
      settingDefinitions[name].parse(value)
      if (name === 'tokenCommand') parseTokenCommand(value)
      requireStorable(name, value)
    })
    if (cli.options.dryRun) {
      const would = `Would set ${key} to ${value} in ${await describeProfile(cli.settings)}.`
      return printPreview(would, cli)
    }
    const profile = await cli.settings.require('profile')
    await updateProfile(cli, profile, values => ({ ...values, [key]: value }))
    const variable = (await fromEnvironment(cli.host).find(name))?.origin
    if (variable !== undefined) await cli.logger.warn(`${variable} is set and takes precedence.`)
    return 0
  },
})
