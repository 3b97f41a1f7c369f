import { get, getNumber, getString, type JsonObject } from '../../json.ts'
import type { ExplanationVerdict, SubmitAgain } from './explanation.ts'

const usualPriority = 100

/**
 * Judges another submit. One that is in the queue is harmless with the same priority and batching, and
 * rewrites them otherwise (service-observed.md section 2.1). `submit` is the command line that submits it.
 */
export function isSafeToSubmit(verdict: ExplanationVerdict, record: JsonObject, submit: string): SubmitAgain {
  if (verdict === 'never-submitted') return { safe: true, why: 'It was never submitted.' }
  if (verdict === 'merged') return { safe: false, why: 'It has merged: there is nothing left to submit.' }
  if (verdict === 'dropped') return { safe: true, why: 'It has left the queue.' }
  if (verdict === 'unknown') return { safe: null, why: 'Where it stands is not clear: read it again first.' }
  const priority = getNumber(record, 'priorityValue')
  const isUsual = priority === usualPriority || getString(record, 'usedDefaultPriorityName') !== undefined
  const isAlone = get(record, 'noBatch') === true
  if (isUsual && !isAlone)
    return { safe: true, why: 'It is in the queue already: submitting it again changes nothing.' }
  const keeping = [
    ...(isUsual || priority === undefined ? [] : [`--priority ${priority}`]),
    ...(isAlone ? ['--no-batch'] : []),
  ]
  if (keeping.length === 0)
    return { safe: null, why: 'It is in the queue already, with a priority that could not be read.' }
  return {
    safe: false,
    why: `It is in the queue already; a submit without ${keeping.join(' ')} may reset that: \`${submit} ${keeping.join(' ')}\`.`,
  }
}
