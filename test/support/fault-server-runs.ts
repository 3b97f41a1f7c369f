import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect } from 'vitest'
import type { Json } from './fake-queue.ts'
import type { FaultServer, LoggedRequest } from './fault-server.ts'
import { mergeq, type Outcome, type Setting, splitWords } from './harness.ts'
import { bareEnvironment, launcher } from './programs.ts'

/** A token that reads differently raw, percent-encoded and in base64. */
export const token = 'tok/3+one=with%odd&chars~abcdef'

/** What came out of one command line, and what was asked of the service. */
export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly words: readonly string[]
}

/** The output of a run that passed `checkGeneralRules`. */
export interface CheckedOutcome extends Outcome {
  /** The documents on standard output, where JSON was asked for. */
  readonly documents: readonly Json[]
  /** The sentence of the last failure; empty on success. */
  readonly sentence: string
  /** What it says to do next. */
  readonly hint: string
  /** The lines on standard error before the last failure. */
  readonly earlierLines: readonly string[]
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  // In base64 the text differs with where the secret begins; the ends hold bits of what stands beside it.
  ...[0, 1, 2].map(shift =>
    Buffer.from('x'.repeat(shift) + secret)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -6),
  ),
]

const exitCodes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 14, 15, 16, 17, 20, 21, 124, 129, 130, 143]

/** Failures of the way to the service: their sentence names the host. */
const transportExitCodes = [7, 11, 15]

/** Failures after which a part of the answer may stand on standard output. */
const partialOutputExitCodes = [4, 17]

/**
 * Checks what holds for every run: the token is in no stream and in no request but its header; the
 * exit code is in the table; a failure is one sentence that names the operation; standard output is empty or
 * complete; no control character. `checkFailureText` checks the host and the next step.
 */
export function checkGeneralRules(
  { code, out, err, words }: CommandResult,
  { log }: Pick<FaultServer, 'log'>,
) {
  const json = words.includes('--json')
  for (const form of formsOf(token)) {
    expect(out, 'no token on standard output').not.toContain(form)
    expect(err, 'no token on standard error').not.toContain(form)
  }
  for (const { headers, path, body } of log) {
    const { 'x-api-token': sent, ...others } = headers
    const elsewhere = [path, body.toString('latin1'), ...Object.values(others)].join('\n')
    expect(sent, 'the token in its header').toBe(token)
    for (const form of formsOf(token)) expect(elsewhere, 'no token elsewhere').not.toContain(form)
  }
  expect(exitCodes, 'an exit code of the table').toContain(code)
  const output = `${out}\n${err}`
  expect(output, 'no internal text').not.toMatch(/\n\s+at \S.*:\d+|\bundefined\b|\[object |fetch failed/)
  expect(err, 'no control characters').not.toMatch(controlCharacters)
  if (!json) expect(out.replaceAll('\t', ''), 'no control characters').not.toMatch(controlCharacters)
  expect(out === '' || out.endsWith('\n'), 'standard output is whole').toBe(true)
  const documents: Json[] = json
    ? out
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))
    : []
  const failure = failureIn(err, code, json)
  if (code !== 0 && code < 124) {
    const operation = log.at(0)?.operation
    if (operation !== undefined && json)
      expect(failure.operation, 'names the operation').toMatch(operationIn(log))
    expect(failure.sentence, 'no name of an operation').not.toMatch(/^[a-z][\w/-]*: /)
    if (!changingCommands.test(words.join(' ')) && !partialOutputExitCodes.includes(code))
      expect(out, 'a read that failed prints nothing').toBe('')
  }
  return { documents, ...failure }
}

/** Checks that a failure of the connection names the host, and that every failure gives a next step. */
export function checkFailureText(
  { code, sentence, hint }: Pick<CheckedOutcome, 'code' | 'sentence' | 'hint'>,
  { host }: Pick<FaultServer, 'host'>,
): void {
  if (transportExitCodes.includes(code)) expect(sentence, 'names the host').toContain(host)
  if (code !== 0 && code < 124) expect(hint, 'an indented hint says the next step').not.toBe('')
}

