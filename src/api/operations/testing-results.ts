import { getNumber, getString } from '../../base/json.ts'
import { countRead } from '../../values/format.ts'
import { placeFieldsOf } from '../../values/pull-request.ts'
import { queueName } from '../../values/repository.ts'
import { toIso } from '../../values/time.ts'
import { keptDays, parseKeptRange } from '../../values/time-range.ts'
import { choice, integer, moment, type Type } from '../../values/types.ts'
import { listOperation, listParams, pageSizeType, rangeParams } from '../list-operation.ts'
import { defineOperation } from '../operation.ts'
import { param, pullRequestNumber, queueParams } from '../params.ts'
import { listDecoder, type Pages } from '../response.ts'
import {
  listedTestingResultListRecord,
  listedTestingResultRecord,
  testingResultListRecord,
  testingResultRecord,
} from './fields.ts'

const resultPages: Pages = {
  key: 'testingResults',
  noun: 'result',
  end: { total: 'totalItems' },
  idOf(record) {
    const [pr, run, endedAt] = [
      getNumber(record, 'prNumber'),
      getString(record, 'testRunId'),
      getString(record, 'endedAt'),
    ]
    // A record that lacks them is itself: without an id, pages that repeat could not be recognized.
    return JSON.stringify(pr === undefined || endedAt === undefined ? record : [pr, run, endedAt])
  },
}

/** The number of rows before a page: a number in the request, the text of a token between pages. */
const offset: Type<string> = {
  ...integer(0, Number.MAX_SAFE_INTEGER),
  declaration: 'string',
  parse: (text = '') => text,
  check: value => (value === '' ? '' : String(integer(0, Number.MAX_SAFE_INTEGER).check(Number(value)))),
}

/** Lists the results of finished test runs (docs/reference/service.md, "listMergeQueueTestingResults"). */
export const testingResultsPage = defineOperation({
  route: 'POST /listMergeQueueTestingResults',
  summary: 'Lists the results of the finished test runs of a queue.',
  isHostedOnly: true,
  params: {
    ...queueParams,
    ...rangeParams('test runs that ended'),
    pageToken: param(offset, 'Fetch only the page that begins after so many results', {
      location: 'body.offset',
      encode: token => (token === undefined || token === '' ? undefined : Number(token)),
    }),
    pageSize: param(pageSizeType, 'Results per page', { location: 'body.take' }),
  },
  response: testingResultRecord,
  document: testingResultListRecord,
  decoder: listDecoder(resultPages),
  errors: { subject: 'the test runs' },
  pages: resultPages,
})

const testOutcomes = ['passed', 'failed', 'interrupted', 'cancelled'] as const

const { repo, targetBranch } = testingResultsPage.params

/** The params of a range of finished test runs. */
export const testRunRange = {
  since: param(moment, `Start of the range: a duration, a date and time or a day; at most ${keptDays}d ago`, {
    location: 'body.since',
  }),
  until: param(moment, 'End of the range: a duration before now, a date and time, or a day', {
    defaultText: 'now',
    location: 'body.until',
  }),
}

/** Lists finished test runs, a result for each pull request and attempt, the newest first. */
export const listTestRuns = listOperation(testingResultsPage, {
  params: {
    repo,
    targetBranch,
    since: { ...testRunRange.since, defaultText: '24h' },
    until: testRunRange.until,
    // The service cannot select by these two: other results are dropped here.
    outcome: param(
      choice(testOutcomes, 'outcome'),
      'Only test runs with this outcome (filtered by mergeq, not by the service)',
    ),
    pr: param(
      pullRequestNumber,
      'Only test runs of this pull request (filtered by mergeq, not by the service)',
    ),
    ...listParams('results', 'body.take'),
  },
  response: listedTestingResultRecord,
  document: listedTestingResultListRecord,
  list({ repo, targetBranch, since, until, outcome, pr, ...values }, now, nameOf) {
    const range = parseKeptRange(since ?? '24h', until, now, nameOf)
    const conditions = [
      ...(outcome === undefined ? [] : [outcome]),
      ...(pr === undefined ? [] : [`of #${pr}`]),
    ].join(', ')
    const selection = conditions === '' ? '' : ` (${conditions})`
    return {
      ...values,
      operation: testingResultsPage,
      parts: [{ repo, targetBranch, since: range.start, until: range.end }],
      hiddenBy(record) {
        const found = getString(record, 'outcome')?.toLowerCase()
        if (outcome !== undefined && found !== outcome) return nameOf('outcome')
        return pr === undefined || getNumber(record, 'prNumber') === pr ? undefined : nameOf('pr')
      },
      complete(record) {
        const number = getNumber(record, 'prNumber')
        return number === undefined
          ? record
          : { ...record, ...placeFieldsOf({ repo, targetBranch, pr: number }) }
      },
      describesFilters: true,
      describe: ({ shown, isWhole }) =>
        `${countRead(shown, 'result', isWhole)} of test runs for ${queueName({ repo, targetBranch })}${selection} that ended from ${toIso(range.start)} to ${toIso(range.end)}.`,
      envelope: ({ complete, envelope }) => ({
        ...envelope,
        window: { start: toIso(range.start), end: toIso(range.end), complete },
      }),
    }
  },
})

export const testRunRequests = { listTestRuns: testingResultsPage }

export const testRunOperations = { listTestRuns }
