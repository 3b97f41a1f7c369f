import { type MergeqError, usageError } from '../base/errors.ts'

/** What a git checkout says about its pull request, if no pull request was found by its commit. */
export interface CheckoutLookup {
  /** Why the checkout names neither a commit nor a branch; without a full stop. */
  readonly problem?: string
  readonly commit?: string | undefined
  /** Why no pull request was found by the commit; without a full stop. */
  readonly commitProblem?: string | undefined
  readonly isCiJob?: boolean
  /** The current branch; undefined if HEAD is detached. */
  readonly branch?: string | undefined
  /** How many commits of the current branch are not pushed. */
  readonly unpushed: number
}

/**
 * Returns the usage error for a request without a pull request: what was tried, why it failed, and what to do.
 *
 * @param branchProblem why no pull request was found by the branch; without a full stop
 * @param advice how to give a pull request, as a sentence
 */
export function missingPullRequestError(
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
