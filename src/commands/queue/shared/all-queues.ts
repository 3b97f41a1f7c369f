import { getMergeQueueMetrics } from '../../../api/operations/metrics.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { timeIsOver } from '../../../api/wait-time.ts'
import { failureOrThrow, MergeqError } from '../../../base/errors.ts'
import { rejectTogether } from '../../../command/check-inputs.ts'
import type { Cli } from '../../../command/command.ts'
import { printRequests } from '../../../command/dry-run.ts'
import { outlastRateLimit, reportErrors, withResource } from '../../../command/each.ts'
import { flag, type Input, option } from '../../../command/inputs.ts'
import { forEachQueue, type NamedQueue, queuesOfMetrics } from '../../../command/several-queues.ts'
import {
  isSameRepository,
  type Queue,
  type Repository,
  shortRepositoryName,
} from '../../../values/repository.ts'
import { fileName } from '../../../values/types.ts'
import { namedQueue, readDescribedQueues } from './files/described-queues.ts'

/** The error of files, or without files of metrics, that name no queue; `limit` is what limits them. */
export const noQueueError = (file?: string, limit: readonly string[] = []): MergeqError => {
  const [problem, hint] =
    file === undefined
      ? ['No queue has metrics.', 'To name a queue, use --repo and --target-branch.']
      : [
          `No file of ${file} names such a queue.`,
          'To use all queues that the files name, omit --repo, and unset MERGEQ_REPO.',
        ]
  return new MergeqError('not-found', [problem, ...limit].join(' '), { hint })
}

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

/** One queue, or else the queues of files or metrics. */
interface Selection {
  /** Undefined with an option that names several. */
  readonly queue: Queue | undefined
  readonly file: string | undefined
}

/** Prints the requests that a command about queues sends first, for a dry run. Returns exit code 0. */
export async function printSelection({ queue, file }: Selection, cli: Cli): Promise<number> {
  if (queue !== undefined) return printRequests(cli, getQueue, [queue])
  if (file === undefined)
    return printRequests(cli, getMergeQueueMetrics, [{ repo: await limitOf(cli), branch: undefined }])
  const { queues } = await findQueues(file, cli)
  return printRequests(
    cli,
    getQueue,
    queues.map(({ queue }) => queue),
  )
}

/**
 * Returns the queues that the files name or, without files, the metrics, and what limits them to a repository, if anything
 * does: `MERGEQ_REPO limits this to acme/web.` Throws an error if there are none.
 */
export async function findQueues(file: string | undefined, cli: Cli) {
  const repo = await limitOf(cli)
  const queues: readonly NamedQueue[] =
    file === undefined
      ? await queuesOfMetrics({ repo, branch: undefined }, repo, cli)
      : (await readDescribedQueues(file, cli, (_path, content) => namedQueue(content, cli))).filter(
          ({ queue }) => repo === undefined || isSameRepository(queue.repo, repo),
        )
  const origin = cli.settings.used().get('repo')?.origin
  const limit = repo === undefined ? [] : [`${origin} limits this to ${shortRepositoryName(repo)}.`]
  if (queues.length === 0) throw noQueueError(file, limit)
  return { queues, limit }
}

/** Returns the queues of --all or --file; says what limits them. */
export async function selectQueues(file: string | undefined, cli: Cli): Promise<readonly NamedQueue[]> {
  outlastRateLimit(cli)
  return selectQueuesToWait(file, cli)
}

/** The same for a wait, which may be over before the queues are known. */
export async function selectQueuesToWait(file: string | undefined, cli: Cli): Promise<readonly NamedQueue[]> {
  const { queues, limit } = await findQueues(file, cli).catch(error => {
    const isOver = cli.time?.hasTime() === false && failureOrThrow(error).kind === 'unavailable'
    throw isOver ? timeIsOver('the queues were known') : error
  })
  for (const text of limit) await cli.logger.info(text)
  return queues
}

interface SelectionWork<R> extends Selection {
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
