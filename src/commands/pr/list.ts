import { listPullRequests } from '../../api/operations/pull-requests.ts'
import { defineCommand } from '../../cli/command.ts'
import { cutListSentence, limitInput } from '../../cli/common-inputs.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { pluralize } from '../../domain/format.ts'
import { describeWhen } from '../../domain/time-range.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { queueName } from '../../domain/values/repository.ts'
import { parseMoment } from '../../domain/values/time.ts'
import { type ColumnSpec, table, withLinks } from '../../output/view.ts'

const columns: readonly ColumnSpec[] = [
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['AUTHOR', 'prAuthor', 'plain', 1],
  ['PRIORITY', 'priorityName', 'plain', 2],
  ['TITLE', 'prTitle', 'text'],
]

export const prListCommand = defineCommand({
  command: 'pr list',
  summary: 'List pull requests of a queue, including finished ones',
  operation: listPullRequests,
  inputs: { limit: limitInput(listPullRequests.params.limit) },
  fields: serviceRecord(listPullRequests, columns),
  view: ({ records }, { repo }) => withLinks(table(records, columns), pr => urlOfPullRequest(repo, pr)),
  listEnding(
    { shown, complete, isBroken },
    { repo, targetBranch, states = [], since, author },
    { startedAt },
  ) {
    if (isBroken) return undefined
    const conditions = [
      ...states.map(state => state.toLowerCase().replaceAll('_', '-')),
      ...(since === undefined
        ? []
        : [`ended ${describeWhen({ start: parseMoment(since, startedAt), end: startedAt }, true)}`]),
      ...(author === undefined ? [] : [`by ${author}`]),
    ].join(', ')
    const queue = `${queueName({ repo, targetBranch })}${conditions === '' ? '' : ` (${conditions})`}`
    if (shown === 0) return { sentence: `No pull requests for ${queue}.` }
    const count = pluralize(shown, 'pull request')
    return { footer: [complete ? `${count} for ${queue}.` : cutListSentence(count)] }
  },
  examples: [
    'mergeq pr list --state merged --since 24h',
    'mergeq pr list --state not-ready --state pending --author ada',
    'mergeq pr list --limit 100',
  ],
})
