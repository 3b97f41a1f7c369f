import { isJsonFormat } from '../../domain/output-formats.ts'
import { createPrinter, type Printer, type PrinterOptions, type Writer } from '../../output/printer.ts'
import { createFieldSelection } from '../../output/selected-fields.ts'
import { checkNames } from './field-check.ts'
import type { RecordFields } from './record-fields.ts'
import { selectFields, unknownFieldsError } from './select-fields.ts'

export interface RequestedFields {
  readonly typed: readonly string[]
  /** The fields of the command; undefined where only the records say them. */
  readonly fields: RecordFields | undefined
}

const unknownRecord: RecordFields = { names: [], columns: [], others: 'at-hand' }

/**
 * Creates a printer for the requested fields. Throws a usage error for a name that no record of the command
 * has; the printer throws it at the end for a name that no printed record has.
 */
export function createSelectingPrinter(
  writer: Writer,
  options: Omit<PrinterOptions, 'selection'>,
  { typed, fields = unknownRecord }: RequestedFields,
): Printer {
  const isJson = isJsonFormat(options.format)
  const { unexplained, fields: selected } = selectFields(typed, fields, isJson)
  const selection = createFieldSelection(selected, fields.rowsIn)
  return checkNames(createPrinter(writer, { ...options, selection }), {
    names: unexplained,
    createError: (names, found) => unknownFieldsError(names, fields, isJson, found),
  })
}
