import { get, getString, isObject } from '../../json.ts'
import { type Facts, type Finding, manualStep, type NextStep, shorten } from './finding.ts'

const isCommit = (sha: string): boolean => /^[\da-f]{7,64}$/i.test(sha)

/** Returns the command that uploads the targets of the record's head commit. */
function uploadStep({ pr, record }: Facts): NextStep {
  const sha = getString(record, 'prSha') ?? ''
  return {
    command: `mergeq pr targets ${pr} --from targets.txt${isCommit(sha) ? ` --sha ${sha}` : ''}`,
    why: 'Uploads the targets that it impacts, one a line, for its head commit; each push needs a new upload.',
  }
}

const findingByMergeability: Readonly<Record<string, Finding | undefined>> = {
  mergeable: undefined,
  in_progress: {
    code: 'mergeability-in-progress',
    message: 'Whether it can be merged is still being found out.',
  },
  unspecified: {
    code: 'mergeability-unknown',
    message: 'Whether it can be merged is not known yet.',
  },
  not_mergeable: {
    code: 'not-mergeable',
    message:
      'Its host says that it cannot be merged: conflicts, checks of its own or reviews stand against it.',
    blocks: true,
    steps: [manualStep('Mend on its host what keeps it from being mergeable; the queue then takes it up.')],
  },
}

/**
 * Returns findings about the conditions that a record's readiness does not meet (service-observed.md section
 * 7).
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
        ? 'The queue waits for its impacted targets: none were uploaded for its head commit.'
        : 'The queue waits for its impacted targets, if none were uploaded for its head commit.',
      blocks: isKnown,
      steps: [uploadStep(facts)],
    })
  }
  if (get(readiness, 'doesBaseBranchMatch') === false) {
    const base = getString(record, 'prBaseBranch')
    findings.push({
      code: 'base-branch',
      message: `Its base branch${base === undefined ? '' : ` (${shorten(base)})`} is not the branch that this queue merges into.`,
      blocks: true,
      steps: [
        manualStep('Change its base branch, or submit it to the queue of the branch that it is based on.'),
      ],
    })
  }
  const mergeability = getString(readiness, 'gitHubMergeability')?.toLowerCase()
  if (mergeability !== undefined)
    findings.push(
      Object.hasOwn(findingByMergeability, mergeability)
        ? findingByMergeability[mergeability]
        : { code: 'mergeability', message: `Its mergeability is '${shorten(mergeability)}'.` },
    )
  if (!isObject(readiness) && get(queue, 'mode') === 'parallel')
    findings.push({
      code: 'needs-impacted-targets',
      message: 'The queue is parallel: it waits for impacted targets, if none were uploaded.',
      steps: [uploadStep(facts)],
    })
  return findings.flatMap(finding => (finding === undefined ? [] : [finding]))
}
