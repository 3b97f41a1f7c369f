import { command } from '../../cli/command.ts'
import { flag } from '../../cli/inputs.ts'
import { configKeys } from '../../config/setting-definitions.ts'
import type { JsonObject } from '../../json.ts'
import { columns } from '../../output/view.ts'

export const configListCommand = command({
  name: 'config list',
  summary: 'List the settings in effect',
  prints: {
    table: 'one row per setting that has a value',
    json: '[{"key","value"}]; with --show-origin, also "origin"',
    ndjson: 'one setting per line',
  },
  fields: {
    names: ['key', 'value', 'origin'],
    columns: columns(['KEY', 'key'], ['VALUE', 'value'], ['ORIGIN', 'origin']),
  },
  options: { showOrigin: flag('Show where each value comes from') },
  examples: ['mergeq config list --show-origin', 'mergeq config list --show-origin --json'],
  async run({ showOrigin }, { settings, printer }) {
    const records: JsonObject[] = []
    for (const [key, name] of configKeys) {
      const resolved = await settings.find(name)
      // Reading validates the value before it is printed: an invalid base address may contain a password.
      await settings.read(name)
      if (resolved !== undefined)
        records.push({ key, value: resolved.value, ...(showOrigin ? { origin: resolved.origin } : {}) })
    }
    await printer.print({
      records,
      columns: columns(
        ...Object.keys(records[0] ?? {}).map(
          name => [name.toUpperCase(), name, name === 'key' ? 'id' : 'prose'] as const,
        ),
      ),
    })
    return 0
  },
})
