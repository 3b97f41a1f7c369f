// The words that a person reads, and the names that programs read (docs/reference/cli.md, "Words on a screen").
import { queueSettings } from '../../src/api/operations/queue-settings.ts'
import { fieldsOf } from '../../src/command/fields.ts'
import { kebabCase } from '../../src/command/inputs.ts'
import { csvName } from '../../src/output/formats.ts'
import { stateStyles } from '../../src/output/styled-text.ts'
import { screenHeadings } from '../../src/output/view.ts'
import { allCommands } from '../../test/support/commands.ts'

/** A heading, the field below it, and its name in CSV; undefined where only a terminal has the heading. */
export interface ShownHeading {
  readonly heading: string
  readonly field: string
  readonly csv: string | undefined
}

const rowColumns = allCommands.flatMap(definition => fieldsOf(definition, new Map())?.columns ?? [])

/** The headings of all tables, in the order of the alphabet, each field once. */
export const shownHeadings: readonly ShownHeading[] = [
  ...new Map(
    [
      ...rowColumns.map(column => ({
        heading: column.title,
        field: column.path.replace(/^test\./, ''),
        csv: csvName(column),
      })),
      ...Object.entries(screenHeadings).flatMap(([heading, fields]) =>
        fields.split(' ').map(field => ({ heading, field, csv: undefined })),
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
