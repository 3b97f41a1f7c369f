import { maxConcurrent as maxDepartures } from '../domain/scheduling.ts'
import { repositoryName } from '../domain/values/repository.ts'
import { startWaitTime } from '../domain/wait-time.ts'
import type { JsonObject } from '../json.ts'
import { resolveHead } from '../wait/head.ts'
import { waitForResults } from '../wait/pull-requests.ts'
import { createQueueReader } from '../wait/queue-reader.ts'
import { createSharedQueues, type SharedQueues } from '../wait/shared-queues.ts'
import type { WaitTarget } from '../wait/wait-target.ts'
import { pollQueues, type QueuesView } from '../wait/watch-queues.ts'
import {
  type CallOutcome,
  type ClientContext,
  createCallClient,
  findPullRequest,
  targetName,
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
    const targets = new Map<string, WaitTarget>()
    for (const reference of prs) {
      const { number: pr, settings } = await findPullRequest(reference, given, client)
      const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
      const values = { repo, targetBranch, pr }
      const name = targetName(values)
      const state = { submission: context.submissions.get(name) }
      if (!targets.has(name)) targets.set(name, { request: { values, overrides: [] }, state })
    }
    const head = await resolveHead(matchHead, targets.size, client)
    // A callback that fails, or never ends, must not stop the wait.
    const report = async (change: WaitChange) => onChange?.(change)
    const results = await waitForResults(
      [...targets.values()],
      { ...options, head },
      { ...client, time },
      queues,
      change => {
        report(change).catch(() => undefined)
      },
    )
    return { document: results.map(({ record }) => record) }
  } finally {
    await client.close()
  }
}

/** Gives the changes of a queue until it is stopped. */
async function watch(
  callOptions: unknown,
  stopped: AbortSignal,
  give: (changes: readonly JsonObject[]) => Promise<void>,
  context: ClientContext,
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
    const readerOptions = { overrides: [], since, startedAt: clock.now(), atOnce: maxDepartures }
    const read = createQueueReader(place, readerOptions)
    const view: QueuesView = {
      async show(_, { changes }) {
        const name = { repo: repositoryName(repo), targetBranch }
        if (changes.length > 0) await give(changes.map(change => ({ type: 'change', ...change, ...name })))
      },
      async lose(_, failure) {
        throw failure
      },
      notify: client.logger.info,
    }
    await pollQueues([{ place, read }], { interval, limit, giveUpAfter }, view, client, {})
  } finally {
    await client.close()
  }
}

/** What a client waits for. Its waits share what they read. */
export function createWaits(context: ClientContext) {
  const queues = createSharedQueues()
  return {
    waitForPullRequests: (callOptions: unknown) => waitFor(callOptions, context, queues),
    watchQueue: (callOptions: unknown, stopped: AbortSignal, give: Parameters<typeof watch>[2]) =>
      watch(callOptions, stopped, give, context),
  }
}
