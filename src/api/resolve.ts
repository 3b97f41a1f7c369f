import type { Config } from '../config/settings.ts'
import { type MergeqError, usageError } from '../errors.ts'
import type { BodyOverride, NameOf, Operation, Param, Params, ParamValues } from './operation.ts'

/** Who makes a request: the command line or the library. */
export interface Caller {
  readonly settings: Config
  readonly nameOf: NameOf
  /** What errors begin with: `getQueue: ` in the library, nothing on the command line. */
  readonly prefix: string
}

/**
 * Returns the values of the params of an operation: those that the caller gives, and for others those of the settings.
 * Throws a usage error for values that are missing or exclude each other.
 */
export async function resolveValues<P extends Params>(
  operation: Operation<P>,
  given: ReadonlyMap<string, unknown>,
  overrides: readonly BodyOverride[],
  caller: Caller,
): Promise<ParamValues<P>> {
  const entries: [string, unknown][] = []
  for (const [name, param] of Object.entries(operation.params))
    entries.push([name, given.has(name) ? given.get(name) : await valueFromSettings(name, param, caller)])
  const values = Object.fromEntries(entries) as ParamValues<P>
  checkValues(operation, values, overrides, caller)
  return values
}

/** Throws a usage error for values that exclude each other, or that are not enough. */
function checkValues<P extends Params>(
  { exclusive = [], check }: Operation<P>,
  values: ParamValues<P>,
  overrides: readonly BodyOverride[],
  { nameOf, prefix }: Caller,
): void {
  const given = new Map<string, unknown>(Object.entries(values))
  for (const pair of exclusive)
    if (pair.every(name => given.get(name) !== undefined && given.get(name) !== false))
      throw exclusiveError(
        pair.map(name => nameOf(name)),
        prefix,
      )
  check?.(values, overrides.length > 0, nameOf)
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
