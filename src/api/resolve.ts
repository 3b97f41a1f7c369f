import { type MergeqError, usageError } from '../base/errors.ts'
import type { Config } from '../config/settings.ts'
import type { NameOf, Param } from './params.ts'

/** Who makes a request: the command line or the library. */
export interface Caller {
  readonly settings: Config
  readonly nameOf: NameOf
  /** What errors begin with: `getQueue: ` in the library, nothing on the command line. */
  readonly prefix: string
}

/** The usage error of two options of which a request takes only one. */
export const exclusiveError = (names: readonly string[], prefix = ''): MergeqError =>
  usageError(`${prefix}${names.join(' and ')} cannot be used together.`, 'Use only one of them.')

/** Returns the value that a setting gives to a param. Throws a usage error for a required value that is missing. */
export function valueFromSettings(
  name: string,
  { setting, settingFrom, required = false }: Param<unknown>,
  { settings, nameOf, prefix }: Caller,
): Promise<unknown> | undefined {
  if (setting !== undefined && settingFrom !== undefined) return settings.readFrom(settingFrom, setting)
  if (setting !== undefined) return required ? settings.require(setting) : settings.read(setting)
  if (required) throw usageError(`${prefix}${nameOf(name)} is required.`, `Give ${nameOf(name)}.`)
  return undefined
}