const controlCharacters = /[\0-\t\v-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

const changingCommands =
  /\b(submit|cancel|restart|targets|create|update|delete|pause|resume|drain|apply|api)\b/

const operationIn = (log: readonly LoggedRequest[]): RegExp =>
  new RegExp([...new Set(log.map(({ operation }) => operation))].join('|'))

/**
 * The last failure on standard error: `mergeq: ` and one sentence, then the indented hint; or one JSON
 * object.
 */
function failureIn(err: string, code: number, json: boolean) {
  const lines = err.split('\n').slice(0, -1)
  if (code === 0 || code >= 124) return { sentence: '', hint: '', operation: '', earlierLines: lines }
  if (json) {
    const { error } = JSON.parse(lines.at(-1) ?? '{}')
    expect(error, 'one JSON object').toMatchObject({
      kind: expect.any(String),
      exit: code,
      message: expect.any(String),
    })
    return {
      sentence: String(error.message),
      hint: String(error.hint ?? ''),
      operation: String(error.operation),
      earlierLines: lines.slice(0, -1),
    }
  }
  const [, before = '', sentence = '', hint = ''] =
    /^((?:.*\n)*?)mergeq: (.*)\n((?: {2}.*\n)*)$/.exec(err) ?? []
  expect(sentence, '`mergeq: ` and one sentence').not.toBe('')
  return {
    sentence,
    hint: hint.replace(/^ {2}/gm, '').trim(),
    operation: '',
    earlierLines: before.split('\n').slice(0, -1),
  }
}

/** The environment in which a command line reaches this server. */
export const environmentFor = ({ baseUrl }: Pick<FaultServer, 'baseUrl'>): Record<string, string> => ({
  MERGEQ_TOKEN: token,
  MERGEQ_BASE_URL: baseUrl,
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
  MERGEQ_ORG: 'acme',
})

/**
 * Runs a command line in the harness against this server, by the server's clock, and checks what came
 * out: its words too, unless `skipFailureText` says that a test of its own does so.
 */
export async function runAndCheck(
  server: FaultServer,
  line: string,
  { skipFailureText = false, ...setting }: Setting & { readonly skipFailureText?: boolean } = {},
): Promise<CheckedOutcome> {
  const env = { ...environmentFor(server), ...setting.env }
  const outcome = await mergeq(line, { ...setting, clock: server.clock, env })
  const checked = { ...outcome, ...checkGeneralRules({ ...outcome, words: splitWords(line) }, server) }
  if (!skipFailureText) checkFailureText(checked, server)
  return checked
}

/** What came out of a process of its own. */
export interface ProcessOutcome extends CheckedOutcome {
  readonly bytes: Buffer
  /** Real milliseconds from start to end. */
  readonly took: number
  /** The most memory that it held, in MiB; 0 where it was not measured. */
  readonly memory: number
  /** Seconds of processor time that it took; 0 where it was not measured. */
  readonly cpu: number
}

/** How a process of its own is started. */
export interface LaunchOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Skips `checkFailureText`: another test calls it. */
  readonly skipFailureText?: boolean
  /** Measures its memory and its processor time, with GNU time. */
  readonly measured?: boolean
  /** Its standard output is a file; it holds the service's own bytes and is not checked as text. */
  readonly intoFile?: boolean
  /** Called when it has started. */
  readonly started?: (kill: (signal: NodeJS.Signals) => void) => void
}

/**
 * Runs the built binary against this server in an empty home, and checks what came out and what was left
 * behind.
 */
export async function runBuiltProgram(
  server: FaultServer,
  line: string,
  options: LaunchOptions = {},
): Promise<ProcessOutcome> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'mergeq-')))
  const measure = join(home, '.cache', 'measure')
  const file = join(home, '.cache', 'out')
  try {
    mkdirSync(join(home, '.cache'))
    const began = performance.now()
    const words = splitWords(line)
    const [program = launcher, ...before] = options.measured
      ? ['time', '-f', '%M %U %S', '-o', measure, launcher]
      : [launcher]
    const child = execa(program, [...before, ...words], {
      env: { ...bareEnvironment(home), ...environmentFor(server), ...options.env },
      extendEnv: false,
      reject: false,
      cwd: home,
      stdin: 'ignore',
      ...(options.intoFile ? { stdout: { file } } : {}),
      encoding: 'buffer',
      stripFinalNewline: false,
    })
    options.started?.(signal => child.kill(signal))
    const { exitCode = -1, stdout, stderr } = await child
    const took = performance.now() - began
    const bytes = options.intoFile ? readFileSync(file) : Buffer.from(stdout ?? [])
    const out = options.intoFile ? '' : bytes.toString()
    const came = { code: exitCode, out, err: Buffer.from(stderr).toString() }
    const left = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      path => !path.startsWith('.cache'),
    )
    expect(left, 'no file is made').toEqual([])
    const checked = { ...came, ...checkGeneralRules({ ...came, words }, server), requests: [], sleeps: [] }
    if (!options.skipFailureText) checkFailureText(checked, server)
    const [memory = 0, user = 0, system = 0] = options.measured
      ? (readFileSync(measure, 'utf8').split('\n').at(-2)?.split(' ').map(Number) ?? [])
      : []
    return { ...checked, bytes, took, memory: memory / 1024, cpu: user + system }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
