import { isMergeqError } from '../../src/base/errors.ts'
import { readSamples, type Sample } from '../../src/domain/metrics/exposition.ts'

export const parseSamples = (text: string): readonly Sample[] => [...readSamples(text)]

export const isRead = (text: string): boolean => {
  try {
    parseSamples(text)
    return true
  } catch (error) {
    if (isMergeqError(error) && error.kind === 'bad-answer') return false
    throw error
  }
}
