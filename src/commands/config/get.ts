import { type Infer, ownRecord } from '../../api/operations/fields.ts'
import { MergeqError } from '../../base/errors.ts'
import { command } from '../../command/command.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { keyArgument } from './shared/key.ts'

const settingRecord = ownRecord({ key: 'string', value: 'string', origin: 'string' })

export const definition = command({
  name: 'config get',
  summary: 'Print the value of a setting',
  exits: ['not-found'],
  prints: { table: 'the value', documents: [settingRecord], columns: columns('value') },
  options: { key: keyArgument },
  examples: ['mergeq config get repo'],
  async run({ key: { key, name } }, { settings, printer }) {
    const resolved = await settings.find(name)
    await settings.read(name)
    if (resolved === undefined)
      throw new MergeqError('not-found', `${key} is not set.`, {
        hint: 'To set it, use config set.',
      })
    const { value, origin } = resolved
    const record: Infer<typeof settingRecord> = { key, value, origin }
    await printer.print({
      ...singleRecord(record),
      columns: columns('value'),
      screen: () => ({ sentence: value }),
    })
    return 0
  },
})
