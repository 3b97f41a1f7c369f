import { usageError } from '../../errors.ts'
import { table } from '../../output/view.ts'
import type { CommandContext } from '../context.ts'
import type { RecordFields } from './record-fields.ts'

/**
 * Prints the names that `--fields` accepts, a row for each field and heading of its column, then the columns
 * that no field has. Returns the exit code 0. Throws a usage error if no name is known.
 */
export async function listFields(
  command: string,
  fields: RecordFields | undefined,
  { printer }: Pick<CommandContext, 'printer'>,
): Promise<number> {
  if (fields === undefined)
    throw usageError(`\`mergeq ${command}\` has no fields to select.`, 'Run the command without --fields.')
  const { names, columns, rowsIn } = fields
  if (names.length === 0 && columns.length === 0)
    throw usageError(
      `The fields of \`mergeq ${command}\` depend on the response.`,
      'To see the fields, run the command without --fields.',
    )
  const pathOf = (path: string) => (rowsIn === undefined ? path : `${rowsIn}.${path}`)
  const records = [
    ...names.flatMap(field => {
      const headings = columns.filter(([, path]) => pathOf(path) === field).map(([heading]) => heading)
      return (headings.length === 0 ? [null] : headings).map(column => ({ field, column }))
    }),
    ...columns
      .filter(([, path]) => !names.includes(pathOf(path)))
      .map(([column]) => ({ field: null, column })),
  ]
  await printer.print({
    records,
    document: list => list,
    view: list =>
      table(list, [
        ['FIELD', 'field', 'id'],
        ['COLUMN', 'column'],
      ]),
  })
  await printer.end()
  return 0
}
