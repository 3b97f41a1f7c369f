import { list, oneOf, optional, ownRecord, type RecordType } from '../../../../api/operations/fields.ts'
import { serviceWordFields } from '../../../../api/operations/records.ts'
import { getArray, getString } from '../../../../base/json.ts'
import { waitOutcomes } from '../../../../domain/states.ts'
import { columns } from '../../../../output/view.ts'

// What a wait prints.

/** Why the pull request left; the `reason` of a result is the sentence of the wait. */
const { reason: _, ...wordsOfResult } = serviceWordFields

/** The result of a wait; `more` are fields of waits that submit. */
export const waitResult = (more: RecordType['fields'] = {}): RecordType =>
  ownRecord({
    type: oneOf('result'),
    pr: 'number',
    repo: optional('string'),
    title: 'string | null',
    url: 'string',
    outcome: oneOf(...waitOutcomes),
    state: 'PullRequestState | null',
    reason: 'string',
    failingChecks: optional(list(ownRecord({ name: 'string', url: 'string | null', conclusion: 'string' }))),
    ...Object.fromEntries(Object.entries(wordsOfResult).map(([name, word]) => [name, optional(word)])),
    stacked: optional('boolean'),
    ...more,
    elapsedSeconds: 'number',
    exit: 'number',
  })

/** What a result of a wait that submits has besides. */
export const submittedField = {
  submitted: optional('boolean | null'),
  wasQueued: optional('boolean'),
}

export const waitColumns = columns('pr', 'outcome', 'state', 'elapsedSeconds')

/** The columns of a result in Markdown, which is the summary of a CI job. */
export const markdownColumns = columns('pr', 'outcome', 'reason', 'url', [
  'failingChecks',
  {
    show: row =>
      getArray(row, 'failingChecks')
        .map(check => [getString(check, 'name'), getString(check, 'url')].join(' ').trim())
        .join(', '),
  },
])
