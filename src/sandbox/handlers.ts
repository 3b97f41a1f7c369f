import type { OperationName } from '../api/operations/index.ts'
import { maxWindow } from '../domain/limits.ts'
import { repositoryName } from '../domain/values/parsers.ts'
import type { JsonObject } from '../json.ts'
import { cancel, configure, restart, setTargets, submit } from './engine/actions.ts'
import type { Entry, Queue, Run } from './engine/queue.ts'
import { exposition, queuesOf } from './metrics-text.ts'
import { pageAt } from './paginate.ts'
import {
  flagIn,
  instantIn,
  priorityIn,
  pullRequestIn,
  repositoryIn,
  targetsIn,
  textIn,
  textOrNoneIn,
  valueIn,
  wholeIn,
} from './request-fields.ts'
import { branchOf, pullRequestRecord, queueRecord, settingsRecord, testRecord } from './response-records.ts'
import type { QueueRef, SandboxState } from './sandbox-state.ts'
import { statusError } from './status-error.ts'
import { testsFailedBetween } from './test-history.ts'
import { testingRecord } from './test-run-record.ts'

/** A request that may be answered: its token is right, and its body has what the operation needs. */
export interface HandlerRequest {
  readonly body: JsonObject
  readonly query: ReadonlyMap<string, string>
}

/** What a handler gives: a document, text (the metrics alone), or nothing to show. */
export type HandlerResult = { readonly document: JsonObject } | { readonly text: string } | undefined

/** Plays one operation. Throws a refusal. */
export type Handler = (stage: SandboxState, request: HandlerRequest) => HandlerResult

const placeIn = (body: JsonObject): QueueRef => ({
  repo: repositoryIn(body),
  targetBranch: textIn(body, 'targetBranch'),
})

/** A handler of a change to a queue that has nothing to show for it. */
const changing =
  (change: (queue: Queue, body: JsonObject) => void): Handler =>
  (stage, { body }) => {
    change(stage.queueOf(placeIn(body)), body)
    return undefined
  }

/** The pull request by its number or its head branch, exactly one of them (service-observed.md section 2.3). */
function entryIn(queue: Queue, body: JsonObject): Entry {
  const branch = textOrNoneIn(body, 'pr.branch')
  const hasNumber = valueIn(body, 'pr.number') !== undefined
  if (hasNumber === (branch !== undefined))
    throw statusError(400, 'The body needs exactly one of pr.number and pr.branch.')
  const entry =
    branch === undefined
      ? queue.entries.get(pullRequestIn(body))
      : [...queue.entries.values()].find(({ number }) => branchOf(number) === branch)
  if (entry === undefined) throw neverSubmitted(branch ?? `#${pullRequestIn(body)}`)
  return entry
}

const neverSubmitted = (what: string) => statusError(404, `${what} was never submitted to this queue.`)

/** A test run, by its id or as the latest one of a pull request; a bisection's suffix is taken (section 2.5). */
function runIn({ runs, entries }: Queue, body: JsonObject): Run {
  const id = textOrNoneIn(body, 'testRunId')
  if (id === undefined && valueIn(body, 'pr.number') === undefined)
    throw statusError(400, 'The body lacks testRunId, or pr.number in its place.')
  const run =
    id === undefined ? entries.get(pullRequestIn(body))?.lastRun : runs.get(id.toLowerCase().slice(0, 36))
  if (run === undefined)
    throw statusError(
      404,
      id === undefined ? 'The pull request has no test run.' : `There is no test run ${id}.`,
    )
  return run
}

/** One handler for each operation of service-api.md section 4; the compiler names one that is missing. */
export const handlers: Readonly<Record<OperationName, Handler>> = {
  submitPullRequest: changing((queue, body) =>
    submit(queue, {
      number: pullRequestIn(body),
      priority: priorityIn(body),
      noBatch: flagIn(body, 'noBatch'),
    }),
  ),

  cancelPullRequest: changing((queue, body) => cancel(queue, pullRequestIn(body))),

  restartTestsOnPullRequest: changing((queue, body) => restart(queue, pullRequestIn(body))),

  getSubmittedPullRequest(stage, { body }) {
    const queue = stage.queueOf(placeIn(body))
    const entry = entryIn(queue, body)
    const { number, submittedAt, before } = entry
    const isBlind = queue.now < submittedAt + stage.readDelay
    const shown = isBlind ? before : entry
    if (shown === undefined) throw neverSubmitted(`#${number}`)
    stage.reportedStates.add(shown.state)
    return {
      document: pullRequestRecord(queue, shown, stage.dialect, flagIn(body, 'includeTimeline') ?? false),
    }
  },

  setImpactedTargets: changing((queue, body) =>
    setTargets(queue, pullRequestIn(body, 1), targetsIn(body), textOrNoneIn(body, 'pr.sha')),
  ),

  getMergeQueueTestingDetails(stage, { body }) {
    const queue = stage.queueOf(placeIn(body))
    return { document: testingRecord(queue, runIn(queue, body), stage.dialect) }
  },

  createQueue(stage, { body }) {
    const { mode, concurrency } = body
    const settings = {
      ...(mode === undefined ? {} : { mode }),
      ...(concurrency === undefined ? {} : { concurrency }),
    }
    stage.create(placeIn(body), settings)
    return undefined
  },

  getQueue: (stage, { body }) => ({ document: queueRecord(stage.queueOf(placeIn(body)), stage.dialect) }),

  updateQueue(stage, { body }) {
    const queue = stage.queueOf(placeIn(body))
    configure(queue, body)
    return { document: settingsRecord(queue, stage.dialect) }
  },

  deleteQueue(stage, { body }) {
    stage.remove(placeIn(body))
    return undefined
  },

  getMergeQueueMetrics(stage, { query }) {
    const [repo, host] = [query.get('repo'), query.get('repoHost')]
    if ((repo === undefined) !== (host === undefined))
      throw statusError(400, 'repo and repoHost must be given together.')
    return { text: exposition(queuesOf(stage.queues(), repo, host)) }
  },

  'flaky-tests/list-failing-tests'(stage, { body }) {
    const repo = repositoryIn(body)
    const [start, end] = [instantIn(body, 'start_time'), instantIn(body, 'end_time')]
    const size = wholeIn(body, 'page_query.page_size', 1, 100)
    const token = valueIn(body, 'page_query.page_token') ?? ''
    textIn(body, 'org_url_slug')
    if (typeof token !== 'string') throw statusError(400, 'page_query.page_token must be text.')
    if (Math.abs(end - start) > maxWindow)
      throw statusError(400, 'start_time must be within 7 days of end_time.')
    if (start > end) throw statusError(400, 'start_time must not be after end_time.')
    const failed = testsFailedBetween(stage.testsOf(repo), start, end)
    const { rows, page } = pageAt(failed, size, token, `${repositoryName(repo)} ${start} ${end}`)
    return { document: { tests: rows.map(test => testRecord(test, repo, stage.dialect)), page } }
  },

  'flaky-tests/get-test-details'(stage, { body }) {
    const repo = repositoryIn(body)
    textIn(body, 'org_url_slug')
    const id = textIn(body, 'test_id').toLowerCase()
    const test = stage.testsOf(repo).find(other => other.id === id)
    if (test === undefined) throw statusError(404, `There is no test ${id}.`)
    return { document: { test: testRecord(test, repo, stage.dialect) } }
  },
}

export const isOperation = (name: string): name is OperationName => Object.hasOwn(handlers, name)
