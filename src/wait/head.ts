import type { ServiceClient } from '../api/service-client.ts'
import { usageError } from '../errors.ts'

/**
 * Returns the head commit that a number of pull requests must have; HEAD is the commit that the settings resolve.
 * Throws a usage error when a commit is given for more than one pull request.
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
  const head = given === 'HEAD' ? await settings.read('sha') : given
  if (head !== undefined) return head
  throw usageError(
    `${name}: the commit of HEAD is unknown.`,
    `Run it in a git checkout, or specify the commit: ${name} 4f2a9c1`,
  )
}
