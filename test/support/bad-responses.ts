import { expect } from 'vitest'
import { pullRequest } from './fake-queue.ts'
import { withFaultServer } from './fault-server.ts'
import { runAndCheck } from './fault-server-runs.ts'
import { type Behavior, type Responder, withoutEffect } from './responders.ts'

export const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
export const failing = 'flaky-tests/list-failing-tests'

/** The reads that answer with JSON, and a whole answer of each. */
export const reads = [
  { line: 'pr get 7', operation: 'getSubmittedPullRequest', whole: pullRequest(7) },
  {
    line: `pr testing ${id}`,
    operation: 'getMergeQueueTestingDetails',
    whole: { testBranch: 'trunk-merge/pr-7/x', status: 'in_progress', testedPullRequests: [{ prNumber: 7 }] },
  },
  {
    line: 'queue get',
    operation: 'getQueue',
    whole: { state: 'running', enqueuedPullRequests: [pullRequest(7)] },
  },
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
  respond: Responder | readonly Behavior[],
  work: (server: Parameters<Parameters<typeof withFaultServer<T>>[1]>[0]) => Promise<T>,
) =>
  withFaultServer(
    { script: { [get.operation]: typeof respond === 'function' ? withoutEffect(respond) : respond } },
    work,
  )

/** Reads what this answers, which must be taken for no answer. */
export const expectBadResponse = (respond: Responder, skipFailureText = false) =>
  against(respond, async server => {
    const result = await runAndCheck(server, get.line, { skipFailureText: skipFailureText })
    expect({ code: result.code, out: result.out }).toEqual({ code: 15, out: '' })
    return { ...result, log: server.log }
  })
export const isBadResponse = async (respond: Responder): Promise<void> =>
  void (await expectBadResponse(respond))
