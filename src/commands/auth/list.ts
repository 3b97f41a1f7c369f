import { type Infer, list, ownRecord } from '../../api/operations/fields.ts'
import { isMergeqError, usageError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { flagName } from '../../command/inputs.ts'
import { logProfile } from '../../config/profile.ts'
import { settingDefinition } from '../../config/setting-definitions.ts'
import { resolveSettings } from '../../config/settings.ts'
import { profileNames, storedTokens } from '../../config/store.ts'
import { findTokenSource } from '../../config/token.ts'
import { columns } from '../../output/view.ts'

/** Throws a usage error that names the settings file for a profile whose name nobody can type. */
function checkName(profile: string, { settings }: Cli): void {
  try {
    settingDefinition('profile').parse?.(profile)
  } catch {
    throw usageError(
      `${settings.store.path}: ${JSON.stringify(profile)} cannot be the name of a profile.`,
      'Rename the profile in the file.',
    )
  }
}

/** Returns where the token of a profile comes from, for its base URL and for the other origins of its stored tokens. */
async function listTokens(
  profile: string,
  { args, host, settings }: Cli,
): Promise<readonly Infer<typeof listedTokenRecord>[]> {
  const selected = profile === (await settings.require('profile'))
  const ofProfile = resolveSettings(new Map([...args, ['--profile', [profile]]]), host, {
    changes: false,
    nameOf: flagName,
    notify: async () => undefined,
  })
  const { origin } = new URL(await ofProfile.require('baseUrl'))
  const source = await findTokenSource(host, ofProfile).catch(error => {
    if (isMergeqError(error) && error.kind === 'auth') return undefined
    throw error
  })
  const others = Object.keys(await storedTokens(settings.store, profile)).filter(each => each !== origin)
  return [
    { profile, origin, source: source?.kind ?? 'none', from: source?.from ?? null, selected },
    ...others.map(origin => ({
      profile,
      origin,
      source: 'store',
      from: settings.store.path ?? null,
      selected: false,
    })),
  ]
}

const tokenColumns = columns(
  'profile',
  ['origin', { format: 'id' }],
  ['source', { priority: 1 }],
  ['from', { format: 'prose' }],
  ['selected', { priority: 2 }],
)

const listedTokenRecord = ownRecord({
  profile: 'string',
  origin: 'string',
  source: 'string',
  from: 'string | null',
  selected: 'boolean',
})

export const definition = command({
  name: 'auth list',
  summary: 'List profiles and where their tokens come from',
  prints: {
    table: 'one row per profile and origin; it sends no request and runs no program',
    note: 'source is variable, file, program, store or none',
    ndjson: 'one of these per line',
    documents: [list(listedTokenRecord)],
    columns: tokenColumns,
  },
  examples: ['mergeq auth list', 'mergeq auth list --json'],
  async run(_, cli) {
    const { store } = cli.settings
    const names = new Set(['default', ...(await profileNames(store)), await cli.settings.require('profile')])
    const records: JsonObject[] = []
    for (const name of names) checkName(name, cli)
    for (const name of names) records.push(...(await listTokens(name, cli)))
    await cli.printer.print({ records, columns: tokenColumns })
    await logProfile(cli)
    return 0
  },
})
