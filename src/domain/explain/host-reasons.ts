import { get, getArray, isObject, type Json } from '../../json.ts'
import { type Facts, type Finding, joinSome, manualStep, shorten } from './finding.ts'

const blockReasons: Readonly<Record<string, string>> = {
  behind_base: 'Its branch is behind its base branch.',
  merge_conflict: 'It has merge conflicts.',
  failing_required_check: 'A required check of its own fails.',
  awaiting_required_check: 'It waits for a required check of its own.',
  undetermined: 'Something stands against merging it that the service could not determine.',
}
const passing = ['awaiting_required_check', 'undetermined']

/**
 * Names in a value whose shape nobody documents: numbers are pull requests, texts and names stand for
 * themselves.
 */
export function namesIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'number') return [`#${value}`]
  if (typeof value === 'string') return value === '' ? [] : [shorten(value)]
  if (Array.isArray(value)) return value.slice(0, 50).flatMap(item => namesIn(item))
  const keys = ['prNumber', 'number', 'name', 'context', 'login', 'kind']
  return isObject(value) ? keys.flatMap(key => namesIn(value[key])).slice(0, 1) : []
}

/**
 * What the record, or the newest moment of its history, tells where it tells more (service-observed.md
 * section 2.3).
 */
export function hostFindings({ record, moment }: Facts): readonly Finding[] {
  const told = (key: string) => [get(record, key), get(moment, key)].find(found => namesIn(found).length > 0)
  const kinds = getArray({ blockReasons: told('blockReasons') ?? [] }, 'blockReasons').flatMap(namesIn)
  const sentence = (code: string, key: string, say: (names: string) => string): readonly Finding[] => {
    const names = namesIn(told(key))
    return names.length === 0 ? [] : [{ code, message: say(joinSome(names)) }]
  }
  return [
    ...[...new Set(kinds)].slice(0, 10).map(kind => ({
      code: 'block-reason',
      message: Object.hasOwn(blockReasons, kind) ? (blockReasons[kind] ?? kind) : `It is blocked: ${kind}.`,
      blocks: !passing.includes(kind),
      steps: passing.includes(kind) ? [] : [manualStep('Mend it on its branch, and push.')],
    })),
    ...sentence('conflict-culprit', 'conflictCulprit', names => `It conflicts with ${names}.`),
    ...sentence('failure-causes', 'failureCausingStatuses', names => `These made its tests fail: ${names}.`),
    ...sentence('waiting-for', 'waitingFor', names => `It waits for ${names}.`),
    ...sentence('service-says', 'reason', names => {
      const [by] = namesIn(told('actor'))
      return `The service says: ${names}${by === undefined ? '' : ` (${by})`}.`
    }),
  ]
}
