import { allRequired, field, flag, nested, nullable, number, type RecordType, text } from './fields.ts'

const anonymous = (fields: RecordType['fields']): RecordType => ({
  name: '',
  summary: '',
  fields: allRequired(fields),
})

const part = nested(anonymous({ count: number, of: number, share: field('number | null') }))
const spent = nested(anonymous({ runs: number, minutes: number }))
const numberOrNull = field('number | null')

/** The numbers of a range of finished test runs. */
const reportedRange = anonymous({
  start: text,
  end: text,
  complete: flag,
  results: number,
  unreadable: number,
  runs: number,
  withoutRunId: number,
  pullRequests: nested(anonymous({ merged: part, failed: part, cancelled: part, queued: part })),
  attempts: nested(anonymous({ results: number, merged: number, perMerged: numberOrNull })),
  outcomes: nested(
    anonymous({ passed: part, failed: part, interrupted: part, cancelled: part, other: part }),
  ),
  testingTime: nested(
    anonymous({ runs: number, p50Ms: numberOrNull, p90Ms: numberOrNull, maxMs: numberOrNull }),
  ),
  minutes: number,
  notMerged: nested(anonymous({ failed: spent, interrupted: spent, cancelled: spent })),
  bisections: nested(anonymous({ batchesSplit: number, runs: number })),
})

/** What `queue report` gives. */
export const queueReportRecord: RecordType = {
  name: 'QueueReport',
  summary: 'The finished test runs of a range beside the range before.',
  fields: allRequired({
    repo: text,
    targetBranch: text,
    range: nested(reportedRange),
    before: nullable(nested(reportedRange)),
    notes: field('readonly string[]'),
  }),
}
