import type { ResponseBody, ResponseDecoder } from '../api/decode.ts'
import { type Operation, operationMethod, operationName } from '../api/operation.ts'
import { serviceOperations } from '../api/operations/index.ts'
import type { BodyValue, Param } from '../api/param.ts'
import { unknownRecovery } from '../api/recovery-rules.ts'
import { defineCommand, type OperationCommand } from '../cli/command.ts'
import { argument, flag, option, repeatableOption, settingInput } from '../cli/inputs.ts'
import { runOperation } from '../cli/run-operation.ts'
import { parseContext } from '../config/config.ts'
import { maxListAnswer } from '../domain/limits.ts'
import { choiceParser, textParser } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { parseJson, stringifyJson } from '../json-text.ts'
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

const settingParams = ['repo', 'targetBranch', 'org'] as const
type SettingParam = (typeof settingParams)[number]

/** The params of a known operation that the settings give, unless the body has them already. */
function filledIn(
  known: Operation | undefined,
  body: Readonly<Record<string, BodyValue>>,
): readonly (readonly [SettingParam, Param<unknown>])[] {
  return settingParams.flatMap(name => {
    const param = known?.params[name]
    const isGiven = param === undefined || Object.hasOwn(body, (param.location ?? '').replace('body.', ''))
    return isGiven ? [] : [[name, param] as const]
  })
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
    const known: Operation | undefined = serviceOperations.find(({ route }) => operationName(route) === name)
    const body =
      input === undefined ? {} : await readBody(parseContext(context.settings, context).open(input))
    const hasBody = input !== undefined || set.length > 0
    const byItself = known === undefined ? (hasBody ? 'POST' : 'GET') : operationMethod(known.route)
    const chosen = method === undefined ? byItself : method === 'get' ? 'GET' : 'POST'
    if (chosen === 'GET' && hasBody)
      throw usageError('A GET has no body.', 'Leave out -F and --input, or use -X post.')
    const has = { ...body, ...Object.fromEntries(set.map(word => [word.split(/[.=]/)[0] ?? '', null])) }
    const settings = filledIn(known, has)
    const request: OperationCommand = {
      command: 'api',
      summary: '',
      operation: {
        route: `${chosen} /${name}`,
        effect: known === undefined ? chosen === 'POST' && unknownRecovery : known.effect,
        params: { ...Object.fromEntries(settings), body: { location: 'body' } },
        decoder: passThrough(include),
      },
      inputs: {
        ...Object.fromEntries(settings.map(([setting]) => [setting, settingInput(setting)])),
        body: { definitions: [], read: () => body },
      },
      view: ({ records }) => table(records, []),
      examples: [],
    }
    const args = new Map(context.args)
    if (set.length > 0) args.set('--set', set)
    return runOperation(request, { ...context, args })
  },
})
