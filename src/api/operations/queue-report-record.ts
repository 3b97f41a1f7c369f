import { named, nested, nullable, ownRecord, queueNameFields } from './fields.ts'

const part = ownRecord({ count: 'number', of: 'number', share: 'number | null' })
const spent = ownRecord({ runs: 'number', minutes: 'number' })

/** The numbers of a range of finished test runs. */
export const reportedRange = ownRecord({
  start: 'string',
  end: 'string',
  complete: 'boolean',
  results: 'number',
  // Results without a pull request or a time, which nothing counts.
  unreadable: 'number',
  runs: 'number',
  withoutRunId: 'number',
  pullRequests: ownRecord({ merged: part, failed: part, cancelled: part, queued: part }),
  attempts: ownRecord({ results: 'number', merged: 'number', perMerged: 'number | null' }),
  outcomes: ownRecord({ passed: part, failed: part, interrupted: part, cancelled: part, other: part }),
  testingTime: ownRecord({
    // Those whose time is known.
    runs: 'number',
    p50Ms: 'number | null',
    p90Ms: 'number | null',
    maxMs: 'number | null',
  }),
  minutes: 'number',
  notMerged: ownRecord({ failed: spent, interrupted: spent, cancelled: spent }),
  bisections: ownRecord({ batchesSplit: 'number', runs: 'number' }),
})

export const queueReportRecord = named(
  'QueueReport',
  'The finished test runs of a range beside the range before.',
  {
    ...queueNameFields,
    range: reportedRange,
    before: nullable(nested(reportedRange)),
    notes: 'readonly string[]',
  },
)
