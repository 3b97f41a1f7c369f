// Stacks of pull requests (docs/reference/service.md, "Stacks").
import { get, getString, type JsonObject } from '../base/json.ts'
import { shorten } from '../values/format.ts'

/** Whether a pull request is based on another one of a stack that the queue tests as one. */
export const isStacked = (record: JsonObject | undefined, targetBranch: string): boolean =>
  get(record, 'readiness.doesBaseBranchMatch') === true &&
  ![undefined, '', targetBranch].includes(getString(record, 'prBaseBranch'))

/** Says that a pull request is stacked, or belongs into another queue; undefined if its base is the target branch. */
export function describeBase(
  pr: number,
  record: JsonObject | undefined,
  targetBranch: string,
): string | undefined {
  const base = getString(record, 'prBaseBranch') ?? ''
  if (base === '' || base === targetBranch) return undefined
  if (isStacked(record, targetBranch))
    return `#${pr} is stacked on ${shorten(base)}: the pull requests below it are tested and merged with it.`
  if (get(record, 'readiness.doesBaseBranchMatch') !== false) return undefined
  // A name with other characters must not get into a command line.
  const option = /^[\w./-]+$/.test(base) && !base.startsWith('-') ? `: -b ${base}` : ''
  return `The base of #${pr} is ${shorten(base)}${option}`
}
