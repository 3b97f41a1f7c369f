import { type Field, fieldOf, type RecordType } from '../api/operations/fields.ts'
import type { JsonObject } from '../base/json.ts'
import { ownPrints, type PrintingCommand, recordsOf } from '../command/fields.ts'
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
  true: { const: true },
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

/** Returns the JSON Schema of a document that a command prints with --json; null if it prints no JSON of its own. */
export function documentSchema(command: PrintingCommand): JsonObject | null {
  const { with: others, ...usual } = ownPrints(command)
  const documents = [...(recordsOf(command, usual).documents ?? []), ...(others?.documents ?? [])]
  if (documents.length === 0) return null
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...anyOf(documents.map(each => schemaOfField(fieldOf(each)))),
  }
}
