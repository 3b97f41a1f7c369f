import { completeCommit } from '../api/head-commit.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { usageError } from '../errors.ts'

/**
 * Returns the head commit that a number of pull requests must have; HEAD is the commit of the checkout. Throws a usage
 * error when a commit is given for more than one pull request.
 */
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
  const head = (await settings.checkout?.readHead()) ?? { problem: 'the checkout is not read' }
  if ('commit' in head) return head.commit
  throw usageError(
    `${name}: the commit of HEAD is unknown: ${head.problem}.`,
    'Run it in a git checkout, or specify all digits of the commit.',
  )
}
