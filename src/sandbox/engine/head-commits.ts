import { repositoryName } from '../../domain/values/repository.ts'
import { findScript } from '../scenarios.ts'
import { createHex } from '../seed.ts'
import type { HeadCommit, Queue, TargetSet } from './queue.ts'

/**
 * Head commits, and the impacted targets that were uploaded for them
 * (docs/reference/service.md, "setImpactedTargets"). The sandbox reads no repository, so its rules about head
 * commits are its own: unless a scenario sets the head commit, an upload that names another commit makes that
 * commit the head, and a commit that was replaced never becomes the head again.
 */

/** Returns the head commit of a pull request; an invented commit until an upload or the scenario names it. */
export function getHeadCommit({ headCommits, scenario, seed, repo }: Queue, number: number): HeadCommit {
  const createSha = () =>
    findScript(scenario, number)?.head ?? createHex(40, 'sha', seed, repositoryName(repo), number)
  return headCommits.get(number) ?? { sha: createSha(), previousShas: [], targets: undefined }
}

/**
 * Stores the targets that a pull request impacts; the pull request may not be submitted yet. The last upload
 * for the head commit counts. An upload for an earlier head commit changes nothing, nor does an upload for
 * any other commit than the head commit that the scenario sets. An upload without `sha` is for the head
 * commit.
 */
export function recordTargets(
  queue: Queue,
  number: number,
  targets: TargetSet,
  sha: string | undefined,
): void {
  const head = getHeadCommit(queue, number)
  const isHead = sha === undefined || sha === head.sha
  const isScripted = findScript(queue.scenario, number)?.head === head.sha
  if (!isHead && (isScripted || head.previousShas.includes(sha))) return
  queue.headCommits.set(
    number,
    isHead ? { ...head, targets } : { sha, previousShas: [...head.previousShas, head.sha], targets },
  )
}

export function replaceHeadCommit(queue: Queue, number: number): void {
  const { sha, previousShas } = getHeadCommit(queue, number)
  const newSha = createHex(40, 'sha', queue.seed, repositoryName(queue.repo), number, previousShas.length + 1)
  queue.headCommits.set(number, { sha: newSha, previousShas: [...previousShas, sha], targets: undefined })
}

/** Whether the targets of a pull request are known or not needed: only parallel mode needs targets. */
export const hasRequiredTargets = ({ settings, headCommits }: Queue, number: number): boolean =>
  settings.mode === 'single' || headCommits.get(number)?.targets !== undefined
