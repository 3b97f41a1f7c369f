import { argument, on } from '../cli/inputs.ts'
import { Failure, isFailure, usage } from '../errors.ts'
import type { Desk } from '../cli/context.ts'
import { printPreview } from '../cli/preview.ts'
import { partOf, profileIn, storeFile } from '../config/store.ts'
import { type Name, settingTable, storable } from '../config/setting-definitions.ts'
import { type JsonObject } from '../json.ts'
import { table } from '../output/view.ts'
import { command } from '../cli/command.ts'

const longestValue = 4_096

/** Reads a key: the name of a flag that can be stored. */
function key(word: string): { readonly key: string; readonly name: Name } {
  const name = storable.get(word)
  if (name === undefined)
    throw usage(
      `'${word}' is no key of the stored settings.`,
      `The keys are ${[...storable.keys()].join(', ')}.${word === 'token' ? ' A token is stored with `mergeq auth login`.' : ''}`,
    )
  return { key: word, name }
}

const keyField = argument('<key>', `One of ${[...storable.keys()].join(', ')}`, key, {
  choices: [...storable.keys()],
})

/** Writes a document of our own in any format. */
const printOwn = async (
  desk: Desk,
  records: readonly JsonObject[],
  document: JsonObject | readonly JsonObject[],
) => {
  await desk.printer.print({
    records,
    document: () => document,
    shape: () =>
      table(
        records,
        Object.keys(records[0] ?? {}).map(name => [name.toUpperCase(), name]),
      ),
  })
  await desk.printer.end()
  return 0
}

const list = command({
  command: 'config list',
  summary: 'Show the settings that commands use here and now',
  prints: {
    table: 'a row for each setting that has a value',
    json: '[{"key","value"}], with --show-origin also "origin"',
    ndjson: 'one setting a line',
  },
  fields: { showOrigin: on('--show-origin', 'Also say where each value comes from') },
  examples: ['mergeq config list --show-origin', 'mergeq config list --show-origin --json'],
  async run({ showOrigin }, desk) {
    const records: JsonObject[] = []
    for (const [key, name] of storable) {
      const found = await desk.settings.find(name)
      // Refused where it is wrong, as everywhere: a base address may hold a password.
      await desk.settings.read(name)
      if (found !== undefined)
        records.push({ key, value: found.value, ...(showOrigin ? { origin: found.origin } : {}) })
    }
    return printOwn(desk, records, records)
  },
})

const get = command({
  command: 'config get',
  summary: 'Print one setting as commands use it here and now',
  ends: ['not-found'],
  prints: { table: 'the value', json: '{"key","value","origin"}', ndjson: 'the same on one line' },
  fields: { key: keyField },
  examples: ['mergeq config get repo'],
  async run({ key: { key, name } }, desk) {
    const found = await desk.settings.find(name)
    await desk.settings.read(name)
    if (found === undefined)
      throw new Failure('not-found', `${key} is not set.`, { hint: settingTable[name].summary })
    const record = { key, value: found.value, origin: found.origin }
    await desk.printer.print({
      records: [record],
      document: () => record,
      shape: () => ({ ...table([record], [['VALUE', 'value']]), sentence: found.value }),
    })
    return 0
  },
})

/** Changes the values of the profile that is meant. */
async function changeProfile(desk: Desk, change: (values: JsonObject) => JsonObject): Promise<void> {
  const profile = await desk.settings.need('profile')
  const { changeStore } = await import('../config/store-update.ts')
  await changeStore(desk.world, document => {
    const profiles = partOf(document, 'profiles')
    return { ...document, profiles: { ...profiles, [profile]: change(partOf(profiles, profile)) } }
  })
}

/** The profile that is changed and its file, as a sentence names them. */
const placeOf = async (desk: Desk): Promise<string> =>
  `profile ${await desk.settings.need('profile')} of ${storeFile(desk)}`

/** Refuses what the setting's own reader refuses. */
function check(key: string, name: Name, value: string): void {
  if (value.length > longestValue) throw usage(`${key}: the value is longer than ${longestValue} characters.`)
  try {
    settingTable[name].parse(value)
  } catch (error) {
    if (!isFailure(error)) throw error
    throw new Failure(error.kind, `${key}: ${error.message}`, error.details)
  }
}

const set = command({
  command: 'config set',
  summary: 'Store a setting, in the profile that --profile names',
  prints: 'nothing',
  changesSettings: true,
  fields: { key: keyField, value: argument('<value>', 'Its value', word => word) },
  examples: ['mergeq config set repo acme/web', 'mergeq config set target-branch release --profile work'],
  async run({ key: { key, name }, value }, desk) {
    check(key, name, value)
    if (desk.options.dryRun)
      return printPreview('config set', `Would set ${key} to ${value} in ${await placeOf(desk)}.`, desk)
    await changeProfile(desk, values => ({ ...values, [key]: value }))
    return 0
  },
})

const unset = command({
  command: 'config unset',
  summary: 'Remove a stored setting',
  prints: 'nothing',
  changesSettings: true,
  fields: { key: keyField },
  examples: ['mergeq config unset repo'],
  async run({ key: { key } }, desk) {
    const profile = profileIn(await desk.settings.store.read(), await desk.settings.need('profile'))
    if (desk.options.dryRun) {
      const place = await placeOf(desk)
      const would = Object.hasOwn(profile, key)
        ? `Would remove ${key} from ${place}.`
        : `Would change nothing: ${key} is not set in ${place}.`
      return printPreview('config unset', would, desk)
    }
    await changeProfile(desk, ({ [key]: _, ...values }) => values)
    return 0
  },
})

const path = command({
  command: 'config path',
  summary: 'Print the file that settings are stored in',
  prints: 'the path and a newline',
  fields: {},
  examples: ['mergeq config path'],
  async run(_, { settings, world }) {
    await world.out.write(`${storeFile({ settings })}\n`)
    return 0
  },
})

export const configCommands = [list, get, set, unset, path]
