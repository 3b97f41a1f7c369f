import { hasQueue } from '../api/call.ts'
import { type Operation, operationName } from '../api/operation.ts'
import { serviceOperations } from '../api/operations/index.ts'
import { getMergeQueueMetrics, queuesIn } from '../api/operations/metrics.ts'
import { tryRead } from '../api/reads/extra-reads.ts'
import { withoutMessages } from '../api/service-client.ts'
import { extendError, type MergeqError } from '../base/errors.ts'
import { joinTruncated } from '../values/format.ts'
import {
  describeMissingQueue,
  isSameRepository,
  parseRepository,
  type Queue,
  type Repository,
} from '../values/repository.ts'
import { suggestName } from '../values/similar-name.ts'
import { shellWord } from '../values/suggested-command.ts'
import type { Cli } from './command.ts'

/** The hints that were found while a command ran, by the queue; undefined for a queue that exists. */
const hints = new WeakMap<Cli, Map<string, Promise<string | undefined>>>()

/**
 * Returns the error of a request after a 404. If its queue does not exist, the error says so, and names the queue that
 * was probably meant, or those that the repository has. Reads the service at most twice for each queue.
 */
export async function explainMissingQueue(cli: Cli, failure: MergeqError): Promise<MergeqError> {
  const { repo, targetBranch, operation: name = '' } = failure.details
  const operation: Operation | undefined = serviceOperations.find(
    ({ route }) => operationName(route) === name,
  )
  const makesQueue = operation?.recovery?.ofQueue === true && operation.errors?.makesSubject === true
  if (repo === undefined || targetBranch === undefined || makesQueue) return failure
  const place = { repo: parseRepository(repo), targetBranch }
  const sentence = describeMissingQueue(place)
  const isKnownToMiss = failure.message.startsWith(sentence)
  // Of an operation that not every service has, the error says what is missing.
  if (operation?.isHostedOnly === true && !isKnownToMiss) return failure
  const known = hints.get(cli) ?? new Map<string, Promise<string | undefined>>()
  hints.set(cli, known)
  const reading = known.get(sentence) ?? findHint(cli, place, isKnownToMiss)
  known.set(sentence, reading)
  const hint = await reading
  if (hint === undefined) return extendError(failure, { isExplained: true })
  return extendError(failure, { hint, isExplained: true }, `${sentence}.`)
}

/** Returns what to do about a queue that does not exist; undefined if it exists, or if that is not known. */
async function findHint(cli: Cli, place: Queue, isKnownToMiss: boolean): Promise<string | undefined> {
  try {
    if (!isKnownToMiss && (await hasQueue(withoutMessages(cli.client()), place)) !== false) return undefined
    const other = await cli.settings.findOtherBranch(place.targetBranch)
    if (other !== undefined)
      return `The base of this job is ${place.targetBranch}. Use -b ${shellWord(other)}, or set MERGEQ_TARGET_BRANCH.`
    const named = await readBranches(cli, place.repo)
    if (named === undefined) return undefined
    // The metrics of the last hour may name a queue that was deleted.
    const branches = named.filter(branch => branch !== place.targetBranch)
    const anyQueue = { repo: null, targetBranch: null }
    return [
      suggestName(place.targetBranch, branches) ??
        (branches.length === 0 ? [] : `It has queues for: ${joinTruncated(branches)}.`),
      'Check --repo and --target-branch.',
      cli.args.has('--all')
        ? 'If the repository is at another host, name its queue in a queue file (-f): metrics name no host.'
        : [],
      `To list the queues, run: ${cli.settings.commandLine(['queue', 'list'], anyQueue)}`,
    ]
      .flat()
      .join('\n')
  } catch {
    cli.host.interrupted.throwIfAborted()
    return undefined
  }
}

/**
 * Returns the branches of the queues that the metrics of a repository name. Undefined if they cannot be read: then the
 * base URL may be wrong, and a 404 says nothing about a queue.
 */
async function readBranches(cli: Cli, repo: Repository): Promise<readonly string[] | undefined> {
  const once = { once: true, quiet: true }
  const { response } = await tryRead(cli.client(), getMergeQueueMetrics, { repo }, once)
  if (response === undefined) return undefined
  const queues = queuesIn(response.bytes, repo).map(({ values }) => values)
  return queues.filter(queue => isSameRepository(queue.repo, repo)).map(({ targetBranch }) => targetBranch)
}
