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

/** What a 404 means: the sentence, and what to do. */
interface NotFound {
  readonly sentence: string
  readonly hint: string
}

/** The explanations that were found while a command ran, by the queue; undefined for a queue that exists. */
const explanations = new WeakMap<Cli, Map<string, Promise<NotFound | undefined>>>()

/**
 * Returns the error of a request after a 404. If its queue does not exist, the error says so, and names the queue that
 * was probably meant, or those that the repository has. If the metrics have the same 404, it names the base URL. Reads
 * the service at most twice for each queue.
 */
export async function explainMissingQueue(cli: Cli, failure: MergeqError): Promise<MergeqError> {
  const { repo, targetBranch, operation: name = '' } = failure.details
  const operation: Operation | undefined = serviceOperations.find(
    ({ route }) => operationName(route) === name,
  )
  const makesQueue = operation?.change?.isOfQueue === true && operation.errors?.makesSubject === true
  if (repo === undefined || targetBranch === undefined || makesQueue) return failure
  const place = { repo: parseRepository(repo), targetBranch }
  const sentence = describeMissingQueue(place)
  const isKnownToMiss = failure.message.startsWith(sentence)
  // Of an operation that not every service has, the error says what is missing.
  if (operation?.isHostedOnly === true && !isKnownToMiss) return failure
  const known = explanations.get(cli) ?? new Map<string, Promise<NotFound | undefined>>()
  explanations.set(cli, known)
  const reading = known.get(sentence) ?? explain(cli, place, failure, isKnownToMiss)
  known.set(sentence, reading)
  const found = await reading
  if (found === undefined) return extendError(failure, { isExplained: true })
  return extendError(failure, { hint: found.hint, isExplained: true }, found.sentence)
}

/** Returns what is missing, and what to do about it; undefined if the queue exists, or if that is not known. */
async function explain(
  cli: Cli,
  place: Queue,
  failure: MergeqError,
  isKnownToMiss: boolean,
): Promise<NotFound | undefined> {
  const sentence = `${describeMissingQueue(place)}.`
  try {
    if (!isKnownToMiss && (await hasQueue(withoutMessages(cli.client()), place)) !== false) return undefined
    const other = await cli.settings.findOtherBranch(place.targetBranch)
    if (other !== undefined)
      return {
        sentence,
        hint: `The base of this job is ${place.targetBranch}. Use -b ${shellWord(other)}, or set MERGEQ_TARGET_BRANCH.`,
      }
    const { branches: named, failure: metricsFailure } = await readBranches(cli, place.repo)
    if (metricsFailure !== undefined && isSameRefusal(metricsFailure, failure))
      return {
        sentence: 'The service answered 404.',
        hint: `Check the base URL (now ${await cli.settings.require('baseUrl')}), --repo and --target-branch.`,
      }
    if (named === undefined) return undefined
    // The metrics of the last hour may name a queue that was deleted.
    const branches = named.filter(branch => branch !== place.targetBranch)
    const anyQueue = { repo: null, targetBranch: null }
    const hint = [
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
    return { sentence, hint }
  } catch {
    cli.host.interrupted.throwIfAborted()
    return undefined
  }
}

/** Whether two requests were refused in the same words: then no operation may be at this address. */
const isSameRefusal = ({ details: one }: MergeqError, { details: other }: MergeqError): boolean =>
  one.status === other.status &&
  one.serviceMessage !== undefined &&
  one.serviceMessage === other.serviceMessage

/** Returns the branches of the queues that the metrics of a repository name, or why they cannot be read. */
async function readBranches(
  cli: Cli,
  repo: Repository,
): Promise<{ readonly branches?: readonly string[]; readonly failure?: MergeqError | undefined }> {
  const client = withoutMessages(cli.client())
  const once = { limits: { maxRetries: 0 } }
  const { response, failure } = await tryRead(client, getMergeQueueMetrics, { repo }, once)
  if (response === undefined) return { failure }
  const queues = queuesIn(response.bytes, repo).map(({ queue }) => queue)
  const ofRepository = queues.filter(queue => isSameRepository(queue.repo, repo))
  return { branches: ofRepository.map(({ targetBranch }) => targetBranch) }
}
