import { get, getArray, isObject, type Json } from '../../json.ts'
import { type Facts, type Finding, joinSome, manualStep, shorten } from './finding.ts'

const blockReasons: Readonly<Record<string, string>> = {
  behind_base: 'Its branch is behind its base branch.',
  merge_conflict: 'It has merge conflicts.',
  failing_required_check: 'A required check of the pull request is failing.',
  awaiting_required_check: 'A required check of the pull request has not finished.',
  undetermined: 'The merge is blocked; the service could not determine why.',
}

function shortReason(kind: string, targetBranch: string): string | undefined {
  switch (kind) {
    case 'behind_base':
      return `behind ${targetBranch}`
    case 'merge_conflict':
      return `conflicts with ${targetBranch}`
    case 'failing_required_check':
      return 'a required check fails'
    case 'awaiting_required_check':
      return 'waits for a required check'
    default:
      return undefined
  }
}

/** Known values of `reason` in words (docs/reference/service.md, "getSubmittedPullRequest"). */
const knownReasons: Readonly<Record<string, string>> = {
  a_commit_was_pushed: 'a commit was pushed',
  it_was_cancelled: 'the pull request was cancelled',
  it_was_not_ready_for_too_long: 'the pull request took too long to become ready',
  its_test_run_failed: 'the test run failed',
  its_test_run_took_too_long: 'the test run took too long',
  its_tests_failed: 'the tests failed',
  its_tests_took_too_long: 'the tests took too long',
  pr_closed: 'the pull request was closed',
}

const transientReasons = ['awaiting_required_check', 'undetermined']

/**
 * Returns the names in a value whose structure is not documented: `#7` for a number, a text shortened to 80
 * characters, the first name of an object, and the names of up to 50 items of an array.
 */
function extractNames(value: Json | undefined): readonly string[] {
  if (typeof value === 'number') return [`#${value}`]
  if (typeof value === 'string') return value === '' ? [] : [shorten(value)]
  if (Array.isArray(value)) return value.slice(0, 50).flatMap(item => extractNames(item))
  const keys = ['prNumber', 'number', 'name', 'context', 'login', 'kind']
  return isObject(value) ? keys.flatMap(key => extractNames(value[key])).slice(0, 1) : []
}

/**
 * Returns findings from the details that the record, or the newest event of its timeline, gives about the
 * code host (docs/reference/service.md, "getSubmittedPullRequest").
 */
export function hostFindings({ record, latest, targetBranch }: Facts): readonly Finding[] {
  const detail = (key: string) =>
    [get(record, key), get(latest, key)].find(value => extractNames(value).length > 0)
  const kinds = getArray({ blockReasons: detail('blockReasons') ?? [] }, 'blockReasons').flatMap(extractNames)
  const sentence = (code: string, key: string, format: (names: string) => string): readonly Finding[] => {
    const names = extractNames(detail(key))
    return names.length === 0 ? [] : [{ code, message: format(joinSome(names)) }]
  }
  return [
    ...[...new Set(kinds)].slice(0, 10).map(kind => {
      const short = shortReason(kind, targetBranch)
      return {
        code: 'block-reason',
        message: Object.hasOwn(blockReasons, kind) ? (blockReasons[kind] ?? kind) : `It is blocked: ${kind}.`,
        ...(short === undefined ? {} : { short }),
        blocks: !transientReasons.includes(kind),
        steps: transientReasons.includes(kind) ? [] : [manualStep('Fix this on its branch, then push.')],
      }
    }),
    ...sentence('conflict-culprit', 'conflictCulprit', names => `It conflicts with ${names}.`),
    ...sentence(
      'failure-causes',
      'failureCausingStatuses',
      names => `Checks that caused the failure: ${names}.`,
    ),
    ...sentence('waiting-for', 'waitingFor', names => `It is waiting for ${names}.`),
    ...sentence('service-says', 'reason', names => {
      const [actor] = extractNames(detail('actor'))
      const words = Object.hasOwn(knownReasons, names) ? knownReasons[names] : names
      return `The service says: ${words}${actor === undefined ? '' : ` (${actor})`}.`
    }),
  ]
}
