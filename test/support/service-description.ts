import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { createGeneratorSync, type JsonSchema } from 'json-schema-faker'
import { parse } from 'yaml'
import type { Json } from '../../src/json.ts'
import { network, networkEnv } from './replaced-transport.ts'

/** A description of the service in OpenAPI 3.1, written by hand from docs/reference/service.md. */
interface Description {
  readonly paths: Readonly<
    Record<string, { readonly get?: OperationObject; readonly post?: OperationObject }>
  >
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, Response>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
  }
}

interface Content {
  readonly [type: string]: { readonly schema: JsonSchema }
}

interface Parameter {
  readonly name: string
  readonly in: 'header' | 'query'
  readonly required: boolean
  readonly schema: JsonSchema
}

interface Response {
  readonly content: Content
}

interface Reference {
  /** `#/components/responses/Done` */
  readonly $ref: string
}

interface OperationObject {
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: { readonly '200': Response | Reference }
}

const description: Description = parse(
  readFileSync(new URL('../fixtures/service/openapi.yaml', import.meta.url), 'utf8'),
)
const { components } = description

/** Returns what an object of the description is or refers to. */
function resolve<T extends object>(one: T | Reference, named: Readonly<Record<string, T>>): T {
  if (!('$ref' in one)) return one
  const found = named[one.$ref.replace(/.*\//, '')]
  if (found === undefined) throw new Error(`${one.$ref} is not in the description`)
  return found
}

const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
}

const ajv = new Ajv2020({ allErrors: true, strict: false, formats })

/** Puts the named schemas into a schema, so that it stands alone. */
const alone = (schema: JsonSchema): JsonSchema =>
  typeof schema === 'boolean' ? schema : { ...schema, components }

const validators = new Map<string, ValidateFunction>()

/** Returns how a value differs from a schema; `key` names the schema. */
function errorsOf(key: string, schema: JsonSchema, value: unknown): readonly string[] {
  const validate = validators.get(key) ?? ajv.compile(alone(schema))
  validators.set(key, validate)
  validate(value)
  return (validate.errors ?? []).map(
    ({ instancePath, message = '', params }) => `${key}${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string
  /** The address below the base address, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Empty if there is no body. */
  readonly body: string
}

/** Returns how a request differs from the description; empty for a valid request. */
export function requestErrors({ method, path, headers, body }: WireRequest): readonly string[] {
  const { pathname, searchParams } = new URL(path, 'http://service')
  const item = description.paths[pathname]
  const operation = method === 'GET' ? item?.get : item?.post
  if (operation === undefined) return [`${method} ${pathname} is not in the description`]
  const { requestBody } = operation
  const parameters = (operation.parameters ?? []).map(one => resolve(one, components.parameters))
  const known = parameters.filter(parameter => parameter.in === 'query').map(({ name }) => name)
  const parameterErrors = parameters.flatMap(({ name, in: place, required, schema }) => {
    const value = place === 'query' ? searchParams.get(name) : headers[name]
    if (value == null) return required ? [`${pathname} has no ${name}`] : []
    return errorsOf(`${pathname} ${name}`, schema, value)
  })
  const schema = requestBody?.content['application/json']?.schema
  const bodyErrors =
    schema === undefined
      ? body === ''
        ? []
        : [`${pathname} has a body`]
      : headers['content-type'] === 'application/json'
        ? errorsOf(`${pathname} body`, schema, JSON.parse(body))
        : [`${pathname} has another type`]
  return [
    ...[...searchParams.keys()].filter(name => !known.includes(name)).map(name => `${pathname} has ${name}`),
    ...parameterErrors,
    ...bodyErrors,
  ]
}

/** The schema of the JSON that an operation responds with; undefined if it responds with text. */
const responseSchema = (name: string): JsonSchema | undefined => {
  const { get, post } = description.paths[`/${name}`] ?? {}
  const operation = get ?? post
  if (operation === undefined) return undefined
  return resolve(operation.responses['200'], components.responses).content['application/json']?.schema
}

/** The names of the operations of the description, and of those that respond with JSON. */
export const describedOperations = Object.keys(description.paths).map(path => path.slice(1))
export const jsonOperations = describedOperations.filter(name => responseSchema(name) !== undefined)

/** Returns how a response differs from the description; empty for a valid response. */
export const responseErrors = (name: string, document: Json): readonly string[] =>
  errorsOf(`${name} response`, responseSchema(name) ?? false, document)

/** Creates an endless series of random valid responses of an operation; the same seed gives the same series. */
export function responseGenerator(name: string, seed: number): () => Json {
  const schema = alone(responseSchema(name) ?? false)
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

/** The name of the operation that a request is for. */
export const operationOf = ({ path }: Pick<WireRequest, 'path'>): string => path.slice(1).replace(/\?.*/, '')

/** What no output may contain: it shows a fault of this program. */
export const outputFaults = /\bundefined\b|\[object |\bNaN\b|inside mergeq/

/** Answers the requests of commands that run with `networkEnv`, in the place of the network. */
export function respondWith(
  respond: (request: WireRequest) => { readonly status: number; readonly body: string },
): void {
  network.attempt = ({ request: { method, url, body }, headers, onBegin }) => {
    onBegin?.()
    const text = body === undefined ? '' : Buffer.concat(body.pieces).toString()
    const path = url.replace(networkEnv.MERGEQ_BASE_URL, '')
    const response = respond({ method, path, headers, body: text })
    return { status: response.status, headers: new Map(), bytes: Buffer.from(response.body) }
  }
}
