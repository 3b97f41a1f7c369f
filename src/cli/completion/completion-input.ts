import { settingDefinitions } from '../../config/setting-definitions.ts'
import type { DocumentedCommand } from '../help/command-doc.ts'
import { isOption, type OptionDefinition, type ValueSource } from '../inputs.ts'
import { setOption } from '../read-overrides.ts'

export interface CompletionInput {
  /** `--priority` for an option, `pr` for an argument. */
  readonly name: string
  readonly short?: string
  readonly summary: string
  readonly isOption: boolean
  readonly takesValue: boolean
  readonly isVariadic: boolean
  readonly isHidden: boolean
  readonly values: readonly string[]
  readonly source?: ValueSource
  readonly isFile: boolean
  readonly isCommandLine: boolean
}

export const toCompletionInput = (definition: OptionDefinition): CompletionInput => ({
  name: definition.name,
  ...(definition.short === undefined ? {} : { short: definition.short }),
  summary: definition.summary,
  isOption: isOption(definition),
  takesValue: !isOption(definition) || definition.value !== undefined,
  isVariadic: definition.variadic === true,
  isHidden: definition.hidden === true,
  values: [...(definition.choices ?? []), ...(definition.suggestions ?? [])],
  ...(definition.values === undefined ? {} : { source: definition.values }),
  isFile: definition.file === true,
  isCommandLine: definition.program === true,
})

/** Returns the fields of the request body that no setting gives, as `--set` takes them: `mode=`. */
const bodyFieldsOf = ({ operations: [operation] }: { operations: DocumentedCommand['operations'] }) =>
  typeof operation !== 'object'
    ? []
    : Object.entries(operation.params).flatMap(([name, { location = '' }]) =>
        location.startsWith('body.') && !Object.hasOwn(settingDefinitions, name)
          ? [`${location.slice('body.'.length)}=`]
          : [],
      )

export const completionInputsOf = (
  command: Pick<DocumentedCommand, 'definitions' | 'operations'>,
): readonly CompletionInput[] =>
  command.definitions.map(definition =>
    toCompletionInput(
      setOption.definitions.includes(definition)
        ? { ...definition, suggestions: bodyFieldsOf(command) }
        : definition,
    ),
  )
