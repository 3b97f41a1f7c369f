import { defineCommand } from '../cli/command.ts'
import type { CommandContext } from '../cli/context.ts'
import { argument, flag } from '../cli/inputs.ts'
import { printPreview } from '../cli/preview.ts'
import { configKeys, type SettingKey, settingDefinitions } from '../config/setting-definitions.ts'
import { profileIn, sectionOf, storeFile } from '../config/store.ts'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { table } from '../output/view.ts'

const longestValue = 4_096

/** Reads a key: the name of a flag that can be stored. */
function key(word: string): { readonly key: string; readonly name: SettingKey } {
  const name = configKeys.get(word)
  if (name === undefined)
    throw usageError(
      `'${word}' is no key of the stored settings.`,
      `The keys are ${[...configKeys.keys()].join(', ')}.${word === 'token' ? ' A token is stored with `mergeq auth login`.' : ''}`,
    )
  return { key: word, name }
}

const keyField = argument('<key>', `One of ${[...configKeys.keys()].join(', ')}`, key, {
  choices: [...configKeys.keys()],
})

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

const list = defineCommand({
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

const get = defineCommand({
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

/** Changes the values of the profile that is meant. */
async function changeProfile(
  context: CommandContext,
  change: (values: JsonObject) => JsonObject,
): Promise<void> {
  const profile = await context.settings.require('profile')
  const { updateStore } = await import('../config/store-update.ts')
  await updateStore(context.host, document => {
    const profiles = sectionOf(document, 'profiles')
    return { ...document, profiles: { ...profiles, [profile]: change(sectionOf(profiles, profile)) } }
  })
}

/** The profile that is changed and its file, as a sentence names them. */
const placeOf = async (context: CommandContext): Promise<string> =>
  `profile ${await context.settings.require('profile')} of ${storeFile(context)}`

/** Refuses what the setting's own reader refuses. */
function check(key: string, name: SettingKey, value: string): void {
  if (value.length > longestValue)
    throw usageError(`${key}: the value is longer than ${longestValue} characters.`)
  try {
    settingDefinitions[name].parse(value)
  } catch (error) {
    if (!isMergeqError(error)) throw error
    throw new MergeqError(error.kind, `${key}: ${error.message}`, error.details)
  }
}

const set = defineCommand({
  command: 'config set',
  summary: 'Store a setting, in the profile that --profile names',
  output: 'nothing',
  changesSettings: true,
  inputs: { key: keyField, value: argument('<value>', 'Its value', word => word) },
  examples: ['mergeq config set repo acme/web', 'mergeq config set target-branch release --profile work'],
  async run({ key: { key, name }, value }, context) {
    check(key, name, value)
    if (context.options.dryRun)
      return printPreview('config set', `Would set ${key} to ${value} in ${await placeOf(context)}.`, context)
    await changeProfile(context, values => ({ ...values, [key]: value }))
    return 0
  },
})

const unset = defineCommand({
  command: 'config unset',
  summary: 'Remove a stored setting',
  output: 'nothing',
  changesSettings: true,
  inputs: { key: keyField },
  examples: ['mergeq config unset repo'],
  async run({ key: { key } }, context) {
    const profile = profileIn(await context.settings.store.read(), await context.settings.require('profile'))
    if (context.options.dryRun) {
      const place = await placeOf(context)
      const would = Object.hasOwn(profile, key)
        ? `Would remove ${key} from ${place}.`
        : `Would change nothing: ${key} is not set in ${place}.`
      return printPreview('config unset', would, context)
    }
    await changeProfile(context, ({ [key]: _, ...values }) => values)
    return 0
  },
})

const path = defineCommand({
  command: 'config path',
  summary: 'Print the file that settings are stored in',
  output: 'the path and a newline',
  inputs: {},
  examples: ['mergeq config path'],
  async run(_, { settings, host }) {
    await host.out.write(`${storeFile({ settings })}\n`)
    return 0
  },
})

export const configCommands = [list, get, set, unset, path]
