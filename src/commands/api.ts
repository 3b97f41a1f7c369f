import { parseOverride } from '../api/added-fields.ts'
import { maxBodySize, maxRawResponseSize } from '../api/limits.ts'
import { type Operation, operationMethod, operationName } from '../api/operation.ts'
import { serviceOperations } from '../api/operations/index.ts'
import { type Params, type ParamValues, requiredParam } from '../api/params.ts'
import { bodyTooLargeError, sentBody } from '../api/request.ts'
import { valueFromSettings } from '../api/resolve.ts'
import type { ResponseBody, ResponseDecoder } from '../api/response.ts'
import { extendError, failureOrThrow, type MergeqError, usageError, withName } from '../base/errors.ts'
import { getNumber, isObject, type JsonObject, parseJson } from '../base/json.ts'
import { command } from '../command/command.ts'
import { fieldsOfRecords, type RecordFields } from '../command/fields.ts'
import { openInput } from '../command/input-files.ts'
import { argument, callerOf, flag, option, paramInput } from '../command/inputs.ts'
import { forOne, send, show } from '../command/send.ts'
import { readOverrides, withAddedFields } from '../command/set-option.ts'
import { settingDefinition } from '../config/setting-definitions.ts'
import type { ParsedArgs } from '../config/settings.ts'
import { suggestName } from '../values/similar-name.ts'
import { decodeUtf8, textParser } from '../values/text.ts'
import {
  choice,
  fileName,
  isRepository,
  listOf,
  requireExactNumbers,
  type Type,
  textual,
} from '../values/types.ts'

const operationNames = serviceOperations.map(({ route }) => operationName(route)).sort()

const anyOperation = textual({
  expected: 'the name of an operation',
  placeholder: 'operation',
  suggestions: operationNames,
  parse(text) {
    const name = text.replace(/^\//, '')
    if (!/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(name))
      throw usageError(
        `'${text}' is not a valid operation name.`,
        'Use a name such as getQueue or flaky-tests/list-failing-tests.',
      )
    return name
  },
})

/** The whole body, which is read from a file and checked there. */
const anyBody: Type<unknown> = {
  expected: 'a JSON object',
  form: 'value',
  placeholder: '',
  declaration: 'JsonObject',
  parse: text => text,
  check: value => value,
}

const findOperation = (name: string): Operation | undefined =>
  serviceOperations.find(({ route }) => operationName(route) === name)

/**
 * Returns the params of a known operation that settings give, unless the body has a value for them. The param
 * of an option that was typed stays: a field that sets the same is an error.
 */
const settingParams = (operation: Operation, givenKeys: ReadonlySet<string>, args: ParsedArgs) =>
  (['repo', 'targetBranch', 'org'] as const).flatMap(name => {
    const param = operation.params[name]
    if (param === undefined) return []
    const isGiven = givenKeys.has((param.location ?? '').replace('body.', ''))
    const isTyped = args.has(settingDefinition(name).flag ?? '')
    return isGiven && !isTyped ? [] : [{ name, param, input: paramInput(name, param) }]
  })

/** Returns what to do about a 404 of an operation that mergeq does not know. */
function unknownHint(name: string, method: 'GET' | 'POST'): string {
  const similar = suggestName(name, operationNames) ?? suggestName(`get${name}`, operationNames)
  const sentAs = method === 'POST' ? ' It was sent with POST; for a read, add --method get.' : ''
  return `mergeq knows no operation named '${name}'.${sentAs} ${similar ?? 'To list them, run: mergeq api --help'}`
}

/** Returns the fields of the response; an unknown operation counts as a change unless it is read with GET. */
function responseFields(typed: ReadonlyMap<string, readonly string[]>): RecordFields {
  const operation = findOperation(typed.get('operation')?.[0] ?? '')
  const isRead = typed.get('--method')?.[0]?.toLowerCase() === 'get'
  const isChange = operation === undefined ? !isRead : operation.change !== undefined
  const record = operation?.document ?? operation?.response ?? []
  return fieldsOfRecords([record].flat(), [], isChange ? 'any' : 'from-response')
}

/** Returns a field `key=value` unchanged. Throws a usage error for any other text. */
function parseField(text: string): string {
  parseOverride(text)
  return textParser('field')(text)
}

/** Returns a field `key=value` with its value as a JSON string. Throws a usage error for any other text. */
function parseRawField(text: string): string {
  const equals = text.indexOf('=')
  return parseField(
    equals < 0 ? text : `${text.slice(0, equals + 1)}${JSON.stringify(text.slice(equals + 1))}`,
  )
}

const fieldList = (parse: (text: string) => string): Type<readonly string[]> =>
  listOf(textual({ expected: 'a field', placeholder: 'key=value', parse }))

/** The bytes of --input that are read: white space may make a body of 20 MiB longer. */
const maxInputSize = 2 * maxBodySize

/** The body must be a JSON object in UTF-8 whose numbers can be sent exactly. */
async function readInputBody(input: AsyncIterable<Uint8Array>, operation: string): Promise<JsonObject> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > maxInputSize) throw bodyTooLargeError(operation, bytes)
    chunks.push(chunk)
  }
  const json = decodeUtf8(Buffer.concat(chunks))
  if (json === undefined)
    throw usageError('--input: the body contains bytes that are not UTF-8.', 'Save the text as UTF-8.')
  withName('--input', () => requireExactNumbers(json))
  const body = parseJson(json)
  if (!isObject(body)) throw usageError('--input: the body must be a JSON object.')
  return body
}

