import { parseToken } from '../config/api-token.ts'
import type { SettingKey } from '../config/setting-definitions.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import type { SettingSource } from '../config/setting-source.ts'
import {
  numberOrTextReader,
  numberReader,
  type OptionReaders,
  type OptionValues,
  optionReader,
  readRepository,
  textReader,
} from './option-readers.ts'
import type { ClientOptions, CommonOptions } from './types.ts'

type SettingOption = keyof CommonOptions & SettingKey

/** Returns a text unchanged; throws a usage error if the setting does not accept it. */
const textOf =
  (name: SettingOption) =>
  (text: string): string => {
    settingDefinitions[name].parse(text)
    return text
  }

const settingReader = (name: SettingOption) => textReader(textOf(name))

export const settingReaders = {
  repo: readRepository,
  targetBranch: settingReader('targetBranch'),
  org: settingReader('org'),
  baseUrl: settingReader('baseUrl'),
  profile: settingReader('profile'),
  timeout: numberOrTextReader(text => textOf('timeout')(/^\d+$/.test(text) ? `${text}ms` : text)),
  retries: numberReader(settingDefinitions.retries.parse),
  caFile: settingReader('caFile'),
} satisfies { readonly [K in keyof Required<CommonOptions>]: unknown } & OptionReaders

export const clientReaders = {
  ...settingReaders,
  token: textReader(text => (text.trim() === '' ? text : parseToken(text, 'option').value)),
  signal: optionReader(
    'AbortSignal',
    (value): value is AbortSignal => value instanceof AbortSignal,
    value => value,
  ),
  onNotice: optionReader(
    '(text: string) => void',
    (value): value is (text: string) => void => typeof value === 'function',
    value => value,
  ),
} satisfies { readonly [K in keyof Required<ClientOptions>]: unknown } & OptionReaders

export type GivenSettings = OptionValues<typeof settingReaders>

/** Returns the settings as a source, in which each has the name of its option. */
export const sourceOf = (given: GivenSettings): SettingSource => ({
  find(name) {
    const value = isSettingOption(name) ? given[name] : undefined
    return value === undefined ? undefined : { value: String(value), origin: name }
  },
})

const isSettingOption = (name: SettingKey): name is SettingOption => Object.hasOwn(settingReaders, name)
