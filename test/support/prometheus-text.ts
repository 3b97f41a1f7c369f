import fc from 'fast-check'
import { readSamples, type Sample } from '../../src/domain/metrics/exposition.ts'
import { isMergeqError } from '../../src/errors.ts'

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

/** The cumulative buckets of a histogram with observations; the last has no upper bound. */
export const someBuckets = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom(60, 300, 600, 900, 1800, 3600), { minLength: 1 }),
    fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 6, maxLength: 6 }),
    fc.integer({ min: 1, max: 20 }),
  )
  .map(([bounds, counts, rest]) => {
    let count = 0
    const buckets = bounds
      .toSorted((one, other) => one - other)
      .map((bound, index) => {
        count += counts[index] ?? 0
        return { bound, count }
      })
    return [...buckets, { bound: Number.POSITIVE_INFINITY, count: count + rest }]
  })
