import type { Cli } from '../../cli/cli.ts'
import type { HeadLookup } from '../../config/discovery.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { isOtherCommit } from '../../domain/wait-state.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { shortCommits } from '../../wait/result.ts'
import { readRecord } from './reads.ts'

/**
 * Returns the head commit of a pull request: that of its record while it is submitted, else that of the remote of the
 * checkout. Or returns why it is not known, without a full stop.
 */
export async function findHead(
  { repo, pr }: RequestedPullRequest,
  record: JsonObject | undefined,
  { args, settings }: Cli,
): Promise<HeadLookup> {
  const commit = getString(record, 'prSha') ?? ''
  if (record?.isCurrentlySubmittedToQueue === true && commit !== '') return { commit }
  return settings.withArgs(new Map(args).set('--repo', [repositoryName(repo)])).findHead(pr)
}

/**
 * Returns the head commit of a pull request that is not submitted because it is another one than `expected`; undefined
 * if it is the same. Throws a usage error if it is not known.
 */
export async function findOtherHead(
  pullRequest: RequestedPullRequest,
  record: JsonObject | undefined,
  expected: string,
  cli: Cli,
): Promise<string | undefined> {
  const head = await findHead(pullRequest, record, cli)
  if ('commit' in head) return isOtherCommit(head.commit, expected) ? head.commit : undefined
  throw usageError(
    '--match-head needs a checkout, or a pull request that is submitted.',
    `The head of #${pullRequest.pr} is unknown: ${head.problem}. Nothing was sent.`,
  )
}

/** Throws an error if the head of a pull request, which is read, is not the expected commit. */
export async function checkHead(
  pullRequest: RequestedPullRequest,
  expected: string,
  cli: Cli,
): Promise<void> {
  const other = await findOtherHead(pullRequest, await readRecord(pullRequest, cli, {}), expected, cli)
  if (other === undefined) return
  const [given, found] = shortCommits(expected, other)
  const message = `The head of #${pullRequest.pr} moved: expected ${given}, found ${found}. Nothing was sent.`
  throw new MergeqError('stale', message)
}
