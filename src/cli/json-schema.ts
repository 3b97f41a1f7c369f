import { isChange } from '../api/operation.ts'
import { type Field, fieldOf, list, type RecordType } from '../api/operations/fields.ts'
import { receiptRecord } from '../api/operations/receipts.ts'
import type { JsonObject } from '../base/json.ts'
import type { Command } from '../command/command.ts'
import { pullRequestStates, queueStates } from '../domain/states.ts'

const anyOf = (schemas: readonly JsonObject[]): JsonObject => {
  const [first = {}, ...others] = schemas
  return others.length === 0 ? first : { anyOf: schemas }
}

/** The known words, and any other: the service may add some. */
const openWords = (words: readonly string[]): JsonObject => anyOf([{ enum: words }, { type: 'string' }])

const namedTypes: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  object: { type: 'object' },
  OtherString: { type: 'string' },
  Json: {},
  PullRequestState: openWords(pullRequestStates),
  QueueState: openWords(queueStates),
}

/** Returns the schema of a type as the field table writes it; a type without a name here is an object. */
function schemaOfType(type: string): JsonObject {
  const parts = type.split(' | ')
  const isWord = (part: string) => part.startsWith("'")
  const words = parts.filter(isWord).map(part => part.slice(1, -1))
  const others = parts.filter(part => !isWord(part)).map(schemaOfPart)
  return anyOf([...(words.length === 0 ? [] : [{ enum: words }]), ...others])
}

function schemaOfPart(type: string): JsonObject {
  const item = /^readonly (.*)\[\]$/.exec(type)?.[1]
  return item === undefined
    ? (namedTypes[type] ?? { type: 'object' })
    : { type: 'array', items: schemaOfPart(item) }
}

function schemaOfField({ type = 'Json', record, isList, isNullable, summary }: Field): JsonObject {
  const value = record === undefined ? schemaOfType(type) : schemaOfRecord(record)
  const inList = isList ? { type: 'array', items: value } : value
  const schema = isNullable ? anyOf([inList, { type: 'null' }]) : inList
  return summary === undefined ? schema : { description: summary, ...schema }
}

/** Fields that the record type does not name are permitted. */
function schemaOfRecord(record: RecordType): JsonObject {
  const fields = fieldsIn(record)
  const always = Object.entries(fields).flatMap(([name, field]) => (field.required ? [name] : []))
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, schemaOfField(field)]),
    ),
    ...(always.length === 0 ? {} : { required: always }),
  }
}

const fieldsIn = ({ base, fields }: RecordType): RecordType['fields'] => ({
  ...(base === undefined ? {} : fieldsIn(base)),
  ...fields,
})

type Documented = Pick<Command, 'documents' | 'operation'>

/** Returns the documents of a command: its own, or what its operation returns, and the receipt of a change. */
function documentsOf({ documents, operation }: Documented): readonly (RecordType | Field)[] {
  if (documents !== undefined || operation === undefined) return documents ?? []
  const { response, document = response, decoder } = operation
  const all = document === undefined ? [] : [decoder.expects === 'text' ? list(document) : document]
  return isChange(operation) ? [...all, receiptRecord] : all
}

/** Returns the JSON Schema of a document that a command prints with --json; null if it prints no JSON of its own. */
export function documentSchema(command: Documented): JsonObject | null {
  const documents = documentsOf(command)
  if (documents.length === 0) return null
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...anyOf(documents.map(each => schemaOfField(fieldOf(each)))),
  }
}
