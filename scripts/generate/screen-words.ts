// The words that a person reads, and the names that programs read (docs/reference/cli.md, "Words on a screen").
import { queueSettings } from '../../src/api/operations/queue-settings.ts'
import { fieldsOf } from '../../src/command/fields.ts'
import { kebabCase } from '../../src/command/inputs.ts'
import { csvName } from '../../src/output/formats.ts'
import { stateStyles } from '../../src/output/styled-text.ts'
import { column, type Field, fieldColumns } from '../../src/output/view.ts'
import { allCommands } from '../../test/support/commands.ts'

/** A heading, the field below it, and its name in CSV; undefined where only a terminal has the heading. */
export interface ShownHeading {
  readonly heading: string
  readonly field: string
  readonly csv: string | undefined
}

const rowColumns = allCommands.flatMap(definition => fieldsOf(definition, new Map())?.columns ?? [])

const allFields = Object.keys(fieldColumns) as readonly Field[]

/** The headings on a terminal of fields that have another one in rows, and the fields. */
const screenHeadings: Readonly<Record<string, readonly Field[]>> = {
  AGO: allFields.filter(field => column(field).format === 'time'),
  FOR: ['stateChangedAt'],
  OF: ['ofUnit'],
  OWNER: ['codeowners'],
  TEST: ['name'],
  TESTED: ['testingDurationMs'],
}

const rowFields = rowColumns.map(({ path }) => path)

/** The headings of all tables, in the order of the alphabet, each field once. */
export const shownHeadings: readonly ShownHeading[] = [
  ...new Map(
    [
      ...rowColumns.map(column => ({
        heading: column.title,
        field: column.path.replace(/^test\./, ''),
        csv: csvName(column),
      })),
      ...allFields
        .filter(field => !rowFields.includes(field))
        .map(field => ({ heading: column(field).title, field, csv: undefined })),
      ...Object.entries(screenHeadings).flatMap(([heading, fields]) =>
        fields.map(field => ({ heading, field, csv: undefined })),
      ),
    ]
      .filter(({ heading }) => heading !== '')
      .map(shown => [`${shown.heading} ${shown.field}`, shown]),
  ).values(),
].toSorted((one, other) => (one.heading < other.heading ? -1 : 1))

/** The words of each state on a terminal, its sign, and its name in rows and JSON. */
export const shownStates = [...stateStyles].map(([name, { sign }]) => ({
  words: name.toLowerCase().replaceAll('_', ' '),
  sign,
  name,
}))

/** The settings of a queue as flags and people write them, and their names in JSON and files. */
export const shownSettings = Object.keys(queueSettings).map(name => ({ words: kebabCase(name), name }))
