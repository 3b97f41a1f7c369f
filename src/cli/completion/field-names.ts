import { anyField } from '../../api/operations/service-fields.ts'
import type { ParsedArgs } from '../../config/args.ts'
import type { CommandDescription } from '../command.ts'
import { fieldsHelp } from '../global-options.ts'

const headingName = (heading: string): string => heading.toLowerCase().replaceAll(' ', '_')

/**
 * Returns the names that can follow `--fields`: the headings of the table and the fields of the records, each
 * with the names before the last comma of the current word and without names that were typed there.
 *
 * @param current the value as far as it was typed
 * @param typed the arguments and options that were typed
 */
export function listFieldNames(
  { fields }: Pick<CommandDescription, 'fields'>,
  current: string,
  typed: ParsedArgs,
): readonly string[] {
  const { names = [], columns = [] } = (typeof fields === 'function' ? fields(typed) : fields) ?? {}
  const before = current.slice(0, current.lastIndexOf(',') + 1)
  const given = before.split(',')
  const headings = columns.map(([title]) => headingName(title))
  const known = new Set([...headings, ...names.filter(name => !name.endsWith(anyField))])
  const all = before === '' && known.size > 0 ? [...known, fieldsHelp] : [...known]
  return all.filter(name => !given.includes(name)).map(name => `${before}${name}`)
}
