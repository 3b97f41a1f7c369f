import { get, getNumber, getString, type JsonObject } from '../../json.ts'
import type { ExplanationVerdict, SubmitAgain } from './explanation.ts'

const defaultPriority = 100

const mergedReason = 'It is already merged.'

/**
 * Returns whether another submit is safe. Submitting a queued pull request again resets its priority and
 * batching unless they are given again (docs/reference/service.md, "submitPullRequest"). `submit` is the
 * command line that submits it.
 */
export function assessResubmission(
  verdict: ExplanationVerdict,
  record: JsonObject,
  submit: string,
): SubmitAgain {
  if (verdict === 'never-submitted') return { safe: true, why: 'It was never submitted.' }
  if (verdict === 'merged') return { safe: false, why: mergedReason }
  if (verdict === 'dropped') return { safe: true, why: 'It is no longer in the queue.' }
  if (verdict === 'unknown') return { safe: null, why: 'Its current state is unknown. Check it again first.' }
  const priority = getNumber(record, 'priorityValue')
  const isDefault = priority === defaultPriority || getString(record, 'usedDefaultPriorityName') !== undefined
  const isUnbatched = get(record, 'noBatch') === true
  if (isDefault && !isUnbatched)
    return { safe: true, why: 'It is already in the queue; submitting it again changes nothing.' }
  const flags = [
    ...(isDefault || priority === undefined ? [] : [`--priority ${priority}`]),
    ...(isUnbatched ? ['--no-batch'] : []),
  ]
  if (flags.length === 0)
    return { safe: null, why: 'It is already in the queue, and its priority could not be read.' }
  return {
    safe: false,
    why: `It is already in the queue. Submitting it without ${flags.join(' ')} may reset its settings. To keep them, use \`${submit} ${flags.join(' ')}\`.`,
  }
}

export const isSubmitHarmless = ({ safe, why }: SubmitAgain): boolean => safe === true || why === mergedReason
