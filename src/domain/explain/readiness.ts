import { at, isObject, textAt } from '../../json.ts'
import { brief, type Facts, type Finding, outside, type Step } from './finding.ts'

const isCommit = (sha: string): boolean => /^[\da-f]{7,64}$/i.test(sha)

/** The command that uploads the targets, for the head that the record names. */
function uploadTargets({ pr, record }: Facts): Step {
  const sha = textAt(record, 'prSha') ?? ''
  return {
    command: `mergeq pr targets ${pr} --from targets.txt${isCommit(sha) ? ` --sha ${sha}` : ''}`,
    why: 'Uploads the targets that it impacts, one a line, for its head commit; each push needs a new upload.',
  }
}

const mergeabilities: Readonly<Record<string, Finding | undefined>> = {
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
    steps: [outside('Mend on its host what keeps it from being mergeable; the queue then takes it up.')],
  },
}

/** What its readiness lacks (service-observed.md section 7). */
export function readinessFindings(facts: Facts): readonly Finding[] {
  const { record, queue } = facts
  const readiness = at(record, 'readiness')
  const findings: (Finding | undefined)[] = []
  if (at(readiness, 'requiresImpactedTargets') === true && at(readiness, 'hasImpactedTargets') !== true) {
    const isKnown = at(readiness, 'hasImpactedTargets') === false
    findings.push({
      code: isKnown ? 'no-impacted-targets' : 'needs-impacted-targets',
      message: isKnown
        ? 'The queue waits for its impacted targets: none were uploaded for its head commit.'
        : 'The queue waits for its impacted targets, if none were uploaded for its head commit.',
      blocks: isKnown,
      steps: [uploadTargets(facts)],
    })
  }
  if (at(readiness, 'doesBaseBranchMatch') === false) {
    const base = textAt(record, 'prBaseBranch')
    findings.push({
      code: 'base-branch',
      message: `Its base branch${base === undefined ? '' : ` (${brief(base)})`} is not the branch that this queue merges into.`,
      blocks: true,
      steps: [
        outside('Change its base branch, or submit it to the queue of the branch that it is based on.'),
      ],
    })
  }
  const mergeability = textAt(readiness, 'gitHubMergeability')?.toLowerCase()
  if (mergeability !== undefined)
    findings.push(
      Object.hasOwn(mergeabilities, mergeability)
        ? mergeabilities[mergeability]
        : { code: 'mergeability', message: `Its mergeability is '${brief(mergeability)}'.` },
    )
  if (!isObject(readiness) && at(queue, 'mode') === 'parallel')
    findings.push({
      code: 'needs-impacted-targets',
      message: 'The queue is parallel: it waits for impacted targets, if none were uploaded.',
      steps: [uploadTargets(facts)],
    })
  return findings.flatMap(finding => (finding === undefined ? [] : [finding]))
}
