import papa from 'papaparse'
import { describe, expect, test, vi } from 'vitest'
import { isObject, type Json } from '../../src/json.ts'
import { askingCommands, askingFiles, askingLines } from '../support/asking-commands.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import {
  jsonOperations,
  outputFaults,
  respondWith,
  responseErrors,
  responseGenerator,
} from '../support/random-responses.ts'
import { network, networkEnv, restoreTransport } from '../support/replaced-transport.ts'

// Test files share loaded modules: this one loads its own, in which a module is replaced, and leaves none of
// them.
vi.hoisted(() => vi.resetModules())
restoreTransport()
vi.mock('../../src/http/undici.ts', async () => {
  const { replacedTransport } = await import('../support/replaced-transport.ts')
  return replacedTransport
})

/** The number of random responses of each operation, and their seed. */
const count = Number(process.env.MERGEQ_RANDOM_RESPONSES ?? 50)
const seed = Number(process.env.MERGEQ_RANDOM_SEED ?? Date.now() % 1_000_000)

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

const metrics = '# TYPE mq_depth_current gauge\nmq_depth_current{repo="acme/web",branch="main"} 3\n'

const setting: Setting = { env: networkEnv, files: askingFiles, disk: new Map() }

const settings: Readonly<Record<string, Setting>> = {
  'auth login': { input: 'tok-1234567890' },
  guard: { input: `refs/heads/fix ${'4'.repeat(40)} refs/heads/fix ${'1'.repeat(40)}\n` },
}

describe(`every command goes on with random responses (seed ${seed})`, () => {
  test('each command that sends requests has a line', () => {
    expect(Object.keys(askingLines).sort()).toEqual([...askingCommands].sort())
  })

  for (const [command, variants] of Object.entries(askingLines))
    test.each(variants)(`${command} %s`, async words => {
      // Random responses lead a composition to its further requests.
      for (let run = 0; run < 5; run++) {
        const generators = new Map(jsonOperations.map(name => [name, responseGenerator(name, seed + run)]))
        let sent = 0
        respondWith(name => {
          sent++
          const generate = generators.get(name)
          if (generate !== undefined) return { status: 200, body: JSON.stringify(generate()) }
          return { status: 200, body: name === 'getMergeQueueMetrics' ? metrics : 'OK' }
        })
        const { code, out, err } = await mergeq(`${command} ${words}`, { ...setting, ...settings[command] })
        expect({ code, err: code === 1 ? err : '' }).not.toMatchObject({ code: 1 })
        expect(out + err).not.toMatch(outputFaults)
        expect(sent, err).toBeGreaterThan(0)
      }
    })
})

/** The command that prints the responses of an operation, without its options for the format. */
interface Printing {
  readonly line: string
  /** The member that names the next page, where one run reads several pages. */
  readonly nextPage?: 'page.next_page_token' | 'nextCursor'
}

/** How many responses a run prints where it can print several. */
const perRun = 25

const printings: Readonly<Record<string, Printing>> = {
  getSubmittedPullRequest: {
    line: `pr get ${Array.from({ length: perRun }, (_, index) => index + 1).join(' ')}`,
  },
  getMergeQueueTestingDetails: { line: `pr testing ${id}` },
  getQueue: { line: 'queue get' },
  updateQueue: { line: 'queue update --concurrency 5' },
  'flaky-tests/list-failing-tests': { line: 'flaky list', nextPage: 'page.next_page_token' },
  'flaky-tests/get-test-details': { line: `flaky get ${id}` },
  listPullRequests: { line: 'pr list --limit 1000', nextPage: 'nextCursor' },
  'flaky-tests/list-quarantined-tests': {
    line: 'flaky quarantined --limit 1000',
    nextPage: 'page.next_page_token',
  },
  'flaky-tests/list-unhealthy-tests': {
    line: 'flaky unhealthy --status flaky --limit 1000',
    nextPage: 'page.next_page_token',
  },
  status: { line: 'api status' },
}

/** Returns a document that names a next page, or none. */
function withNextPage(document: Json, { nextPage }: Printing, token: string): Json {
  if (nextPage === undefined || !isObject(document)) return document
  if (nextPage === 'nextCursor') return { ...document, nextCursor: token }
  return { ...document, page: { ...(isObject(document.page) ? document.page : {}), next_page_token: token } }
}

/** Checks that all lines have as many cells as the first. */
function checkCells(rows: readonly (readonly string[])[]): void {
  expect(new Set(rows.map(({ length }) => length)).size).toBeLessThanOrEqual(1)
}

const linesOf = (out: string): readonly string[] => out.split('\n').slice(0, -1)

