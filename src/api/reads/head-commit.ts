import { MergeqError, toMergeqError, usageError } from '../../base/errors.ts'
import { getString, type JsonObject } from '../../base/json.ts'
import type { Config } from '../../config/settings.ts'
import type { CommitLookup } from '../../config/source-context.ts'
import { isCompleteCommit, shortCommits } from '../../values/commit.ts'
import { type PullRequest, parsePullRequest } from '../../values/pull-request.ts'
import { isSameRepository, parseRepository, repositoryName } from '../../values/repository.ts'
import { readIfFound } from '../call.ts'
import { getSubmittedPullRequest } from '../operations/pull-requests.ts'
import type { ServiceClient } from '../service-client.ts'

/** A head commit and where it comes from, or why a source has none, without a full stop; a source may have nothing to say. */
type FoundHead = { readonly commit: string; readonly origin: string } | { readonly problem?: string }

/** Returns a commit with all its digits; git completes one that is abbreviated. `name` says where it was given. */
export async function completeCommit(
  commit: string,
  name: string,
  { openCheckout }: Pick<Config, 'openCheckout'>,
): Promise<string> {
  if (isCompleteCommit(commit)) return commit
  const found = (await (await openCheckout())?.findCommit(commit)) ?? { problem: `${commit} is abbreviated` }
  if ('commit' in found) return found.commit
  throw usageError(`${name}: ${found.problem}.`, `Use all digits of the commit: ${commit}...`)
}

/** Returns what the remote says of the head, else the commit of a record that is submitted, or why it is not known. */
function headOf(remote: CommitLookup, record: JsonObject | undefined): CommitLookup {
  if ('commit' in remote) return remote
  const isSubmitted = record?.isCurrentlySubmittedToQueue === true
  const commit = getString(record, 'prSha')?.toLowerCase() ?? ''
  if (isSubmitted && isCompleteCommit(commit)) return { commit }
  const unsaid = isSubmitted ? 'its record in the queue has no commit' : 'it is not in the queue'
  return { problem: `${remote.problem}, and ${unsaid}` }
}

/** Returns the commit that the head of one pull request must be; HEAD is the commit of the checkout. */
export async function resolveHead(
  given: string | undefined,
  pullRequestCount: number,
  { settings, nameOf }: Pick<ServiceClient, 'settings' | 'nameOf'>,
): Promise<string | undefined> {
  if (given === undefined) return undefined
  const name = nameOf('matchHead')
  if (pullRequestCount > 1)
    throw usageError(`${name} works with only one pull request.`, 'Wait for each pull request separately.')
  if (given !== 'HEAD') return completeCommit(given, name, settings)
  const head = (await (await settings.openCheckout())?.readHead()) ?? { problem: 'the checkout is not read' }
  if ('commit' in head) return head.commit
  throw usageError(
    `${name}: the commit of HEAD is unknown: ${head.problem}.`,
    'Run it in a git checkout, or specify all digits of the commit.',
  )
}

/** Returns what the remote says about the head of a pull request. */
const findRemoteHead = async (
  pullRequest: PullRequest,
  { logger, settings: { openCheckout } }: ServiceClient,
): Promise<CommitLookup> =>
  logger.withSpinner(
    () => `looking up the head of #${pullRequest.pr}`,
    async () =>
      (await (await openCheckout())?.findHead(pullRequest)) ?? { problem: 'the checkout is not read' },
  )

/** Returns the head commit of a pull request whose record was read, or why it is not known, without a full stop. */
export const findHead = async (
  pullRequest: PullRequest,
  record: JsonObject | undefined,
  client: ServiceClient,
): Promise<CommitLookup> => headOf(await findRemoteHead(pullRequest, client), record)

/** Returns the head commit if it is another one than `expected`. Throws a usage error if it is not known. */
export function otherHead(
  expected: string,
  head: CommitLookup,
  { pr }: PullRequest,
  { nameOf }: ServiceClient,
): string | undefined {
  if ('commit' in head) return head.commit === expected ? undefined : head.commit
  throw usageError(
    `${nameOf('matchHead')} needs a checkout, or a pull request that is submitted.`,
    `The head of #${pr} is unknown: ${head.problem}. Nothing was sent.`,
  )
}

/** Throws an error if the head, which is looked up, is not the expected commit. Returns the record if that was read. */
export async function checkHead(
  pullRequest: PullRequest,
  expected: string,
  client: ServiceClient,
): Promise<JsonObject | undefined> {
  const remote = await findRemoteHead(pullRequest, client)
  const record =
    'commit' in remote ? undefined : await readIfFound(client, getSubmittedPullRequest, pullRequest)
  const other = otherHead(expected, headOf(remote, record), pullRequest, client)
  if (other === undefined) return record
  const [given, found] = shortCommits(expected, other)
  const message = `The head of #${pullRequest.pr} moved: expected ${given}, found ${found}. Nothing was sent.`
  throw new MergeqError('stale', message)
}

/**
 * Returns the head commit that the targets of a pull request belong to: that of the settings, that of the CI job if it
 * is a job of this pull request, else that of the checkout if it is the head (docs/reference/cli.md, "The head
 * commit"). Throws a usage error with the reasons if none of them has it.
 */
