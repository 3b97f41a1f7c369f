import { defineCommand } from '../../cli/command.ts'
import { settingDefinitions } from '../../config/setting-definitions.ts'
import { MergeqError } from '../../errors.ts'
import { table } from '../../output/view.ts'
import { keyField } from './key.ts'

export const configGetCommand = defineCommand({
  command: 'config get',
  summary: 'Print one setting as commands use it here and now',
  exitKinds: ['not-found'],
  output: { table: 'the value', json: '{"key","value","origin"}', ndjson: 'the same on one line' },
  inputs: { key: keyField },
  examples: ['mergeq config get repo'],
  async run({ key: { key, name } }, context) {
    const found = await context.settings.find(name)
    await context.settings.read(name)
    if (found === undefined)
      throw new MergeqError('not-found', `${key} is not set.`, { hint: settingDefinitions[name].summary })
    const record = { key, value: found.value, origin: found.origin }
    await context.printer.print({
      records: [record],
      document: () => record,
      shape: () => ({ ...table([record], [['VALUE', 'value']]), sentence: found.value }),
    })
    return 0
  },
})
