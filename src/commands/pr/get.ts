import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { defineCommand } from '../../cli/command.ts'
import { webInput } from '../../cli/common-inputs.ts'
import { serviceRecord } from '../../cli/fields.ts'
import { flag, type Input } from '../../cli/inputs.ts'
import { pullRequestArguments, pullRequestNumber } from '../../cli/pull-request-arguments.ts'
import { outcomeOfRecord, outcomes } from '../../domain/states.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { usageError } from '../../errors.ts'
import { getNumber } from '../../json.ts'
import { type ColumnSpec, linesView, table, withLinks } from '../../output/view.ts'
import { pullRequestColumns } from './sheet/pull-request-columns.ts'
import { pullRequestSheet } from './sheet/pull-request-sheet.ts'

/** The pull requests, or none when --head names the head branch instead. */
const pullRequestOrHead: Input<number | undefined> = {
  ...pullRequestArguments,
  async split(args, context) {
    if (!args.has('--head')) return (await pullRequestArguments.split?.(args, context)) ?? []
    if (args.has('pr'))
      throw usageError('--head and a pull request cannot be used together.', 'Use only one of them.')
    return [args]
  },
  read: args => (args.has('--head') ? undefined : pullRequestNumber(args)),
}

const columns: readonly ColumnSpec[] = [
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['SUBMITTED', 'isCurrentlySubmittedToQueue'],
  ['PRIORITY', 'priorityName'],
  ['VALUE', 'priorityValue', 'number'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['TITLE', 'prTitle'],
]

/** `mergeq pr get`: the record of each pull request. */
export const prGetCommand = defineCommand({
  command: 'pr get',
  alias: 'status',
  summary: 'Show the state and priority of submitted pull requests',
  operation: getSubmittedPullRequest,
  inputs: { pr: pullRequestOrHead },
  options: {
    exitStatus: flag({
      name: 'exit-status',
      summary: 'Exit 0 if merged, 3 if failed, 10 if cancelled, 8 if not finished yet',
    }),
    web: webInput,
  },
  fields: serviceRecord(getSubmittedPullRequest, [
    ...columns,
    ['FOR', 'stateChangedAt', 'age'],
    ['AUTHOR', 'prAuthor'],
  ]),
  view({ records: [record = {}] }, { repo, pr, exitStatus }) {
    const numbered = { prNumber: pr, ...record }
    const number = getNumber(numbered, 'prNumber')
    const page = number === undefined ? undefined : urlOfPullRequest(repo, number)
    return {
      ...table([numbered], columns),
      ...(page === undefined ? {} : { page }),
      ...(exitStatus ? { exit: outcomeOfRecord(record) } : {}),
      terminalView: () => ({
        ...withLinks(table([numbered], pullRequestColumns), number => urlOfPullRequest(repo, number)),
        singleView: now => linesView(pullRequestSheet(record, number, page, now)),
      }),
    }
  },
  examples: [
    'mergeq pr get 123',
    'mergeq pr get --head fix-cart --json',
    'mergeq pr get 123 --exit-status  # exits with 8 if the pull request is still queued',
  ],
  exitKinds: outcomes,
})
