import { expect } from 'vitest'
import { type Act, pull, run, type Show, unapplied, withFaults } from './fault-server.ts'

export const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
export const failing = 'flaky-tests/list-failing-tests'

/** The reads that answer with JSON, and a whole answer of each. */
export const reads = [
  { line: 'pr get 7', operation: 'getSubmittedPullRequest', whole: pull(7) },
  {
    line: `pr testing ${id}`,
    operation: 'getMergeQueueTestingDetails',
    whole: { testBranch: 'trunk-merge/pr-7/x', status: 'in_progress', testedPullRequests: [{ prNumber: 7 }] },
  },
  { line: 'queue get', operation: 'getQueue', whole: { state: 'running', enqueuedPullRequests: [pull(7)] } },
  {
    line: 'flaky list',
    operation: failing,
    whole: { tests: [{ id, name: 'cart' }], page: { next_page_token: '' } },
  },
  {
    line: `flaky get ${id}`,
    operation: 'flaky-tests/get-test-details',
    whole: { test: { id, name: 'cart' } },
  },
] as const
export const [get, , , list] = reads

/** `pr get 7` against a server that does this with every reading. */
export const against = <T>(
  show: Show | readonly Act[],
  work: (server: Parameters<Parameters<typeof withFaults<T>>[1]>[0]) => Promise<T>,
) => withFaults({ script: { [get.operation]: typeof show === 'function' ? unapplied(show) : show } }, work)

/** Reads what this answers, which must be taken for no answer. */
export const readNone = (show: Show, wordless = false) =>
  against(show, async server => {
    const came = await run(server, get.line, { wordless })
    expect({ code: came.code, out: came.out }).toEqual({ code: 15, out: '' })
    return { ...came, log: server.log }
  })
export const isNone = async (show: Show): Promise<void> => void (await readNone(show))
