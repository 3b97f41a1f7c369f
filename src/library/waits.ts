import { resolveHead } from '../api/reads/head-commit.ts'
import { startWaitTime } from '../api/wait-time.ts'
import type { JsonObject } from '../base/json.ts'
import { maxConcurrent as maxDepartures } from '../base/scheduling.ts'
import { type PullRequest, pullRequestKey } from '../values/pull-request.ts'
import { queueName, repositoryName } from '../values/repository.ts'
import { waitForPullRequests } from '../wait/pull-requests.ts'
import { createQueueReader } from '../wait/queue-reader.ts'
import { createResult, describeAttempt, type WaitResult, waitChangeRecord } from '../wait/results.ts'
import { SharedQueues } from '../wait/shared-queues.ts'
import { startWait, type Wait, type WaitObserver } from '../wait/wait.ts'
import { describeWaitChange, type TrackedPullRequest, track } from '../wait/wait-state.ts'
import { pollQueues, type QueuesView } from '../wait/watch-queues.ts'
import {
  type CallClient,
  type CallOutcome,
  type ClientContext,
  createCallClient,
  findPullRequest,
} from './call-client.ts'
import { readLandOptions, readWaitCallOptions, readWatchOptions } from './wait-options.ts'

type WaitCall = ReturnType<typeof readWaitCallOptions> & Partial<ReturnType<typeof readLandOptions>>

/** Waits for pull requests, and submits them before if the call says how. */
async function waitFor(
  { prs, signal, settings, matchHead, submitOptions, added, onChange, onAttempt, ...times }: WaitCall,
  context: ClientContext,
): Promise<CallOutcome> {
  const { timeout: waitLimit, failOnPaused = false, ...polling } = times
  const given = { ...context.settings, ...settings }
  const time = startWaitTime(waitLimit, context.host.clock)
  const isDue = submitOptions !== undefined
  const client = await createCallClient(given, signal, context, { changes: isDue, time })
  try {
    const all = new Map<string, TrackedPullRequest>()
    for (const reference of prs) {
      const { number: pr, settings } = await findPullRequest(reference, given, client)
      const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
      const pullRequest = { repo, targetBranch, pr }
      const name = pullRequestKey(pullRequest)
      const sent = isDue ? undefined : client.memory.submissions.get(name)
      if (!all.has(name)) all.set(name, track(pullRequest, { isDue, sent }))
    }
    const tracked = [...all.values()]
    const head = await resolveHead(matchHead, tracked.length, client)
    const names = new Set(tracked.map(({ pullRequest }) => queueName(pullRequest)))
    const sharing = queuesOf(client)
    const options = { ...polling, waitLimit, failOnPaused, stopsOnError: false, head }
    const wait = startWait(options, { ...client, added, time }, time, { submitOptions, sharing })
    const results = new Map<PullRequest, WaitResult>()
    const observer = collectResults(wait, { onChange, onAttempt }, results)
    for (const name of names) sharing.note(name, 1)
    try {
      await waitForPullRequests(tracked, wait, observer)
    } finally {
      for (const name of names) sharing.note(name, -1)
      // Another wait of the client does not take the end of an earlier attempt for the result.
      for (const [pullRequest, { sent }] of wait.tried)
        if (sent !== undefined) client.memory.submissions.set(pullRequestKey(pullRequest), sent)
    }
    const ended = tracked.flatMap(({ pullRequest }) => results.get(pullRequest) ?? [])
    return { document: ended.map(({ record }) => record) }
  } finally {
    await client.close()
  }
}

/**
 * Collects the results of a wait; logs what the command line says on the way, and hands changes and attempts to the
 * caller. Throws the error of a pull request that shows a mistake of the caller or of mergeq; other errors are results.
 */
function collectResults(
  wait: Wait,
  { onChange, onAttempt }: Pick<WaitCall, 'onChange' | 'onAttempt'>,
  results: Map<PullRequest, WaitResult>,
): WaitObserver {
  const { logger, serviceTime } = wait.client
  return {
    async reportAttempt(pullRequest, attempt, reason) {
      tell(onAttempt, { type: 'attempt', pr: pullRequest.pr, attempt, reason })
      if (attempt > 1) await logger.info(describeAttempt(pullRequest, attempt, reason, wait))
    },
    reportPause: text => logger.info(text),
    reportOutage: text => logger.info(text),
    async reportChange({ pullRequest: { pr } }, change) {
      tell(onChange, waitChangeRecord(pr, change, serviceTime.now()))
      await logger.info(describeWaitChange(pr, change))
    },
    async reportEnd(tracked, end) {
      const { failure } = end
      if (failure?.kind === 'usage' || failure?.kind === 'internal') throw failure
      if (failure !== undefined) await logger.warn(failure.message)
      results.set(tracked.pullRequest, await createResult(tracked, end, wait))
    },
  }
}

/** Calls a callback. One that fails, or never ends, must not stop the wait. */
function tell<T>(callback: ((value: T) => unknown) | undefined, value: T): void {
  const call = async () => callback?.(value)
  call().catch(() => undefined)
}

/** Gives the changes of a queue until it is stopped. */
async function watch(
  callOptions: unknown,
  stopped: AbortSignal,
  give: (changes: readonly JsonObject[]) => Promise<void>,
  context: ClientContext,
): Promise<void> {
  const { since, signal, interval, giveUpAfter, settings } = readWatchOptions(callOptions)
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
    const sharing = queuesOf(client)
    const read = createQueueReader(place, {
      since,
      atOnce: maxDepartures,
      share: ask => sharing.read(name, clock.now() - interval / 2, ask, client, limit),
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
    sharing.note(name, 1)
    const watched = pollQueues([{ place, read }], { interval, limit, giveUpAfter }, view, client, {})
    await watched.finally(() => sharing.note(name, -1))
  } finally {
    await client.close()
  }
}

/** What the waits and watches of a service share. */
function queuesOf({ memory }: CallClient): SharedQueues {
  memory.queues ??= new SharedQueues()
  return memory.queues
}

/** What a client waits for and watches. */
export function createWaits(context: ClientContext) {
  return {
    waitForPullRequests: async (callOptions: unknown) => waitFor(readWaitCallOptions(callOptions), context),
    landPullRequests: async (callOptions: unknown) => waitFor(readLandOptions(callOptions), context),
    watchQueue: (callOptions: unknown, stopped: AbortSignal, give: Parameters<typeof watch>[2]) =>
      watch(callOptions, stopped, give, context),
  }
}
