import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { createGeneratorSync, type JsonSchema } from 'json-schema-faker'
import { parse } from 'yaml'
import type { Json } from '../../src/json.ts'
import { network } from './replaced-transport.ts'

interface Schemas {
  /** The schema of what an operation responds with. */
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly $defs: Readonly<Record<string, JsonSchema>>
}

const { responses, $defs }: Schemas = parse(
  readFileSync(new URL('../fixtures/service/responses.yaml', import.meta.url), 'utf8'),
)

const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
}

const ajv = new Ajv2020({ allErrors: true, strict: false, formats })

const schemaOf = (name: string): JsonSchema => {
  const schema = responses[name]
  return typeof schema === 'object' ? { ...schema, $defs } : false
}

const validators = new Map<string, ValidateFunction>()

/** The names of the operations that respond with JSON. */
export const jsonOperations = Object.keys(responses)

/** Returns how a response differs from its schema; empty for a valid response. */
export function responseErrors(name: string, document: Json): readonly string[] {
  const validate = validators.get(name) ?? ajv.compile(schemaOf(name))
  validators.set(name, validate)
  validate(document)
  return (validate.errors ?? []).map(
    ({ instancePath, message = '', params }) => `${name}${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** Creates an endless series of random valid responses of an operation; the same seed gives the same series. */
export function responseGenerator(name: string, seed: number): () => Json {
  const schema = schemaOf(name)
  const { generate } = createGeneratorSync({
    seed,
    optionalsProbability: 0.7,
    maxDefaultItems: 3,
    maxDepth: 20,
    refDepthMax: 20,
    // A title that is longer than its column is cut.
    maxLength: 60,
    minDateTime: '2025-12-01T00:00:00Z',
    maxDateTime: '2026-01-05T12:00:00Z',
  })
  return () => JSON.parse(JSON.stringify(generate(schema)))
}

/** What no output may contain: it shows a fault of this program. */
export const outputFaults = /\bundefined\b|\[object |\bNaN\b|inside mergeq/

/** Answers the requests of commands that run with `networkEnv`, by operation, in the place of the network. */
export function respondWith(
  respond: (operation: string) => { readonly status: number; readonly body: string },
): void {
  network.attempt = ({ request: { operation }, onBegin }) => {
    onBegin?.()
    const { status, body } = respond(operation)
    return { status, headers: new Map(), bytes: Buffer.from(body) }
  }
}
