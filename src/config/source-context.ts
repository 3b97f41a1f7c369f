import { usageError } from '../base/errors.ts'
import type { ServiceHost } from '../host/host.ts'
import type { PullRequest } from '../values/pull-request.ts'
import type { Repository } from '../values/repository.ts'
import type { CheckoutLookup } from './missing-pull-request.ts'
import type { ResolvedValue, SettingKey, SettingSource } from './setting-definitions.ts'

/** A commit with all its digits, or why it is not known, without a full stop. */
export type CommitLookup = { readonly commit: string } | { readonly problem: string }

/** What the git checkout says about commits. */
export interface Commits {
  /** Returns the commit of `HEAD`. */
  readHead(): Promise<CommitLookup>
  /** Returns the only commit that begins with some digits. */
  findCommit(digits: string): Promise<CommitLookup>
  /** Returns the head commit of a pull request, as the remote of its repository says it. */
  findHead(pullRequest: Pick<PullRequest, 'repo' | 'pr'>): Promise<CommitLookup>
}

/** The git checkout as a source. */
export interface Checkout extends SettingSource, Commits {
  /**
   * Returns the repositories of all remotes that name one; none in a checkout of the home directory, which is about
   * no project.
   */
  listRepositories(): Promise<readonly ResolvedValue[]>
  /** Returns why git cannot read the checkout, without a full stop; undefined if it can. */
  explainFailure(): Promise<string | undefined>
  /** Returns the name of the remote whose `HEAD` gives the target branch. */
  remoteName(): Promise<string | undefined>
  /** Returns what the checkout says about its pull request, after `find('pr')` found none. */
  lookUp(): Promise<CheckoutLookup>
}

/** A CI job as a source. */
export interface CiJob extends SettingSource {
  /** Returns the branch that the pull request of the job, or the group of a merge queue, is merged into. */
  findBase(): Promise<ResolvedValue | undefined>
}

/** What sources and rules know of a command, and of each other. */
export interface SourceContext {
  readonly host: ServiceHost
  /** Whether the command changes data. */
  readonly changes: boolean
  /** Whether the command passes or fails by what it reads. */
  readonly checks: boolean
  /** Reports a choice that was made for the user. */
  notify(text: string): Promise<void>
  /** Returns how to give a setting a value: `-b main`, or `targetBranch: 'main'` in the library. */
  give(name: 'repo' | 'targetBranch', value: string): string
  /** Returns the name of a setting as the caller writes it. */
  nameOf(name: string): string
  /** Returns how to give a setting that no source has. */
  hintOf(name: SettingKey): string
  hasToken(): Promise<boolean>
  /** The profile, before any rule. */
  readonly profile: SettingSource
  ciJob(): Promise<CiJob>
  checkout(): Promise<Checkout>
  /** Returns the repository that the command uses. */
  repo(): Promise<Repository | undefined>
  /** Returns the repository that a source before the checkout gives. */
  namedRepo(): Promise<Repository | undefined>
}

/** Where sources disagree: whether this ends the command, with a problem and advice, or is only remarked upon. */
interface Disagreement {
  readonly isRefused: boolean
  readonly problem: string
  readonly advice: string
  readonly remark: string
}

/** Takes one of several values: a change may not, and a read says so. */
export async function choose<T>(
  { notify }: SourceContext,
  taken: T,
  { isRefused, problem, advice, remark }: Disagreement,
): Promise<T> {
  if (isRefused) throw usageError(problem, advice)
  await notify(remark)
  return taken
}

export const namePullRequest = "Specify a pull request (123, '#123' or its URL), or set MERGEQ_PR."
