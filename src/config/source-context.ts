import { usageError } from '../base/errors.ts'
import type { ServiceHost } from '../host/host.ts'
import type { Repository } from '../values/repository.ts'
import type { SettingKey, SettingSource } from './setting-definitions.ts'

/** A commit with all its digits, or why it is not known, without a full stop. */
export type CommitLookup = { readonly commit: string } | { readonly problem: string }

/** What sources and rules know of a command. */
export interface SourceContext {
  readonly host: ServiceHost
  /** Whether the command changes data. */
  readonly changes: boolean
  /** Whether the command passes or fails by what it reads. */
  readonly checks: boolean
  notify(text: string): Promise<void>
  /** Returns how to give a setting a value: `-b main`, or `targetBranch: 'main'` in the library. */
  give(name: 'repo' | 'targetBranch', value: string): string
  nameOf(name: string): string
  /** Returns how to give a setting that no source has. */
  hintOf(name: SettingKey): string
  hasToken(): Promise<boolean>
  /** The profile, before any rule. */
  readonly profile: SettingSource
  repo(): Promise<Repository | undefined>
  /** Returns the repository that a source before the checkout gives. */
  namedRepo(): Promise<Repository | undefined>
}

/** Takes one of several values where sources disagree: a change may not, and a read says so. */
export async function choose<T>(
  { notify }: SourceContext,
  taken: T,
  given: Readonly<Record<'problem' | 'advice' | 'remark', string>> & { readonly isRefused: boolean },
): Promise<T> {
  if (given.isRefused) throw usageError(given.problem, given.advice)
  await notify(given.remark)
  return taken
}

export const namePullRequest = "Specify a pull request (123, '#123' or its URL), or set MERGEQ_PR."
