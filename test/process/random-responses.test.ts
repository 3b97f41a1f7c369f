import papa from 'papaparse'
import { describe, expect, test, vi } from 'vitest'
import { isObject, type Json } from '../../src/json.ts'
import { network, networkEnv } from '../support/fake-network.ts'
import { mergeq } from '../support/harness.ts'
import {
  jsonOperations,
  operationOf,
  outputFaults,
  responseErrors,
  responseGenerator,
} from '../support/service-description.ts'

vi.mock('../../src/http/undici.ts', async () => (await import('../support/fake-network.ts')).fakeTransport)

/** The number of random responses of each operation, and their seed. */
const count = Number(process.env.MERGEQ_RANDOM_RESPONSES ?? 1_000)
const seed = Number(process.env.MERGEQ_RANDOM_SEED ?? Date.now() % 1_000_000)

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'

/** The command that prints the responses of an operation, without its options for the format. */
interface Printing {
  readonly line: string
  /** The member that names the next page, where one run reads several pages. */
  readonly nextPage?: 'page.next_page_token' | 'nextCursor'
}

/** How many responses a run prints where it can print several. */
const perRun = 50

const printings: Readonly<Record<string, Printing>> = {
  getSubmittedPullRequest: {
    line: `pr get ${Array.from({ length: perRun }, (_, index) => index + 1).join(' ')}`,
  },
  getMergeQueueTestingDetails: { line: `pr testing ${id}` },
  getQueue: { line: 'queue get' },
  updateQueue: { line: 'queue update --concurrency 5' },
  'flaky-tests/list-failing-tests': { line: 'flaky list', nextPage: 'page.next_page_token' },
  'flaky-tests/get-test-details': { line: `flaky get ${id}` },
  listPullRequests: { line: 'pr list --limit 0', nextPage: 'nextCursor' },
  'flaky-tests/list-quarantined-tests': {
    line: 'flaky quarantined --limit 0',
    nextPage: 'page.next_page_token',
  },
  'flaky-tests/list-unhealthy-tests': {
    line: 'flaky unhealthy --status flaky --limit 0',
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
    network.respond = request => {
      if (operationOf(request) !== name) return { status: 404, body: 'Not Found' }
      const document = documents[sent++ % documents.length] ?? null
      const token = sent < documents.length ? `p${sent}` : ''
      return { status: 200, body: JSON.stringify(withNextPage(document, printing, token)) }
    }
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
    120_000,
  )
})
