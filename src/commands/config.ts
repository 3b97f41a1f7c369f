import type { Cli } from '../cli/cli.ts'
import type { AnyCommand } from '../cli/command.ts'
import { defineCommand } from '../cli/define-command.ts'
import { printPreview } from '../cli/dry-run.ts'
import { argument, flag, type TypedInput, typedInput } from '../cli/inputs.ts'
import { configKeys, type SettingKey, settingDefinitions } from '../config/setting-definitions.ts'
import { profileIn, sectionOf, storeFile, updateStore } from '../config/store.ts'
import { hintWithSuggestion } from '../domain/similar-name.ts'
import { textual } from '../domain/values/types.ts'
import { MergeqError, usageError, withName } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { columns, singleRecord } from '../output/view.ts'

const keys = [...configKeys.keys()]

const anyText = textual({ expected: 'a string', placeholder: 'text', parse: text => text })

const typedKey = typedInput('key', argument({ ...anyText, choices: keys }, `Setting: ${keys.join(', ')}`))

/** The argument that names a setting: its key, and its name in the program. */
const keyArgument: TypedInput<{ readonly key: string; readonly name: SettingKey }> = {
  ...typedKey,
  read(args) {
    const key = typedKey.read(args)
    const name = configKeys.get(key)
    if (name === undefined)
      throw usageError(
        `'${key}' is not a setting that can be stored.`,
        key === 'token'
          ? 'To store a token, run: mergeq auth login'
          : hintWithSuggestion(key, keys, `Use one of: ${keys.join(', ')}.`),
      )
    return { key, name }
  },
}

/** Replaces the stored values of the selected profile with the result of `change`. */
async function updateProfile(
  { host, settings }: Cli,
  change: (values: JsonObject) => JsonObject,
): Promise<void> {
  const profile = await settings.require('profile')
  await updateStore(host, document => {
    const profiles = sectionOf(document, 'profiles')
    return { ...document, profiles: { ...profiles, [profile]: change(sectionOf(profiles, profile)) } }
  })
}

/** Returns the selected profile and its file as messages name them: `profile work in /home/ann/.config/...`. */
const describeProfile = async ({ settings }: Cli): Promise<string> =>
  `profile ${await settings.require('profile')} in ${storeFile({ settings })}`

const configListCommand = defineCommand({
  command: 'config list',
  summary: 'List the settings in effect',
  output: {
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

const configGetCommand = defineCommand({
  command: 'config get',
  summary: 'Print the value of a setting',
  exitKinds: ['not-found'],
  output: { table: 'the value', json: '{"key","value","origin"}', ndjson: 'the same, on one line' },
  fields: { names: ['key', 'value', 'origin'], columns: columns(['VALUE', 'value']) },
  options: { key: keyArgument },
  examples: ['mergeq config get repo'],
  async run({ key: { key, name } }, { settings, printer }) {
    const resolved = await settings.find(name)
    await settings.read(name)
    if (resolved === undefined)
      throw new MergeqError('not-found', `${key} is not set.`, {
        hint: `To set it, run: mergeq config set ${key} <value>`,
      })
    const { value, origin } = resolved
    const record = { key, value, origin }
    await printer.print({
      ...singleRecord(record),
      columns: columns(['VALUE', 'value']),
      screen: () => ({ sentence: value }),
    })
    return 0
  },
})

/** Upper limit for a stored value, in characters. */
const maxValueLength = 4_096

const configSetCommand = defineCommand({
  command: 'config set',
  summary: 'Store a setting in a profile',
  output: 'nothing',
  changesSettings: true,
  options: {
    key: keyArgument,
    value: argument(anyText, 'Value to store'),
  },
  examples: ['mergeq config set repo acme/web', 'mergeq config set target-branch release --profile work'],
  async run({ key: { key, name }, value }, context) {
    if (value.length > maxValueLength)
      throw usageError(`${key}: the value is longer than ${maxValueLength} characters.`)
    withName(key, () => settingDefinitions[name].parse(value))
    if (context.options.dryRun) {
      const would = `Would set ${key} to ${value} in ${await describeProfile(context)}.`
      return printPreview('config set', would, context)
    }
    await updateProfile(context, values => ({ ...values, [key]: value }))
    return 0
  },
})

const configUnsetCommand = defineCommand({
  command: 'config unset',
  destructive: true,
  summary: 'Remove a stored setting',
  output: 'nothing',
  changesSettings: true,
  options: { key: keyArgument },
  examples: ['mergeq config unset repo'],
  async run({ key: { key } }, context) {
    const { settings } = context
    // An unknown profile is an error: a command that removes a value does not create one.
    const profile = profileIn(await settings.store.read(), await settings.require('profile'))
    if (context.options.dryRun) {
      const place = await describeProfile(context)
      const preview = Object.hasOwn(profile, key)
        ? `Would remove ${key} from ${place}.`
        : `Would change nothing: ${key} is not set in ${place}.`
      return printPreview('config unset', preview, context)
    }
    await updateProfile(context, ({ [key]: _, ...values }) => values)
    return 0
  },
})

const configPathCommand = defineCommand({
  command: 'config path',
  summary: 'Print the path of the settings file',
  output: 'the path',
  examples: ['mergeq config path'],
  async run(_, context) {
    await context.host.out.write(`${storeFile(context)}\n`)
    return 0
  },
})

export const configCommands: readonly AnyCommand[] = [
  configListCommand,
  configGetCommand,
  configSetCommand,
  configUnsetCommand,
  configPathCommand,
]
