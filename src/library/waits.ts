import { resolveHead } from '../api/head-commit.ts'
import { maxConcurrent as maxDepartures } from '../domain/scheduling.ts'
import type { PullRequest } from '../domain/values/pull-request.ts'
import { queueName, repositoryName } from '../domain/values/repository.ts'
import { describeChange } from '../domain/wait-state.ts'
import { startWaitTime } from '../domain/wait-time.ts'
import type { JsonObject } from '../json.ts'
import { waitForPullRequests } from '../wait/pull-requests.ts'
import { createQueueReader } from '../wait/queue-reader.ts'
import { changeRecord, createResult, interruptedWaitError, type WaitResult } from '../wait/results.ts'
import { createSharedQueues, type SharedQueues } from '../wait/shared-queues.ts'
import { startWait, type TrackedPullRequest, track, type Wait, type WaitObserver } from '../wait/wait.ts'
import { pollQueues, type QueuesView } from '../wait/watch-queues.ts'
import {
  type CallOutcome,
  type ClientContext,
  createCallClient,
  findPullRequest,
  nameOfPullRequest,
} from './call-client.ts'
import type { WaitChange } from './types.ts'
import { readWaitOptions, readWatchOptions } from './wait-options.ts'

/** Waits for pull requests. */
async function waitFor(
  callOptions: unknown,
  context: ClientContext,
  queues: SharedQueues,
): Promise<CallOutcome> {
  const { prs, signal, settings, options, matchHead, onChange } = readWaitOptions(
    'waitForPullRequests',
    callOptions,
  )
  const given = { ...context.settings, ...settings }
  const time = startWaitTime(options.waitLimit, context.host.clock)
  const client = await createCallClient(given, signal, context, { changes: false, time })
  try {
    const all = new Map<string, TrackedPullRequest>()
    for (const reference of prs) {
      const { number: pr, settings } = await findPullRequest(reference, given, client)
      const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
      const pullRequest = { repo, targetBranch, pr }
      const name = nameOfPullRequest(pullRequest)
      const submission = context.submissions.get(name)
      if (!all.has(name)) all.set(name, track(pullRequest, { isDue: false }, { submission }))
    }
    const tracked = [...all.values()]
    const head = await resolveHead(matchHead, tracked.length, client)
    const names = new Set(tracked.map(({ pullRequest }) => queueName(pullRequest)))
    const sharing = queues.join([...names], client, time)
    const wait = startWait({ ...options, head }, { ...client, time }, time, { sharing })
    // A callback that fails, or never ends, must not stop the wait.
    const report = async (change: WaitChange) => onChange?.(change)
    const results = await waitForResults(tracked, wait, change => {
      report(change).catch(() => undefined)
    }).finally(() => sharing.leave())
    return { document: results.map(({ record }) => record) }
  } finally {
    await client.close()
  }
}

/**
 * Waits for pull requests and returns their results in their order; logs what the command line says on the way, and hands
 * each change to `onChange`. Throws the error of a reading that shows a mistake of the caller or of mergeq; other errors
 * are results.
 */
async function waitForResults(
  all: readonly TrackedPullRequest[],
  wait: Wait,
  onChange: (change: ReturnType<typeof changeRecord>) => void,
): Promise<readonly WaitResult[]> {
  const { host, logger } = wait.client
  const results = new Map<PullRequest, WaitResult>()
  const observer: WaitObserver = {
    async reportAttempt() {},
    async reportPause() {},
    explainFailure: async failure => failure,
    async reportUnfinished() {},
    reportChange({ pullRequest }, change) {
      onChange(changeRecord(pullRequest.pr, change, host.clock.now()))
      return logger.info(describeChange(pullRequest.pr, change))
    },
    async reportEnd(tracked, end) {
      const { failure } = end
      if (failure?.kind === 'usage' || failure?.kind === 'internal') throw failure
      if (failure !== undefined) await logger.warn(failure.message)
      results.set(tracked.pullRequest, await createResult(tracked, end, wait))
    },
    reportOutage: logger.info,
    sleep: delay => host.clock.sleep(delay, host.interrupted),
    during: (_, rounds) => rounds(),
    interrupted: async (failure, waiting) => interruptedWaitError(failure, waiting, wait),
  }
  await waitForPullRequests(all, wait, observer)
  return all.flatMap(({ pullRequest }) => results.get(pullRequest) ?? [])
}

/** Gives the changes of a queue until it is stopped. */
async function watch(
  callOptions: unknown,
  stopped: AbortSignal,
  give: (changes: readonly JsonObject[]) => Promise<void>,
  context: ClientContext,
  queues: SharedQueues,
): Promise<void> {
  const { since, signal, interval, giveUpAfter, settings } = readWatchOptions('watchQueue', callOptions)
  const given = { ...context.settings, ...settings }
  const signals = signal === undefined ? [stopped] : [stopped, signal]
  const client = await createCallClient(given, AbortSignal.any(signals), context, { changes: false })
  try {
    const repo = await client.settings.require('repo')
    const targetBranch = await client.settings.require('targetBranch')
    const place = { repo, targetBranch }
    const { clock } = client.host
    const limit = startWaitTime(Number.POSITIVE_INFINITY, clock)
    const name = queueName(place)
    const sharing = queues.join([name], client, limit)
    const read = createQueueReader(place, {
      overrides: [],
      since,
      startedAt: clock.now(),
      atOnce: maxDepartures,
      share: ask => sharing.read(name, clock.now() - interval / 2, ask),
    })
    const view: QueuesView = {
      async show(_, { changes }) {
        const where = { repo: repositoryName(repo), targetBranch }
        if (changes.length > 0) await give(changes.map(change => ({ type: 'change', ...change, ...where })))
      },
      async lose(_, failure) {
        throw failure
      },
      notify: client.logger.info,
    }
    const watched = pollQueues([{ place, read }], { interval, limit, giveUpAfter }, view, client, {})
    await watched.finally(() => sharing.leave())
  } finally {
    await client.close()
  }
}

/** What a client waits for and watches. All of it shares what it reads of queues. */
export function createWaits(context: ClientContext) {
  const queues = createSharedQueues()
  return {
    waitForPullRequests: (callOptions: unknown) => waitFor(callOptions, context, queues),
    watchQueue: (callOptions: unknown, stopped: AbortSignal, give: Parameters<typeof watch>[2]) =>
      watch(callOptions, stopped, give, context, queues),
  }
}
