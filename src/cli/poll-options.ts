import { defaultMaxErrors } from '../domain/limits.ts'
import { integerParser } from '../domain/values/numbers.ts'
import { option } from './inputs.ts'

/** `--max-errors` of a wait or a watch: how many polls in a row may fail, 1 to 1,000,000. */
export const maxErrorsOption = option({
  name: 'max-errors',
  value: 'n',
  default: String(defaultMaxErrors),
  summary: 'Give up after this many failed polls in a row',
  parse: integerParser(1, 1_000_000),
})
