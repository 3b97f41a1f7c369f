import { callOperation } from '../../../api/call.ts'
import { getMergeQueueMetrics, readSamplesIn } from '../../../api/operations/metrics.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { timeIsOver } from '../../../api/wait-time.ts'
import { extendError, failureOrThrow, MergeqError } from '../../../base/errors.ts'
import type { Cli } from '../../../command/command.ts'
import { printRequests } from '../../../command/dry-run.ts'
import { outlastRateLimit, reportErrors, withResource } from '../../../command/each.ts'
import { flag, type Input, option } from '../../../command/inputs.ts'
import { forEachQueue, type NamedQueue, namedQueues } from '../../../command/several-queues.ts'
import { findQueue, summarizeMetrics } from '../../../domain/metrics/last-hour.ts'
import {
  isSameRepository,
  type Queue,
  type Repository,
  shortRepositoryName,
} from '../../../values/repository.ts'
import { fileName } from '../../../values/types.ts'
import { namedQueue, readDescribedQueues } from './files/described-queues.ts'
import { rejectTogether } from './together.ts'

export const noQueueError = (): MergeqError =>
  new MergeqError('not-found', 'No queue has metrics.', {
    hint: 'To name a queue, use --repo and --target-branch.',
  })

const noQueueOfFilesError = (file: string): MergeqError =>
  new MergeqError('not-found', `No file of ${file} names such a queue.`, {
    hint: 'To use all queues that the files name, omit --repo, and unset MERGEQ_REPO.',
  })

/** The options that name several queues, for a command that does something with them. */
export const severalQueues = (does: string) => ({
  all: flag(`${does} every queue that queue list shows: of the organization, or of --repo`),
  file: queuesFile(does),
})

export const queuesFile = (does: string) =>
  option(
    fileName('file|directory'),
    `${does} the queues in this queue file (- for standard input), or in the files of this directory, also those without metrics`,
    { short: 'f' },
  )

/** The input of a command about one queue; undefined with an option that names several. */
export const unlessSeveral = <T>(input: Input<T>): Input<T | undefined> => ({
  setting: 'targetBranch',
  get definitions() {
    return input.definitions
  },
  read: (args, context) =>
    ['--all', '--file', '--from'].some(name => args.has(name)) ? undefined : input.read(args, context),
})

/** The repository that an option or the environment names. */
export async function limitOf({ args, settings }: Cli): Promise<Repository | undefined> {
  const used = args.has('--file') ? '--file' : '--all'
  const others = ['--all', '--all-repos', '--target-branch'].filter(name => name !== used)
  rejectTogether(args, ...others.map(name => [used, name] as const))
  return settings.readFrom('option-or-environment', 'repo')
}

const describeLimit = (repo: Repository | undefined, { settings }: Cli): readonly string[] =>
  repo === undefined
    ? []
    : [`${settings.used().get('repo')?.origin} limits this to ${shortRepositoryName(repo)}.`]

export const printReads = (queues: readonly NamedQueue[], cli: Cli): Promise<number> =>
  printRequests(
    cli,
    getQueue,
    queues.map(({ queue }) => queue),
  )

export async function printSelection(file: string | undefined, cli: Cli): Promise<number> {
  if (file === undefined)
    return printRequests(cli, getMergeQueueMetrics, [{ repo: await limitOf(cli), branch: undefined }])
  const { queues } = await findQueues(file, cli)
  return printReads(queues, cli)
}

interface FoundQueues {
  readonly queues: readonly NamedQueue[]
  /** What limits them to a repository, if anything does: `MERGEQ_REPO limits this to acme/web.` */
  readonly limit: readonly string[]
}

/** The queues that the files name or, without files, the metrics. Throws an error if there are none. */
export async function findQueues(file: string | undefined, cli: Cli): Promise<FoundQueues> {
  const repo = await limitOf(cli)
  const isIncluded = ({ queue }: NamedQueue) => repo === undefined || isSameRepository(queue.repo, repo)
  const queues =
    file === undefined
      ? await queuesOfMetrics(repo, cli)
      : (await readDescribedQueues(file, cli, namedQueue)).filter(isIncluded)
  const limit = describeLimit(repo, cli)
  if (queues.length > 0) return { queues, limit }
  const failure = file === undefined ? noQueueError() : noQueueOfFilesError(file)
  throw extendError(failure, {}, [failure.message, ...limit].join(' '))
}

async function queuesOfMetrics(repo: Repository | undefined, cli: Cli): Promise<readonly NamedQueue[]> {
  const params = { repo, branch: undefined }
  const { response } = await callOperation(cli.client(), getMergeQueueMetrics, params)
  return namedQueues(response.bytes, repo, cli)
}

/** Returns the queues of --all or --file; says what limits them. */
export async function selectQueues(file: string | undefined, cli: Cli): Promise<readonly NamedQueue[]> {
  outlastRateLimit(cli)
  return announce(await findQueues(file, cli), cli)
}

/** Returns the queues of --all or --file for a wait; says what limits them. */
export async function selectQueuesToWait(file: string | undefined, cli: Cli): Promise<readonly Queue[]> {
  const found = await findQueues(file, cli).catch(error => {
    const isOver = cli.time?.hasTime() === false && failureOrThrow(error).kind === 'unavailable'
    throw isOver ? timeIsOver('the queues were known') : error
  })
  return (await announce(found, cli)).map(({ queue }) => queue)
}

async function announce({ queues, limit }: FoundQueues, { logger }: Cli): Promise<readonly NamedQueue[]> {
  for (const text of limit) await logger.info(text)
  return queues
}

interface SelectionWork<R> {
  /** Undefined with an option that names several. */
  readonly queue: Queue | undefined
  readonly file: string | undefined
  readonly atOnce?: number
  work(queue: Queue): Promise<R>
  /** Prints the result of a queue, in the order of the queues. Returns the error that ends it all the same. */
  print?(result: R, queue: Queue): Promise<MergeqError | undefined>
}

/** Does the same for one queue, or for each that --all or --file names. Returns the most severe exit code. */
export async function forSelectedQueues<R>(
  cli: Cli,
  { queue, file, atOnce, work, print = async () => undefined }: SelectionWork<R>,
): Promise<number> {
  if (queue !== undefined) {
    const failure = await print(await work(queue), queue)
    await cli.printer.end()
    if (failure !== undefined) throw failure
    return 0
  }
  const failures: MergeqError[] = []
  const { failures: unread } = await forEachQueue(
    cli,
    await selectQueues(file, cli),
    each => work(each.queue),
    {
      atOnce,
      async print({ item, result }) {
        const failure = result === undefined ? undefined : await print(result, item.queue)
        if (failure !== undefined) failures.push(withResource(failure, item.name))
        return undefined
      },
    },
  )
  await cli.printer.end()
  return reportErrors([...failures, ...unread], cli)
}

export function withMetrics(queues: readonly NamedQueue[], bytes: Uint8Array): readonly NamedQueue[] {
  const summary = summarizeMetrics(readSamplesIn(bytes))
  return queues.map(each => ({
    ...each,
    metrics: findQueue(summary, each.queue.repo, each.queue.targetBranch),
  }))
}
