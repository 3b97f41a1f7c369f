import { get, getString, isObject, type Json, type JsonObject } from '../base/json.ts'
import { isStacked } from '../domain/stacks.ts'
import { shorten } from '../values/format.ts'

export type Action =
  | ('submit' | 'wait' | 'restart-tests' | 'show-record' | 'show-timeline' | 'show-test-run')
  | ('upload-targets' | 'list-queues' | 'list-not-ready' | 'resume-queue')

/** A next step; without an action something that a person does elsewhere. */
export interface Step {
  readonly action?: Action
  /** On what condition it is to be done, for a person: `After a fix`. */
  readonly when?: string
  readonly why: string
}

export interface Finding {
  readonly code: string
  readonly message: string
  /** A few words for a line that has no room for the message: `queue paused`. Without text of the service. */
  readonly short?: string
  /** Whether the first lines of the prose say it already: the state, the position, the checks. */
  readonly isSaidAbove?: boolean
  readonly blocks?: boolean
  readonly steps?: readonly Step[]
}

const mergeabilityFindings: ReadonlyMap<string, Finding> = new Map([
  [
    'in_progress',
    {
      code: 'mergeability-in-progress',
      message: 'GitHub is still checking whether the pull request can be merged.',
      short: 'GitHub is still checking mergeability',
    },
  ],
  [
    'unspecified',
    {
      code: 'mergeability-unknown',
      message: 'GitHub has not yet reported whether the pull request can be merged.',
    },
  ],
  [
    'not_mergeable',
    {
      code: 'not-mergeable',
      message: 'GitHub blocks the merge (conflicts, checks or reviews).',
      short: 'GitHub blocks the merge',
      blocks: true,
      steps: [
        {
          why: 'Resolve the conflicts, failing checks or missing reviews on GitHub; the queue then continues.',
        },
      ],
    },
  ],
])

function targetsFinding(
  readiness: Json | undefined,
  queue: JsonObject,
  stacked: boolean,
): Finding | undefined {
  const isNeeded = isObject(readiness)
    ? readiness.requiresImpactedTargets === true
    : get(queue, 'mode') === 'parallel'
  const isUploaded = get(readiness, 'hasImpactedTargets')
  if (!isNeeded || isUploaded === true) return undefined
  const upload: Step = {
    action: 'upload-targets',
    why: 'Uploads the impacted targets of its head commit from a file with one target per line. Each push needs a new upload.',
  }
  const steps = [upload]
  if (isUploaded === false) {
    const message = stacked
      ? 'The queue is waiting for the impacted targets of a pull request of its stack.'
      : 'The queue is waiting for its impacted targets; none were uploaded for its head commit.'
    return { code: 'no-impacted-targets', message, short: 'waits for impacted targets', blocks: true, steps }
  }
  const whose = stacked ? 'the impacted targets of each pull request of its stack' : 'its impacted targets'
  const message = `The queue needs ${whose}; the service does not report whether they were uploaded.`
  return { code: 'needs-impacted-targets', message, short: 'may wait for impacted targets', steps }
}

/** Returns the conditions that a record's readiness does not meet (docs/reference/service.md, "Pull request states"). */
export function readinessFindings(
  record: JsonObject,
  queue: JsonObject,
  targetBranch: string,
): readonly Finding[] {
  const readiness = get(record, 'readiness')
  const findings: Finding[] = []
  const targets = targetsFinding(readiness, queue, isStacked(record, targetBranch))
  if (targets !== undefined) findings.push(targets)
  if (get(readiness, 'doesBaseBranchMatch') === false) {
    const base = getString(record, 'prBaseBranch')
    findings.push({
      code: 'base-branch',
      message: `Its base branch${base === undefined ? '' : ` (${shorten(base)})`} is not the target branch of this queue.`,
      short: 'wrong base branch',
      blocks: true,
      steps: [{ why: 'Change its base branch, or submit it to the queue for its base branch.' }],
    })
  }
  const mergeability = getString(readiness, 'gitHubMergeability')?.toLowerCase() ?? 'mergeable'
  if (mergeability !== 'mergeable')
    findings.push(
      mergeabilityFindings.get(mergeability) ?? {
        code: 'mergeability',
        message: `GitHub reports the mergeability '${shorten(mergeability)}'.`,
      },
    )
  return findings
}
