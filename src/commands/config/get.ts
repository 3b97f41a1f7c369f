import { defineCommand } from '../../cli/command.ts'
import { MergeqError } from '../../errors.ts'
import { singleRecord } from '../../output/printer.ts'
import { table } from '../../output/view.ts'
import { keyArgument } from './profile.ts'

export const configGetCommand = defineCommand({
  command: 'config get',
  summary: 'Print the value of a setting',
  exitKinds: ['not-found'],
  output: { table: 'the value', json: '{"key","value","origin"}', ndjson: 'the same, on one line' },
  fields: { names: ['key', 'value', 'origin'], columns: [['VALUE', 'value']] },
  options: { key: keyArgument },
  examples: ['mergeq config get repo'],
  async run({ key: { key, name } }, context) {
    const resolved = await context.settings.find(name)
    await context.settings.read(name)
    if (resolved === undefined)
      throw new MergeqError('not-found', `${key} is not set.`, {
        hint: `To set it, run: mergeq config set ${key} <value>`,
      })
    const record = { key, value: resolved.value, origin: resolved.origin }
    await context.printer.print(
      singleRecord(record, () => ({ ...table([record], [['VALUE', 'value']]), sentence: resolved.value })),
    )
    await context.printer.end()
    return 0
  },
})