/** Creates a decoder that keeps every body unchanged; `include` adds the status line and headers in front. */
const createRawDecoder = (include: boolean): ResponseDecoder => ({
  expects: 'anything',
  maxBytes: maxRawResponseSize,
  read(body) {
    const { bytes, document } = body
    return {
      records: isObject(document) ? [document] : [],
      document: ([record]) => record ?? document ?? null,
      bytes,
      rawBody: include ? prependHead(body) : bytes,
    }
  },
  readError(body) {
    if (include) return prependHead(body)
    return body.bytes.length === 0 ? undefined : body.bytes
  },
})

function prependHead({ status, headers, bytes }: ResponseBody): Uint8Array {
  const lines = [`HTTP ${status}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), '', '']
  return Buffer.concat([Buffer.from(lines.join('\r\n')), bytes])
}

/** Throws the error of a response with its status in the message: the body is printed, and may lack it. */
function withStatus(failure: MergeqError): never {
  const { message, details } = failure
  const { status, rawResponse } = details
  if (rawResponse === undefined || new RegExp(`\\b${status}\\b`).test(message)) throw failure
  throw extendError(failure, {}, `${message.replace(/\.$/, '')} (${status}).`)
}

/** Returns what a body names, as params of other operations; a member that is missing or malformed is left out. */
function namedIn(body: JsonObject): Readonly<Record<string, unknown>> {
  const { impactedTargets: list, repo } = body
  const number = getNumber(body, 'pr.number') ?? -1
  return {
    ...(isRepository(repo) ? { repo } : {}),
    ...(typeof body.targetBranch === 'string' ? { targetBranch: body.targetBranch } : {}),
    ...(Number.isInteger(number) && number >= 0 ? { pr: number } : {}),
    ...(list === 'ALL' || Array.isArray(list) ? { targets: { list, number: list.length } } : {}),
  }
}

const methods = { get: 'GET', post: 'POST' } as const

export const definition = command({
  name: 'api',
  summary: 'Call any API operation and print the response unchanged',
  alsoSends: 'any',
  prints: {
    text: 'the response, unchanged except that it is sanitized on a terminal; --fields selects fields from it',
    fields: responseFields,
  },
  options: {
    operation: argument(anyOperation, `Operation, such as ${operationNames.join(', ')}`),
    method: option(choice(['get', 'post'], 'method'), 'HTTP method: get or post', {
      short: 'X',
      defaultText: "the operation's own; post for one that mergeq does not know",
    }),
    field: option(fieldList(parseField), 'Add a field, see mergeq help formatting', {
      short: 'F',
    }),
    rawField: option(
      fieldList(parseRawField),
      'Add a field whose value is always text: 1 and true are sent in quotes',
      { short: 'f' },
    ),
    input: option(fileName(), 'Read the body, a JSON object, from a file (- for standard input)'),
    include: flag('Print the status line and headers before the body, including for error responses'),
  },
  examples: [
    'mergeq api getQueue',
    'mergeq api getSubmittedPullRequest -F pr.number=123 --include',
    'mergeq api listPullRequests -f state=MERGED -F take=10',
    'mergeq api flaky-tests/list-quarantined-tests -F page_query.page_size=100',
    'mergeq api status',
  ],
  async run({ operation: name, method, field = [], rawField = [], input, include }, cli) {
    const set = [...field, ...rawField]
    const known = findOperation(name)
    const body = input === undefined ? {} : await readInputBody(openInput(input, cli), name)
    const hasBody = input !== undefined || set.length > 0
    const sentMethod = (method && methods[method]) ?? (known ? operationMethod(known.route) : 'POST')
    if (sentMethod === 'GET' && hasBody)
      throw usageError('A GET request cannot have a body.', 'Omit -f, -F and --input, or use -X post.')
    const givenKeys = new Set([...Object.keys(body), ...set.map(field => field.split(/[.=]/)[0] ?? '')])
    const settings = known === undefined ? [] : settingParams(known, givenKeys, cli.args)
    // A POST of an unknown operation may be a change. A change is never read back or sent again.
    const isChange = known === undefined ? sentMethod === 'POST' : known.change !== undefined
    const operation: Operation = {
      ...(isChange && { change: { ...known?.change, recovery: { replay: 'never' as const } } }),
      errors: {
        hint: status =>
          known === undefined && (status === 404 || status === 405)
            ? unknownHint(name, sentMethod)
            : undefined,
      },
      isHostedOnly: known?.isHostedOnly === true,
      isPublic: known?.isPublic === true,
      route: `${sentMethod} /${name}`,
      summary: '',
      params: {
        ...Object.fromEntries(settings.map(({ name, param }) => [name, param])),
        body: requiredParam(anyBody, 'Body', { location: 'body' }),
      },
      decoder: createRawDecoder(include),
    }
    const inputs = Object.fromEntries(settings.map(({ name, input }) => [name, input]))
    const args = new Map(cli.args)
    if (set.length > 0) args.set('--set', set)
    const overrides = readOverrides(args, inputs, operation.params)
    const sent: Record<string, unknown> = { body }
    const source = isChange ? cli.settings.forChange() : cli.settings
    for (const { name, param } of settings)
      sent[name] = await valueFromSettings(name, param, callerOf(source))
    const values: ParamValues<Params> = { ...sent, ...namedIn(sentBody(operation, sent, overrides)) }
    const own = withAddedFields(cli, { route: operation.route, fields: overrides })
    return forOne(own, operation, values, async () =>
      show(await send(own, operation, values).catch(error => withStatus(failureOrThrow(error)))),
    )
  },
})
