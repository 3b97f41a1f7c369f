import type { JsonObject } from '../../base/json.ts'
import { isUnderTest, stateOf } from '../../domain/states.ts'
import { parseTestRun, type TestRun, testRunOf, testsPullRequest } from '../../domain/test-run.ts'
import type { PullRequest } from '../../values/pull-request.ts'
import { getMergeQueueTestingDetails } from '../operations/pull-requests.ts'
import type { RequestLimits, ServiceClient } from '../service-client.ts'
import { tryRead } from './extra-reads.ts'

/** Reads the test run that a record or its timeline names; of one under test, that of this CI job is the default. */
export async function readTestRunOf(
  record: JsonObject,
  { pr, repo, targetBranch }: PullRequest,
  client: ServiceClient,
  limits: RequestLimits = {},
): Promise<{ readonly run?: TestRun; readonly unread?: UnreadSource }> {
  const isTested = isUnderTest(stateOf(record))
  const id = testRunOf(record) ?? (isTested ? await client.settings.read('testRun') : undefined)
  if (id === undefined) return {}
  const params = { repo, targetBranch, run: id }
  const { record: run, failure } = await tryRead(client, getMergeQueueTestingDetails, params, { limits })
  if (run === undefined) return { unread: { what: 'test run', why: failure?.message ?? '' } }
  // The test branch of this CI job may belong to another pull request.
  return testsPullRequest(run, pr) ? { run: parseTestRun(id, run) } : {}
}

export type UnreadSource = { readonly what: 'queue' | 'test run'; readonly why: string }
