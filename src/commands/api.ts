import type { ResponseBody, ResponseDecoder } from '../api/decode.ts'
import { defineOperation, type Operation, operationMethod, operationName } from '../api/operation.ts'
import { operationCommands, serviceOperations } from '../api/operations/index.ts'
import { unknownRecovery } from '../api/recovery-rules.ts'
import { defineCommand } from '../cli/command.ts'
import { argument, type BodyValue, flag, type Input, option, repeatableOption } from '../cli/inputs.ts'
import { runOperation } from '../cli/run-operation.ts'
import { createParseContext } from '../config/config.ts'
import { maxListAnswer } from '../domain/limits.ts'
import { choiceParser, textParser } from '../domain/values/parsers.ts'
import { usageError } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { parseJson, stringifyJson } from '../output/json-text.ts'
import { table } from '../output/view.ts'

/** The name of an operation: a path below the base address, never out of it. */
function operation(word: string): string {
  const name = word.replace(/^\//, '')
  if (!/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(name))
    throw usageError(
      `'${word}' is not the name of an operation.`,
      'For example getQueue or flaky-tests/list-failing-tests.',
    )
  return name
}

/** What came, untouched; with its status line and headers first where that was asked for. */
const passThrough = (include: boolean): ResponseDecoder => ({
  expects: 'anything',
  maxBytes: maxListAnswer,
  read(answer) {
    const { bytes, document } = answer
    const verbatim = include ? withHead(answer) : bytes
    return {
      records: isObject(document) ? [document] : [],
      document: () => document ?? null,
      bytes,
      rawBody: verbatim,
    }
  },
  passOn: {
    formats: 'all',
    begin: start => (include ? withHead({ ...start, bytes: new Uint8Array(0) }) : new Uint8Array(0)),
  },
})

function withHead({ status, headers, bytes }: ResponseBody): Uint8Array {
  const lines = [`HTTP ${status}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), '', '']
  const head = new TextEncoder().encode(lines.join('\r\n'))
  const all = new Uint8Array(head.length + bytes.length)
  all.set(head)
  all.set(bytes, head.length)
  return all
}

/** The body that was given with --input, its values encoded as they came. */
async function readBody(input: AsyncIterable<Uint8Array>): Promise<Record<string, BodyValue>> {
  const decoder = new TextDecoder()
  let json = ''
  for await (const piece of input) json += decoder.decode(piece, { stream: true })
  const document = parseJson(json + decoder.decode())
  if (!isObject(document)) throw usageError('--input: the body must be a JSON object.')
  return encodeValues(document)
}

/** The values of an object as they go on the wire: with all the digits of their numbers. */
export function encodeValues(document: JsonObject): Record<string, BodyValue> {
  const utf8 = new TextEncoder()
  const body: Record<string, BodyValue> = Object.create(null)
  for (const [key, value] of Object.entries(document)) {
    const bytes = utf8.encode(stringifyJson(value ?? null))
    body[key] = { chunks: [bytes], bytes: bytes.length }
  }
  return body
}

/** The settings that a known operation gets, unless the body has them already. */
function filledIn(
  known: Operation | undefined,
  body: Readonly<Record<string, BodyValue>>,
): Record<string, Input<unknown>> {
  const fields = Object.entries(known?.inputs ?? {}).filter(
    ([name, { location = '' }]) =>
      (name === 'repo' || name === 'targetBranch' || name === 'org') &&
      !Object.hasOwn(body, location.replace('body.', '')),
  )
  return Object.fromEntries(fields)
}

export const api = defineCommand({
  command: 'api',
  summary: 'Call any operation of the service by its name, and print what comes, untouched',
  operations: 'any',
  output: 'what came, untouched; sanitized on a terminal; --fields picks from it',
  inputs: {
    operation: argument('<operation>', 'Name of the operation, as in submitPullRequest', operation, {
      suggestions: serviceOperations.map(({ route }) => operationName(route)),
    }),
    method: option(
      '-X, --method <method>',
      'get or post (default: what the operation takes)',
      choiceParser(['get', 'post']),
      {
        choices: ['get', 'post'],
      },
    ),
    set: repeatableOption(
      '-F, --field <key=value>',
      'A field of the body: JSON or text, dots make nesting (repeatable)',
      textParser('field'),
    ),
    input: option(
      '--input <file>',
      'The body, as a JSON object, from a file (- is standard input)',
      textParser('file name'),
      {
        file: true,
      },
    ),
    include: flag('--include', 'Print the status line and the headers first'),
  },
  examples: [
    'mergeq api getQueue',
    'mergeq api getSubmittedPullRequest -F pr.number=123 --include',
    'mergeq api listPullRequests -F state=MERGED  # exits with 5, where the service has none of that name',
  ],
  async run({ operation: name, method, set = [], input, include }, context) {
    const known = operationCommands.find(({ route }) => operationName(route) === name)
    const body =
      input === undefined ? {} : await readBody(createParseContext(context.settings, context).open(input))
    const hasBody = input !== undefined || set.length > 0
    const byItself = known === undefined ? (hasBody ? 'POST' : 'GET') : operationMethod(known.route)
    const chosen = method === undefined ? byItself : method === 'get' ? 'GET' : 'POST'
    if (chosen === 'GET' && hasBody)
      throw usageError('A GET has no body.', 'Leave out -F and --input, or use -X post.')
    const has = { ...body, ...Object.fromEntries(set.map(word => [word.split(/[.=]/)[0] ?? '', null])) }
    const row = defineOperation({
      command: 'api',
      route: `${chosen} /${name}`,
      summary: '',
      effect: known === undefined ? chosen === 'POST' && unknownRecovery : known.effect,
      inputs: { ...filledIn(known, has), body: { definitions: [], location: 'body', read: () => body } },
      decoder: passThrough(include),
      view: ({ records }) => table(records, []),
      examples: [],
    })
    const args = new Map(context.args)
    if (set.length > 0) args.set('--set', set)
    return runOperation(row, { ...context, args })
  },
})
