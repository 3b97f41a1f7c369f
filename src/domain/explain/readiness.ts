import { get, getString, isObject } from '../../json.ts'
import { type Facts, type Finding, manualStep, type Step, shorten } from './finding.ts'

const isCommit = (sha: string): boolean => /^[\da-f]{7,64}$/i.test(sha)

function uploadStep({ pr, record }: Facts): Step {
  const sha = getString(record, 'prSha') ?? ''
  return {
    words: ['pr', 'targets', pr, '--from', 'targets.txt', ...(isCommit(sha) ? ['--sha', sha] : [])],
    why: 'Uploads the impacted targets of its head commit from a file with one target per line. Each push needs a new upload.',
  }
}

const findingByMergeability: Readonly<Record<string, Finding | undefined>> = {
  mergeable: undefined,
  in_progress: {
    code: 'mergeability-in-progress',
    message: 'GitHub is still checking whether the pull request can be merged.',
    short: 'GitHub is still checking mergeability',
  },
  unspecified: {
    code: 'mergeability-unknown',
    message: 'GitHub has not yet reported whether the pull request can be merged.',
  },
  not_mergeable: {
    code: 'not-mergeable',
    message: 'GitHub blocks the merge (conflicts, checks or reviews).',
    short: 'GitHub blocks the merge',
    blocks: true,
    steps: [
      manualStep(
        'Resolve the conflicts, failing checks or missing reviews on GitHub; the queue then continues.',
      ),
    ],
  },
}

/**
 * Returns findings about the conditions that a record's readiness does not meet
 * (docs/reference/service.md, "Pull request states").
 */
export function readinessFindings(facts: Facts): readonly Finding[] {
  const { record, queue } = facts
  const readiness = get(record, 'readiness')
  const findings: (Finding | undefined)[] = []
  if (get(readiness, 'requiresImpactedTargets') === true && get(readiness, 'hasImpactedTargets') !== true) {
    const isKnown = get(readiness, 'hasImpactedTargets') === false
    findings.push({
      code: isKnown ? 'no-impacted-targets' : 'needs-impacted-targets',
      message: isKnown
        ? 'The queue is waiting for its impacted targets; none were uploaded for its head commit.'
        : 'The queue needs its impacted targets; the service does not report whether they were uploaded.',
      ...(isKnown ? { short: 'waits for impacted targets' } : {}),
      blocks: isKnown,
      steps: [uploadStep(facts)],
    })
  }
  if (get(readiness, 'doesBaseBranchMatch') === false) {
    const base = getString(record, 'prBaseBranch')
    findings.push({
      code: 'base-branch',
      message: `Its base branch${base === undefined ? '' : ` (${shorten(base)})`} is not the target branch of this queue.`,
      short: 'wrong base branch',
      blocks: true,
      steps: [manualStep('Change its base branch, or submit it to the queue for its base branch.')],
    })
  }
  const mergeability = getString(readiness, 'gitHubMergeability')?.toLowerCase()
  if (mergeability !== undefined)
    findings.push(
      Object.hasOwn(findingByMergeability, mergeability)
        ? findingByMergeability[mergeability]
        : { code: 'mergeability', message: `GitHub reports the mergeability '${shorten(mergeability)}'.` },
    )
  if (!isObject(readiness) && get(queue, 'mode') === 'parallel')
    findings.push({
      code: 'needs-impacted-targets',
      message:
        'A parallel queue needs impacted targets; the service does not report whether they were uploaded.',
      steps: [uploadStep(facts)],
    })
  return findings.flatMap(finding => (finding === undefined ? [] : [finding]))
}
