import { headOf } from '../../api/head-commit.ts'
import type { CommitLookup } from '../../config/checkout.ts'
import type { PullRequest } from '../../domain/values/pull-request.ts'
import { MergeqError, usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { Cli } from '../../run/command.ts'
import { shortCommits } from '../../wait/result.ts'
import { readRecord } from './reads.ts'

const notInCheckout: CommitLookup = { problem: 'the checkout is not read' }

/** Returns what the remote says about the head of a pull request. */
const findRemoteHead = async (
  pullRequest: PullRequest,
  { logger, settings: { checkout } }: Cli,
): Promise<CommitLookup> =>
  logger.withSpinner(
    () => `looking up the head of #${pullRequest.pr}`,
    async () => checkout?.findHead(pullRequest) ?? notInCheckout,
  )

/**
 * Returns the head commit of a pull request, whose record was read: what the remote says, else that of the record while
 * it is submitted. Or returns why it is not known, without a full stop.
 */
export const findHead = async (
  pullRequest: PullRequest,
  record: JsonObject | undefined,
  cli: Cli,
): Promise<CommitLookup> => headOf(await findRemoteHead(pullRequest, cli), record)

/**
 * Returns the head commit of a pull request if it is another one than `expected`; undefined if it is the same. Throws a
 * usage error if it is not known.
 */
export async function findOtherHead(
  pullRequest: PullRequest,
  record: JsonObject | undefined,
  expected: string,
  cli: Cli,
): Promise<string | undefined> {
  return otherThan(await findHead(pullRequest, record, cli), pullRequest, expected)
}

function otherThan(head: CommitLookup, { pr }: PullRequest, expected: string): string | undefined {
  if ('commit' in head) return head.commit === expected ? undefined : head.commit
  throw usageError(
    '--match-head needs a checkout, or a pull request that is submitted.',
    `The head of #${pr} is unknown: ${head.problem}. Nothing was sent.`,
  )
}

/**
 * Throws an error if the head of a pull request, which is looked up, is not the expected commit. Returns the record if
 * that was read.
 */
export async function checkHead(
  pullRequest: PullRequest,
  expected: string,
  cli: Cli,
): Promise<JsonObject | undefined> {
  const remote = await findRemoteHead(pullRequest, cli)
  const record = 'commit' in remote ? undefined : await readRecord(pullRequest, cli, {})
  const other = otherThan(headOf(remote, record), pullRequest, expected)
  if (other === undefined) return record
  const [given, found] = shortCommits(expected, other)
  const message = `The head of #${pullRequest.pr} moved: expected ${given}, found ${found}. Nothing was sent.`
  throw new MergeqError('stale', message)
}