/** How the output of each format is read back. */
const formats: Readonly<Record<string, { readonly terminal?: boolean; read(out: string): void }>> = {
  '': { read: out => checkCells(linesOf(out).map(line => line.split('\t'))) },
  '--output table': { terminal: true, read: out => expect(out).not.toContain('\u001B') },
  '--json': { read: out => expect(linesOf(out).map(line => typeof JSON.parse(line))).toContain('object') },
  '-o ndjson': { read: out => expect(linesOf(out).every(line => isObject(JSON.parse(line)))).toBe(true) },
  '-o csv': {
    read(out) {
      const { data, errors } = papa.parse<string[]>(out, { skipEmptyLines: true })
      expect(errors.filter(({ code }) => code !== 'UndetectableDelimiter')).toEqual([])
      checkCells(data)
    },
  },
  '-o markdown': { read: out => checkCells(linesOf(out).map(line => line.split(/(?<!\\)\|/))) },
}

describe(`${count} random responses of each operation are printed (seed ${seed})`, () => {
  test('each operation that responds with JSON has a command', () => {
    expect(Object.keys(printings).sort()).toEqual([...jsonOperations].sort())
  })

  /**
   * Runs a command line in one format; the responses to its requests are `documents`, in turn. Returns what is
   * wrong with the output.
   */
  async function problemsIn(name: string, flags: string, documents: readonly Json[]): Promise<string[]> {
    const { [name]: printing = { line: '' } } = printings
    const { terminal = false, read = () => undefined } = formats[flags] ?? {}
    let sent = 0
    respondWith(operation => {
      if (operation !== name) return { status: 404, body: 'Not Found' }
      const document = documents[sent++ % documents.length] ?? null
      const token = sent < documents.length ? `p${sent}` : ''
      return { status: 200, body: JSON.stringify(withNextPage(document, printing, token)) }
    })
    const line = `${printing.line} ${flags}`
    const { code, out, err } = await mergeq(line, {
      env: networkEnv,
      terminal,
      columns: 60 + (documents.length % 100),
    })
    try {
      expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
      expect(sent).toBeGreaterThanOrEqual(documents.length)
      expect(out + err).not.toMatch(outputFaults)
      // A response of an unknown form is printed as it came.
      if (!line.startsWith('api ')) read(out)
      return []
    } catch (error) {
      return [`${line}: ${String(error)}\n${err}\n${out}\n${JSON.stringify(documents)}`]
    }
  }

  test.each(Object.entries(printings))(
    '%s',
    async (name, printing) => {
      const generate = responseGenerator(name, seed)
      const printsSeveral = printing.nextPage !== undefined || name === 'getSubmittedPullRequest'
      const allFormats = Object.keys(formats)
      const problems: string[] = []
      for (let printed = 0; printed < count && problems.length === 0; ) {
        const documents = Array.from({ length: printsSeveral ? perRun : 1 }, generate)
        problems.push(...documents.flatMap(document => responseErrors(name, document)))
        // A command that prints one response in a run prints each in the next format.
        const flags = printsSeveral ? allFormats : [allFormats[printed % allFormats.length] ?? '']
        for (const format of flags) problems.push(...(await problemsIn(name, format, documents)))
        printed += documents.length
      }
      expect(problems).toEqual([])
    },
    1_000_000,
  )
})

describe('api status', () => {
  const run = async (line: string, status: number, body: string, env = {}) => {
    const attempts: object[] = []
    network.attempt = ({ request: { operation }, headers, limit, onBegin }) => {
      onBegin?.()
      attempts.push({ operation, hasToken: 'x-api-token' in headers, limit })
      return { status, headers: new Map(), bytes: Buffer.from(body) }
    }
    return { ...(await mergeq(line, { env: { MERGEQ_BASE_URL: '', ...env } })), attempts }
  }

  test('needs no token, no repository and no branch', async () => {
    const { code, out, err, attempts } = await run('api status', 200, '{"status":"ok"}', { MERGEQ_TOKEN: '' })
    expect({ code, out, err }).toEqual({ code: 0, out: '{"status":"ok"}', err: '' })
    expect(attempts).toEqual([{ operation: 'status', hasToken: false, limit: 30_000 }])
  })

  test('its preview has no token', async () => {
    const { code, out } = await run('api status --dry-run', 500, '', { MERGEQ_TOKEN: '' })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      operation: 'status',
      method: 'GET',
      url: 'https://api.trunk.io/v1/status',
      headers: { accept: '*/*', 'user-agent': 'mergeq/0.0.0-test' },
    })
  })

  test('where it is missing, the error says so', async () => {
    const { code, err } = await run('api status', 404, 'Not Found')
    expect(code).toBe(5)
    expect(err).toContain('api.trunk.io has no operation status (404).\n')
  })

  test('a 401 does not blame a token that was not sent', async () => {
    const { code, err } = await run('api status', 401, '')
    expect(code).toBe(4)
    expect(err).toBe(
      'mergeq: api.trunk.io rejected a request without a token (401).\n  The operation status does not require a token, but the service rejected the request. Check the base URL, and any proxy in front of the service.\n',
    )
  })
})
