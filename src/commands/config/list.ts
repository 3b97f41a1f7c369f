import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag } from '../../cli/inputs.ts'
import { configKeys } from '../../config/setting-definitions.ts'
import type { JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'

/** Writes a document of our own in any format. */
const printOwn = async (
  context: CommandContext,
  records: readonly JsonObject[],
  document: JsonObject | readonly JsonObject[],
) => {
  await context.printer.print({
    records,
    document: () => document,
    shape: () =>
      table(
        records,
        Object.keys(records[0] ?? {}).map(name => [name.toUpperCase(), name]),
      ),
  })
  await context.printer.end()
  return 0
}

export const configListCommand = defineCommand({
  command: 'config list',
  summary: 'Show the settings that commands use here and now',
  output: {
    table: 'a row for each setting that has a value',
    json: '[{"key","value"}], with --show-origin also "origin"',
    ndjson: 'one setting a line',
  },
  inputs: { showOrigin: flag('--show-origin', 'Also say where each value comes from') },
  examples: ['mergeq config list --show-origin', 'mergeq config list --show-origin --json'],
  async run({ showOrigin }, context) {
    const records: JsonObject[] = []
    for (const [key, name] of configKeys) {
      const found = await context.settings.find(name)
      // Refused where it is wrong, as everywhere: a base address may hold a password.
      await context.settings.read(name)
      if (found !== undefined)
        records.push({ key, value: found.value, ...(showOrigin ? { origin: found.origin } : {}) })
    }
    return printOwn(context, records, records)
  },
})