export async function findTargetsCommit(pullRequest: PullRequest, client: ServiceClient): Promise<string> {
  const { settings, logger, nameOf } = client
  const given = await settings.readFrom('option', 'sha')
  if (given !== undefined) return completeCommit(given, nameOf('sha'), settings)
  const reasons: string[] = []
  for (const find of [headOfEnvironment, headOfJob, headOfCheckout]) {
    const found = await find(pullRequest, client)
    if ('commit' in found) {
      await logger.debug(`sha: ${found.commit} (${found.origin})`)
      return found.commit
    }
    if (found.problem !== undefined) reasons.push(`${found.problem}.`)
  }
  const name = nameOf('sha')
  throw usageError(
    `No head commit of #${pullRequest.pr} was found.`,
    [...reasons, `Specify the commit that the targets belong to with ${name}.`].join('\n'),
  )
}

/** MERGEQ_SHA is the head of the pull request in MERGEQ_PR, not of another one that was given. */
async function headOfEnvironment(pullRequest: PullRequest, { settings }: ServiceClient): Promise<FoundHead> {
  const origin = 'MERGEQ_SHA'
  const sha = await settings.readFrom('option-or-environment', 'sha')
  if (sha === undefined) return {}
  const reference = await settings.readFrom('option-or-environment', 'pr')
  const other = reference && (await findOtherPullRequest(pullRequest, reference, settings))
  if (other === undefined) return { commit: await completeCommit(sha, origin, settings), origin }
  return { problem: `${origin} belongs to MERGEQ_PR, which is ${other}` }
}

/** Returns the pull request in MERGEQ_PR if it is another one: `#7`, or `#7 of github.com/acme/api`. */
async function findOtherPullRequest(
  { pr, repo }: PullRequest,
  reference: string,
  settings: Config,
): Promise<string | undefined> {
  const { number, repo: named } = parsePullRequest(reference)
  if (number !== pr) return `#${number}`
  // Arguments name the repository of the pull request that was given, not of the one in MERGEQ_PR.
  const configured = settings.withArgs(new Map()).read('repo')
  const own = named === undefined ? await configured.catch(() => undefined) : parseRepository(named)
  return own === undefined || isSameRepository(own, repo) ? undefined : `#${number} of ${repositoryName(own)}`
}

/** The head that a CI job states is that of its own pull request. */
async function headOfJob({ repo, pr }: PullRequest, { settings }: ServiceClient): Promise<FoundHead> {
  const { ciJob } = settings
  try {
    const [ownPr, ownRepo] = [await ciJob.find('pr'), await ciJob.find('repo')]
    if (ownPr === undefined) return {}
    if (Number(ownPr.value) !== pr) return { problem: `The CI job belongs to #${ownPr.value}` }
    if (ownRepo === undefined) return { problem: 'The CI job does not state its repository' }
    if (!isSameRepository(parseRepository(ownRepo.value), repo))
      return { problem: `The CI job belongs to ${ownRepo.value}` }
    const sha = await ciJob.find('sha')
    if (sha === undefined) return { problem: `The CI job does not state the head of #${pr}` }
    const { value, origin } = sha
    return { commit: await completeCommit(value.toLowerCase(), origin, settings), origin }
  } catch (error) {
    return { problem: toMergeqError(error).message.replace(/\.$/, '') }
  }
}

/** The commit of the checkout counts only if it is the head of the pull request: an equal hash proves it. */
async function headOfCheckout(pullRequest: PullRequest, client: ServiceClient): Promise<FoundHead> {
  const { settings, logger, isDryRun } = client
  const checkout = await settings.openCheckout()
  if (checkout === undefined) return {}
  const { pr } = pullRequest
  const [head, origin] = [await checkout.readHead(), 'git HEAD']
  if ('problem' in head) return { problem: `The commit of HEAD is unknown: ${head.problem}` }
  const remote = await findRemoteHead(pullRequest, client)
  if ('problem' in remote && isDryRun === true) {
    await logger.info(
      `The head of #${pr} is not known (${remote.problem}): the request has the commit of HEAD, which must be the head when it is sent.`,
    )
    return { ...head, origin }
  }
  const record = 'commit' in remote ? undefined : await readRecord(pullRequest, client)
  const known = headOf(remote, record)
  if ('problem' in known) return { problem: `The head of #${pr} is unknown: ${known.problem}` }
  if (known.commit === head.commit) return { ...head, origin }
  const [own, other] = [head.commit.slice(0, 7), known.commit.slice(0, 7)]
  return { problem: `HEAD of the checkout is ${own}, and the head of #${pr} is ${other}` }
}

/** Reads the record of a pull request; a run of a pull request from a fork has no token to read it with. */
async function readRecord(
  { repo, targetBranch, pr }: PullRequest,
  client: ServiceClient,
): Promise<JsonObject | undefined> {
  if ((await client.settings.read('forkedRun')) !== undefined) return undefined
  return readIfFound(client, getSubmittedPullRequest, { repo, targetBranch, pr })
}
