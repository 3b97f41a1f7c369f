import { repositoryName } from '../../domain/values/repository.ts'
import { scriptOf } from '../scenarios.ts'
import { hex } from '../seed.ts'
import type { Head, Queue, Targets } from './queue.ts'

/**
 * Head commits, and the targets that were uploaded for them (service-observed.md section 2.4). A sandbox sees no
 * repository, so what it believes of head commits is its own: unless a scenario names one, the head is whatever
 * commit an upload named first, or last; a commit that was head once never is again.
 */

/** The head commit of a pull request, made up until something tells it. */
export function headOf({ heads, scenario, seed, repo }: Queue, number: number): Head {
  const sha = () => scriptOf(scenario, number)?.head ?? hex(40, 'sha', seed, repositoryName(repo), number)
  return heads.get(number) ?? { sha: sha(), past: [], targets: undefined }
}

/** Keeps what a pull request impacts, before or after its submit: the last upload for the head commit wins. */
export function uploadTargets(queue: Queue, number: number, targets: Targets, sha: string | undefined): void {
  const head = headOf(queue, number)
  const isHead = sha === undefined || sha === head.sha
  const isScripted = scriptOf(queue.scenario, number)?.head === head.sha
  if (!isHead && (isScripted || head.past.includes(sha))) return
  queue.heads.set(number, isHead ? { ...head, targets } : { sha, past: [...head.past, head.sha], targets })
}

/** Moves the head to a commit that nobody has named: what was uploaded before does not count any more. */
export function moveHead(queue: Queue, number: number): void {
  const { sha, past } = headOf(queue, number)
  const next = hex(40, 'sha', queue.seed, repositoryName(queue.repo), number, past.length + 1)
  queue.heads.set(number, { sha: next, past: [...past, sha], targets: undefined })
}

/** Whether the targets are known where the queue needs them. */
export const hasTargets = ({ settings, heads }: Queue, number: number): boolean =>
  settings.mode === 'single' || heads.get(number)?.targets !== undefined
