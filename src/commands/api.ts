import { endpoint, methodOf, operationOf, type Row } from '../api/operation.ts'
import { endpoints, rows } from '../api/operations/index.ts'
import { argument, type Field, flag, flags, on, type Wire } from '../cli/inputs.ts'
import { maxListAnswer } from '../domain/limits.ts'
import type { Answer, Reading } from '../api/decode.ts'
import { unsettled } from '../api/recovery-rules.ts'
import { oneOf, text } from '../domain/values/parsers.ts'
import { usage } from '../errors.ts'
import { run } from '../cli/run-operation.ts'
import { contextOf } from '../config/config.ts'
import { decode, encode } from '../output/json-text.ts'
import { isObject, type JsonObject } from '../json.ts'
import { table } from '../output/view.ts'
import { command } from '../cli/command.ts'

/** The name of an operation: a path below the base address, never out of it. */
function operation(word: string): string {
  const name = word.replace(/^\//, '')
  if (!/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/.test(name))
    throw usage(
      `'${word}' is not the name of an operation.`,
      'For example getQueue or flaky-tests/list-failing-tests.',
    )
  return name
}

/** What came, untouched; with its status line and headers first where that was asked for. */
const passThrough = (include: boolean): Reading => ({
  expects: 'anything',
  maxBytes: maxListAnswer,
  read(answer) {
    const { bytes, document } = answer
    const verbatim = include ? withHead(answer) : bytes
    return {
      records: isObject(document) ? [document] : [],
      document: () => document ?? null,
      bytes,
      verbatim,
    }
  },
  passOn: {
    formats: 'all',
    begin: start => (include ? withHead({ ...start, bytes: new Uint8Array(0) }) : new Uint8Array(0)),
  },
})

function withHead({ status, headers, bytes }: Answer): Uint8Array {
  const lines = [`HTTP ${status}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), '', '']
  const head = new TextEncoder().encode(lines.join('\r\n'))
  const all = new Uint8Array(head.length + bytes.length)
  all.set(head)
  all.set(bytes, head.length)
  return all
}

/** The body that was given with --input, its values encoded as they came. */
async function readBody(input: AsyncIterable<Uint8Array>): Promise<Record<string, Wire>> {
  const decoder = new TextDecoder()
  let json = ''
  for await (const piece of input) json += decoder.decode(piece, { stream: true })
  const document = decode(json + decoder.decode())
  if (!isObject(document)) throw usage('--input: the body must be a JSON object.')
  return encoded(document)
}

/** The values of an object as they go on the wire: with all the digits of their numbers. */
export function encoded(document: JsonObject): Record<string, Wire> {
  const utf8 = new TextEncoder()
  const body: Record<string, Wire> = Object.create(null)
  for (const [key, value] of Object.entries(document)) {
    const bytes = utf8.encode(encode(value ?? null))
    body[key] = { encoded: [bytes], bytes: bytes.length }
  }
  return body
}

/** The settings that a known operation gets, unless the body has them already. */
function filledIn(
  known: Row | undefined,
  body: Readonly<Record<string, Wire>>,
): Record<string, Field<unknown>> {
  const fields = Object.entries(known?.fields ?? {}).filter(
    ([name, { at = '' }]) =>
      (name === 'repo' || name === 'targetBranch' || name === 'org') &&
      !Object.hasOwn(body, at.replace('body.', '')),
  )
  return Object.fromEntries(fields)
}

export const api = command({
  command: 'api',
  summary: 'Call any operation of the service by its name, and print what comes, untouched',
  asks: 'any',
  prints: 'what came, untouched; sanitized on a terminal; --fields picks from it',
  fields: {
    operation: argument('<operation>', 'Name of the operation, as in submitPullRequest', operation, {
      offers: endpoints.map(({ route }) => operationOf(route)),
    }),
    method: flag(
      '-X, --method <method>',
      'get or post (default: what the operation takes)',
      oneOf(['get', 'post']),
      {
        choices: ['get', 'post'],
      },
    ),
    set: flags(
      '-F, --field <key=value>',
      'A field of the body: JSON or text, dots make nesting (repeatable)',
      text('field'),
    ),
    input: flag(
      '--input <file>',
      'The body, as a JSON object, from a file (- is standard input)',
      text('file name'),
      {
        file: true,
      },
    ),
    include: on('--include', 'Print the status line and the headers first'),
  },
  examples: [
    'mergeq api getQueue',
    'mergeq api getSubmittedPullRequest -F pr.number=123 --include',
    'mergeq api listPullRequests -F state=MERGED  # exits with 5, where the service has none of that name',
  ],
  async run({ operation: name, method, set = [], input, include }, desk) {
    const known = rows.find(({ route }) => operationOf(route) === name)
    const body = input === undefined ? {} : await readBody(contextOf(desk.settings, desk).open(input))
    const hasBody = input !== undefined || set.length > 0
    const byItself = known === undefined ? (hasBody ? 'POST' : 'GET') : methodOf(known.route)
    const chosen = method === undefined ? byItself : method === 'get' ? 'GET' : 'POST'
    if (chosen === 'GET' && hasBody)
      throw usage('A GET has no body.', 'Leave out -F and --input, or use -X post.')
    const has = { ...body, ...Object.fromEntries(set.map(word => [word.split(/[.=]/)[0] ?? '', null])) }
    const row = endpoint({
      command: 'api',
      route: `${chosen} /${name}`,
      summary: '',
      changes: known === undefined ? chosen === 'POST' && unsettled : known.changes,
      fields: { ...filledIn(known, has), body: { words: [], at: 'body', read: () => body } },
      reply: passThrough(include),
      view: ({ records }) => table(records, []),
      examples: [],
    })
    const given = new Map(desk.given)
    if (set.length > 0) given.set('--set', set)
    return run(row, { ...desk, given })
  },
})
