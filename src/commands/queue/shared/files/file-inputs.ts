// The options of the commands that read queue files.

import { type BodyOverride, checkOverrides } from '../../../../api/added-fields.ts'
import type { Operation } from '../../../../api/operation.ts'
import { usageError, withName } from '../../../../base/errors.ts'
import type { Json, JsonObject } from '../../../../base/json.ts'
import { flag, type Input, option, optionInput } from '../../../../command/inputs.ts'
import { setOf, setOption } from '../../../../command/set-option.ts'
import { fileName } from '../../../../values/types.ts'
import { formatValue, readSetting } from './queue-file.ts'

export const includeStateInput = flag('Include the state of the queue (left out by default)')

const flagFile = optionInput(
  'file',
  option(
    fileName('file|directory'),
    'Queue file (- for standard input) or directory of queue files, with the directories below it; required',
    { short: 'f' },
  ),
)

/** The file or directory that was typed: a usage error without one. */
export const fileInput: Input<string> = {
  ...flagFile,
  read(args) {
    const file = flagFile.read(args)
    if (file !== undefined) return file
    throw usageError('No file was given.', 'Specify a file with -f. To create one, use queue export -f.')
  },
}

/** Reads a setting of `--set`: a path without dots. Throws a usage error for another path or a wrong value. */
function readOverride({ path, value }: BodyOverride): readonly [string, Json] {
  const [key = '', ...below] = path
  if (below.length > 0)
    throw usageError(`--set: '${path.join('.')}=${formatValue(value)}' is not <setting>=<value>.`)
  return [key, withName(`--set: ${key}`, () => readSetting(key, value))]
}

export function settingsOf(operation: Operation): Input<JsonObject> {
  const summary = 'Replace a setting of the files, or add one; a value that is not JSON is text'
  return {
    definitions: setOf(operation).definitions.map(definition => ({
      ...definition,
      summary,
      value: 'setting=value',
    })),
    read(args) {
      const given = setOption.read(args) ?? []
      const settings = given.map(readOverride)
      checkOverrides('--set', given, [])
      return Object.fromEntries(settings)
    },
  }
}

export interface FileOptions {
  readonly includeState: boolean
  readonly set: JsonObject
}
