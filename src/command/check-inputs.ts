// What is checked of typed words and of the values of a command, in addition to the type of each input.

import type { AddedFields } from '../api/added-fields.ts'
import { exclusiveError } from '../api/resolve.ts'
import { usageError } from '../base/errors.ts'
import type { Config, ParsedArgs } from '../config/settings.ts'
import type { RegisteredCommand } from './command.ts'
import { flagName, isOption, type Values, wordOf } from './inputs.ts'

/** Throws a usage error for an argument that is an empty word: the value of a variable that is not set. */
export function checkEmptyWords({ definitions }: RegisteredCommand, args: ParsedArgs): void {
  const empty = definitions.find(
    definition =>
      !isOption(definition) && definition.program !== true && args.get(definition.name)?.includes(''),
  )
  if (empty !== undefined)
    throw usageError(
      `The argument <${empty.name}> is an empty word.`,
      'Omit it, or check the variable that should have given it.',
    )
}

/** Throws a usage error for a typed branch that is none. The target branch is checked where it is read. */
export async function checkBranches({ definitions }: RegisteredCommand, args: ParsedArgs, settings: Config) {
  for (const { name, values } of definitions)
    if (values === 'branches' && name !== '--target-branch')
      for (const branch of args.get(name) ?? []) await settings.checkBranch(name, branch)
}

/** Throws a usage error for typed words that an operation takes only one of. A value of a setting does not count. */
export function checkExclusive({ operation, definitions }: RegisteredCommand, args: ParsedArgs): void {
  for (const pair of operation?.exclusive ?? []) {
    const typed = pair.flatMap(
      param =>
        definitions.find(({ name }) => (name === param || name === flagName(param)) && args.has(name)) ?? [],
    )
    if (typed.length === pair.length) throw exclusiveError(typed.map(({ name }) => wordOf(name)))
  }
}

/** Throws a usage error if both options of a pair were typed. */
export function rejectTogether(args: ParsedArgs, ...pairs: readonly (readonly [string, string])[]): void {
  const typed = pairs.find(pair => pair.every(name => args.has(name)))
  if (typed !== undefined) throw exclusiveError(typed)
}

/** Throws a usage error for values of a command that are not enough for its operation. */
export function checkEnough(
  { operation, command }: RegisteredCommand,
  values: Values,
  added: AddedFields | undefined,
): void {
  if (operation?.check === undefined) return
  const names = Object.keys(operation.params)
  const missing = names.find(name => !Object.hasOwn(values, name))
  if (missing !== undefined)
    throw new Error(`${command} has no option for ${missing}, which is to be checked`)
  const params = Object.fromEntries(names.map(name => [name, values[name]]))
  operation.check(params, added !== undefined && added.fields.length > 0, flagName)
}
