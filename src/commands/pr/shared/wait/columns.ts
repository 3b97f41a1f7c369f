import { getArray, getString } from '../../../../base/json.ts'
import { columns } from '../../../../output/view.ts'

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
