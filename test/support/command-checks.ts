import { expect } from 'vitest'
import { operationName } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { exitCodeList } from '../../src/base/errors.ts'
import type { OutputFormat } from '../../src/output/output-formats.ts'
import { mergeq, type Outcome, type Setting } from './harness.ts'
import { encodingsFound } from './tokens.ts'

/** The token of these tests: percent-encoded and in base64 it reads otherwise than raw. */
export const token = 'tok_W1re/Secret+42=='

/** The kind of error that each exit code stands for. */
const errorKinds = new Map<number, string>(exitCodeList.map(({ code, kind }) => [code, kind]))

/** What a run said and how it ended. */
export type CommandResult = Pick<Outcome, 'code' | 'out' | 'err'>

/** What `checkGeneralRules` needs to know of a run. */
export interface ExpectedResult {
  readonly code: number
  /**
   * The format of standard output; `json` with the number of its documents (1 unless said), `bytes` is passed
   * on untouched.
   */
  readonly format?: OutputFormat['name'] | 'tsv' | 'bytes'
  readonly documents?: number
  /** Colours were asked for or the output is a terminal: they are no control characters. */
  readonly colored?: boolean
  /** Standard error goes to nobody or to the same place as standard output. */
  readonly stderrUnread?: boolean
  /** What the sentence of a failure must name. */
  readonly names?: readonly string[]
}

const colors = /\u001B\[[\d;]*m/g

const controls = /[\0-\x08\x0B-\x1F\x7F-\x9F]/

const bidirectional = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

const internalText =
  /^\s+at .*[:(]\d+|\bundefined\b|\[object Object\]|fetch failed|Unhandled|node:internal|\bTypeError\b/m

/** Checks the exit code of a run, and what holds for every run: no token, whole documents, plain messages. */
export function checkGeneralRules(
  { code, out, err }: CommandResult,
  {
    code: due,
    format = 'tsv',
    documents = 1,
    colored = false,
    stderrUnread: mute = false,
    names = [],
  }: ExpectedResult,
): void {
  expect({ code, err: code === due ? '' : err }, 'the exit code').toEqual({ code: due, err: '' })
  expect([...errorKinds.keys()], 'a documented exit code').toContain(code)
  expect(
    [out, err].flatMap(text => encodingsFound(text, token)),
    'the token is in no stream',
  ).toEqual([])
  expect(err, 'no internal text').not.toMatch(internalText)
  checkText(err, 'standard error', colored)
  const isJson = format === 'json' || format === 'ndjson'
  if (!isJson && format !== 'bytes') {
    const plain = format === 'tsv' ? out.replaceAll('\t', '') : out
    checkText(format === 'csv' ? plain.replaceAll('\r\n', '\n') : plain, 'standard output', colored)
  }
  if (isJson && out !== '') checkDocuments(out, format === 'ndjson' ? undefined : documents)
  if (!mute && code !== 0 && code < 124) checkFailure(err, code, isJson, names)
}

/** Checks that text holds no control characters. */
function checkText(text: string, where: string, colored: boolean): void {
  const plain = (colored ? text.replaceAll(colors, '') : text).replaceAll('\n', '')
  expect(plain, `no control characters on ${where}`).not.toMatch(controls)
  expect(plain, `no control characters on ${where}`).not.toMatch(bidirectional)
}

/** Checks that standard output holds complete JSON documents; an indented one stands alone. */
function checkDocuments(out: string, due: number | undefined): void {
  expect(out, 'complete JSON documents').toMatch(/\n$/)
  if (/^[{[]\n/.test(out)) {
    JSON.parse(out)
    return
  }
  const lines = out.slice(0, -1).split('\n')
  for (const line of lines) JSON.parse(line)
  if (due !== undefined) expect(lines, 'complete JSON documents').toHaveLength(due)
}

/** The names of API operations: the JSON error has them in `operation`, the text only with -v. */
const operationNames = new Set(serviceOperations.map(({ route }) => operationName(route)))

/** Checks that a failure is reported with a sentence and a hint. */
function checkFailure(err: string, code: number, isJson: boolean, names: readonly string[]): void {
  if (isJson) {
    const { error } = JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')
    expect(error, 'the exit code and its kind').toMatchObject({ exit: code, kind: errorKinds.get(code) })
    expect(error.message, 'a sentence').toMatch(/\S/)
    expect(error.hint, 'a hint').toMatch(/\S/)
    for (const name of names)
      expect(`${error.operation} ${error.message}`, 'the names in the message').toContain(name)
    return
  }
  const [, sentence = ''] =
    /(?:^|\n)mergeq: (.+(?:\n(?! {2}|mergeq: ).+)*)\n(?: {2}.+\n)+$/.exec(err) ??
    expect.fail(`no sentence with a hint ends\n${err}`)
  for (const name of names)
    if (operationNames.has(name)) expect(sentence, 'no name of an operation').not.toContain(name)
    else expect(sentence.replaceAll('\n', ' '), 'the names in the sentence').toContain(name)
}

/** Runs a command line in the harness, with the token and the queue of these tests, and checks it. */
export async function runAndCheck(
  line: string | readonly string[],
  promised: ExpectedResult,
  setting: Setting = {},
): Promise<Outcome> {
  const outcome = await mergeq(line, { ...setting, env: { ...queue, ...setting.env } })
  checkGeneralRules(outcome, promised)
  return outcome
}

export const queue = {
  MERGEQ_TOKEN: token,
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
  MERGEQ_ORG: 'acme',
}

/** A usage error with these texts in its message; nothing was printed before, and nothing was sent. */
export function expectUsageError(
  { code, out, err, requests = [] }: CommandResult & Partial<Pick<Outcome, 'requests'>>,
  ...texts: readonly (string | RegExp)[]
): void {
  expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
  for (const text of texts) expect(err).toMatch(text)
}
