import type { Row } from '../api/operation.ts'
import { endpoints } from '../api/operations/index.ts'
import { asFailure, Failure } from '../errors.ts'
import { openDesk } from '../cli/context.ts'
import { run } from '../cli/run-operation.ts'
import { openRedactor } from '../output/redactor.ts'
import type { Json } from '../json.ts'
import type { Output, World } from '../host/host.ts'
import { methodNameOf, optionsOf, settings, typed } from './method-options.ts'

/** What a client is opened with besides settings. */
export interface Own {
  readonly token?: string
  readonly signal?: AbortSignal
  /** Told what the command line says on standard error while it works: repeats, warnings, how a list ended. */
  onNotice?(text: string): void
}

/** Settings, by their flags' names in camel case. */
export interface Settings {
  readonly [setting: string]: unknown
}

/** One operation: what would be typed as an object, the answer as `--json` prints it. Rejects with a failure. */
export type Method = (options?: object & { readonly set?: Readonly<Record<string, Json>> }) => Promise<Json>

/** What is written to in the place of a terminal or a pipe. */
const paper = (write: Output['write']): Output => ({ terminal: false, columns: 80, rows: 24, write })

/** The signal of a caller, with the reason that the line knows. */
function interruptionBy(signal: AbortSignal): AbortSignal {
  const stop = new AbortController()
  const abort = () => stop.abort(new Failure('interrupted', 'the call was aborted.'))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return stop.signal
}

/**
 * The operations of the service as methods: the line that the command line runs, with its settings, repeats, limits and
 * failures. What is not given is found where CLI.md section 3 says. What a failed change or a cut list left is in the
 * failure's `document`.
 */
export function openClient(options: Own & Settings, world: World): Readonly<Record<string, Method>> {
  const { token, signal, onNotice, ...rest } = options
  const common = typed('createClient', rest, settings)
  const { hide, redact, redactBytes } = openRedactor()
  if (token !== undefined) hide(token.trim())
  const surroundings: World = {
    ...world,
    env: token === undefined ? world.env : { ...world.env, MERGEQ_TOKEN: token },
    err: paper(async text => onNotice?.(redact(String(text)).trimEnd())),
    interrupted: signal === undefined ? world.interrupted : interruptionBy(signal),
  }

  async function call(row: Row, { set = {}, ...own }: NonNullable<Parameters<Method>[0]>): Promise<Json> {
    const given = new Map([...common, ...typed(methodNameOf(row), own, [...optionsOf(row), ...settings])])
    for (const flag of ['--json', '--yes', '--no-input']) given.set(flag, ['true'])
    const sets = Object.entries(set).map(([path, value]) => `${path}=${JSON.stringify(value)}`)
    if (sets.length > 0) given.set('--set', sets)
    const purpose = { changes: row.changes !== false, changesSettings: false }
    const utf8 = new TextDecoder()
    let printed = ''
    const out = paper(async text => {
      printed += typeof text === 'string' ? text : utf8.decode(text, { stream: true })
    })
    const desk = await openDesk(
      given,
      { ...surroundings, out },
      { hide, redact, redactBytes, reveal: async () => undefined },
      purpose,
    )
    const failures: Failure[] = []
    try {
      const voice = { ...desk.voice, fail: async (failure: Failure) => void failures.push(failure) }
      await run(row, { ...desk, voice })
    } catch (error) {
      failures.push(asFailure(error))
    } finally {
      await desk.close()
    }
    const document: Json = printed === '' ? null : JSON.parse(printed)
    for (const failure of failures) {
      const { details, message } = failure
      throw Object.assign(failure, details, { name: 'MergeqError', message: redact(message), document })
    }
    return document
  }
  return Object.fromEntries(
    endpoints.map((row: Row): readonly [string, Method] => [
      methodNameOf(row),
      (options = {}) => call(row, options),
    ]),
  )
}
