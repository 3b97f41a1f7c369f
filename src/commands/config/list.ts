import { type Infer, list, optional, ownRecord } from '../../api/operations/fields.ts'
import { failureOrThrow } from '../../base/errors.ts'
import { type Cli, command } from '../../command/command.ts'
import { flag } from '../../command/inputs.ts'
import { describeCiSystem } from '../../config/ci-systems.ts'
import { logProfile } from '../../config/profile.ts'
import { configKeys } from '../../config/setting-definitions.ts'
import { columns } from '../../output/view.ts'

/** What a CI job or the checkout gives besides the settings; what they refuse to give is left out. */
async function findFacts({ settings, host }: Cli): Promise<readonly Infer<typeof listedSettingRecord>[]> {
  const find = async (name: 'pr' | 'sha') => {
    try {
      return await settings.find(name)
    } catch (error) {
      failureOrThrow(error)
      return undefined
    }
  }
  const facts = [
    ['pr', await find('pr')],
    ['sha', await find('sha')],
    ['ci', describeCiSystem(host.env)],
  ] as const
  return facts.flatMap(([key, found]) =>
    found === undefined ? [] : [{ key, value: found.value, origin: found.origin }],
  )
}

const listedSettingRecord = ownRecord({ key: 'string', value: 'string', origin: optional('string') })

export const definition = command({
  name: 'config list',
  summary: 'List the settings in effect',
  prints: {
    table:
      'one row per setting that has a value; with --show-origin, also for pull request, head commit and CI system',
    note: 'with --show-origin, also "origin"',
    ndjson: 'one setting per line',
    documents: [list(listedSettingRecord)],
    columns: columns('key', 'value', 'origin'),
  },
  options: { showOrigin: flag('Show where each value comes from') },
  examples: ['mergeq config list --show-origin', 'mergeq config list --show-origin --json'],
  async run({ showOrigin }, cli) {
    const { settings, printer } = cli
    const records: Infer<typeof listedSettingRecord>[] = []
    for (const [key, name] of configKeys) {
      const resolved = await settings.find(name)
      // Reading validates the value before it is printed: an invalid base address may contain a password.
      await settings.read(name)
      if (resolved !== undefined)
        records.push({ key, value: resolved.value, ...(showOrigin ? { origin: resolved.origin } : {}) })
    }
    if (showOrigin) records.push(...(await findFacts(cli)))
    await printer.print({
      records,
      columns: [
        ...columns(['key', { format: 'id' }], ['value', { format: 'prose' }]),
        ...(showOrigin ? columns(['origin', { format: 'prose' }]) : []),
      ],
    })
    await logProfile(cli)
    return 0
  },
})
