import { failureOrThrow, isPassing, MergeqError, usageError } from '../../base/errors.ts'
import type { CheckoutLookup } from '../../config/checkout.ts'
import type { Config } from '../../config/settings.ts'
import { pluralize } from '../../values/format.ts'
import type { Queue } from '../../values/repository.ts'
import { readIfFound } from '../call.ts'
import { getSubmittedPullRequest } from '../operations/pull-requests.ts'
import type { ServiceClient } from '../service-client.ts'

interface LookupOptions {
  /** How to give a pull request, as a sentence, for the error. */
  readonly advice: string
  /** Returns how to give the pull request of a number, as the end of a sentence: `run: mergeq pr get 7`. */
  give(pr: string): string
  /** Why no request may be sent, without a full stop; undefined if it may be. */
  readonly whyOffline?: string | undefined
}

/** A pull request that no argument named. */
interface CurrentPullRequest {
  /** Its number, or a URL that a variable holds. */
  readonly reference: string
  /** How it was found, where neither a variable nor the CI job names it. */
  readonly guess: string | undefined
}

/**
 * Returns the pull request of the settings, or else the pull request of the current branch, which it asks
 * the service for (docs/reference/cli.md, "Pull requests"). If there is none, throws a usage error with the
 * reasons. Throws the error of the request if the service cannot be asked.
 */
export async function findCurrentPullRequest(
  settings: Config,
  client: ServiceClient,
  { advice, give, whyOffline }: LookupOptions,
): Promise<CurrentPullRequest> {
  const { logger } = client
  const checkPushed = async (number: string, unpushed: number) => {
    if (unpushed === 0) return
    const problem = `Your branch has ${pluralize(unpushed, 'commit')} that ${unpushed === 1 ? 'is' : 'are'} not pushed. The pull request of the pushed commits is #${number}.`
    if (settings.changes) throw usageError(problem, `Push first, or ${give(number)}`)
    await logger.info(problem)
  }
  const known = await logger.withSpinner(
    () => 'looking up the pull request of the current commit',
    () => settings.read('pr'),
  )
  if (known !== undefined) {
    const found = await settings.find('pr')
    await checkPushed(known, found?.unpushed ?? 0)
    return { reference: known, guess: found?.guess }
  }
  const checkout = await settings.openCheckout()
  const lookup = (await checkout?.lookUp()) ?? { problem: 'the checkout is not read', unpushed: 0 }
  const { branch, commit = '', commitProblem, problem, unpushed } = lookup
  const missing = (branchProblem?: string) => missingPullRequestError(lookup, branchProblem, advice)
  if (problem !== undefined) throw missing()
  if (branch === undefined) throw missing('no branch is checked out')
  const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
  if (branch === targetBranch) throw missing(`the current branch, ${branch}, is the target branch`)
  if (whyOffline !== undefined) throw missing(whyOffline)
  if (commitProblem !== undefined)
    await logger.debug(`pull request by commit ${commit.slice(0, 7)}: ${commitProblem}`)
  const number = await readNumber(client, { repo, targetBranch, head: branch }).catch(error => {
    throw client.time?.left() === 0 ? notFoundInTime(failureOrThrow(error)) : error
  })
  if (number === undefined) throw missing(`the service has no pull request for branch ${branch}`)
  if (number === null) throw missing('the record of the service has no pull request number')
  await logger.debug(`pr: ${number} (branch ${branch})`)
  await checkPushed(String(number), unpushed)
  return { reference: String(number), guess: `branch ${branch}` }
}

/** A lookup that the time limit of the command ended has found out nothing about the service. */
const notFoundInTime = (failure: MergeqError): MergeqError =>
  isPassing(failure)
    ? new MergeqError('timed-out', `Timed out before the pull request was found. ${failure.message}`)
    : failure

/** Undefined if the service does not know a pull request of the head branch, null if its record has no number. */
async function readNumber(
  client: ServiceClient,
  params: Queue & { readonly head: string },
): Promise<number | undefined | null> {
  const record = await readIfFound(client, getSubmittedPullRequest, params)
  const number = record?.prNumber
  if (record === undefined) return undefined
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null
}

/**
 * Returns the usage error for a request without a pull request: what was tried, why it failed, and what to do.
 *
 * @param branchProblem why no pull request was found by the branch; without a full stop
 * @param advice how to give a pull request, as a sentence
 */
function missingPullRequestError(
  { problem, commit, commitProblem, branch, isCiJob }: CheckoutLookup,
  branchProblem: string | undefined,
  advice: string,
): MergeqError {
  const subject = branch === undefined ? commit && `commit ${commit.slice(0, 7)}` : `branch ${branch}`
  const reasons = [
    isCiJob ? 'the CI job has no pull request number' : undefined,
    problem,
    commitProblem,
    branchProblem,
  ].flatMap(reason => (reason === undefined ? [] : [`${toSentenceCase(reason)}.`]))
  return usageError(
    subject === undefined ? 'No pull request was given.' : `No pull request was found for ${subject}.`,
    [...reasons, `MERGEQ_PR is not set. ${advice}`].join('\n'),
  )
}

/** The names of programs keep their case. */
const toSentenceCase = (text: string): string =>
  text.startsWith('git ') ? text : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
