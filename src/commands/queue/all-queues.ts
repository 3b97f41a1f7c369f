import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics, queuesIn } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { QueueMetrics } from '../../domain/metrics/last-hour.ts'
import { queueName, type Repository, shortRepositoryName } from '../../domain/values/repository.ts'
import { extendError, MergeqError, usageError } from '../../errors.ts'
import type { Cli } from '../../run/cli.ts'
import { printRequests } from '../../run/dry-run.ts'
import type { Input } from '../../run/inputs.ts'
import { read } from '../../run/send.ts'
import type { Queue } from '../../run/values.ts'
import { type Failed, forEachQueue, reportFailures } from './live-queue.ts'

/** A queue that the metrics name. */
export interface NamedQueue {
  readonly name: string
  readonly queue: Queue
  readonly metrics: QueueMetrics
}

/**
 * Returns the queues that metrics name.
 *
 * @param repo the repository that the metrics were requested for
 */
export async function namedQueues(
  bytes: Uint8Array,
  repo: Repository | undefined,
  { settings }: Cli,
): Promise<readonly NamedQueue[]> {
  // The settings may name several repositories, or none: then the host is the usual one.
  const place = repo ?? (await settings.read('repo').catch(() => undefined))
  return queuesIn(bytes, place).map(({ values, metrics }) => ({
    name: queueName(values),
    queue: values,
    metrics,
  }))
}

export const noQueueError = (): MergeqError =>
  new MergeqError('not-found', 'No queue has metrics.', {
    hint: 'To name a queue, use --repo and --target-branch.',
  })

interface AllQueues {
  readonly queues: readonly NamedQueue[]
  /** What limits them to a repository, if anything does: `MERGEQ_REPO limits this to acme/web.` */
  readonly limit: readonly string[]
}

/**
 * Returns the params of the metrics that name the queues of `--all`: those of the organization, or of the repository
 * that an option or the environment names.
 */
async function metricsParams({ args, settings }: Cli) {
  if (args.has('--target-branch'))
    throw usageError('--all and --target-branch cannot be used together.', 'Use only one of them.')
  const repo = await settings.readFrom('option-or-environment', 'repo')
  return { repo, branch: undefined }
}

/** Prints the first request of `--all`, for a dry run. Returns exit code 0. */
export const printAllRequest = async (cli: Cli): Promise<number> =>
  printRequests(cli, getMergeQueueMetrics, [await metricsParams(cli)])

/** Returns the queues of `--all`. Throws an error if there are none. */
export async function allQueues(cli: Cli): Promise<AllQueues> {
  const params = await metricsParams(cli)
  const { repo } = params
  const origin = cli.settings.used().get('repo')?.origin
  const limit = repo === undefined ? [] : [`${origin} limits this to ${shortRepositoryName(repo)}.`]
  const { response } = await callOperation(cli.client(), getMergeQueueMetrics, params)
  const queues = await namedQueues(response.bytes, repo, cli)
  if (queues.length === 0)
    throw extendError(noQueueError(), {}, ['No queue has metrics.', ...limit].join(' '))
  return { queues, limit }
}

/** The input of a command about one queue; undefined with `--all` or `--from`, which need no queue. */
export const unlessSeveral = <T>(input: Input<T>): Input<T | undefined> => ({
  setting: 'targetBranch',
  get definitions() {
    return input.definitions
  },
  read: (args, context) => (args.has('--all') || args.has('--from') ? undefined : input.read(args, context)),
})

/** Reads queues, with the time of each response by the service's clock. */
export const readQueues = <T extends { readonly name: string; readonly queue: Queue }>(
  queues: readonly T[],
  cli: Cli,
) =>
  forEachQueue(cli, queues, async item => {
    const { response, date = cli.host.clock.now() } = await read(cli, getQueue, item.queue)
    return { item, queue: response.records[0] ?? {}, now: date }
  })

/** Logs why queues of a list could not be read. Returns the exit code of an incomplete list. */
export const reportUnread = (failed: readonly Failed[], cli: Cli): Promise<number> =>
  reportFailures(
    failed.map(({ failure: { message, details } }) => ({
      failure: new MergeqError('incomplete', message, details),
    })),
    cli,
  )
