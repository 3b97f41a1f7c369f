import { argument } from '../../cli/inputs.ts'
import { configKeys, type SettingKey } from '../../config/setting-definitions.ts'
import { usageError } from '../../errors.ts'

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

export const keyField = argument('<key>', `One of ${[...configKeys.keys()].join(', ')}`, key, {
  choices: [...configKeys.keys()],
})
