import { defineCommand } from '../../cli/command.ts'
import { flag } from '../../cli/inputs.ts'
import { configKeys } from '../../config/setting-definitions.ts'
import type { JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'

export const configListCommand = defineCommand({
  command: 'config list',
  summary: 'List the settings in effect',
  output: {
    table: 'one row per setting that has a value',
    json: '[{"key","value"}]; with --show-origin, also "origin"',
    ndjson: 'one setting per line',
  },
  fields: {
    names: ['key', 'value', 'origin'],
    columns: [
      ['KEY', 'key'],
      ['VALUE', 'value'],
      ['ORIGIN', 'origin'],
    ],
  },
  options: { showOrigin: flag({ name: 'show-origin', summary: 'Show where each value comes from' }) },
  examples: ['mergeq config list --show-origin', 'mergeq config list --show-origin --json'],
  async run({ showOrigin }, context) {
    const records: JsonObject[] = []
    for (const [key, name] of configKeys) {
      const resolved = await context.settings.find(name)
      // Reading validates the value before it is printed: an invalid base address may contain a password.
      await context.settings.read(name)
      if (resolved !== undefined)
        records.push({ key, value: resolved.value, ...(showOrigin ? { origin: resolved.origin } : {}) })
    }
    await context.printer.print({
      records,
      document: list => list,
      view: list =>
        table(
          list,
          Object.keys(list[0] ?? {}).map(name => [name.toUpperCase(), name, name === 'key' ? 'id' : 'prose']),
        ),
    })
    await context.printer.end()
    return 0
  },
})
