import { listedPullRequestRecord, shownPullRequestRecord } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getPartialPullRequest, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getSubmittedPullRequests } from '../../api/operations/several-pull-requests.ts'
import { getNumber } from '../../base/json.ts'
import { type Cli, command, drawsResults } from '../../command/command.ts'
import { flag, type Input, option, paramInput } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { pullRequests } from '../../command/pull-request-inputs.ts'
import { forEach, isSheet, readForPerson, send, webPage } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { queueOfSettings, webOption } from '../../command/shared-inputs.ts'
import { isStacked } from '../../domain/stacks.ts'
import { outcomeOfRecord, outcomes } from '../../domain/states.ts'
import { columns, placeColumns, type Result, singleRecord, withPlaceColumns } from '../../output/view.ts'
import { type PullRequest, placeFieldsOf } from '../../values/pull-request.ts'
import { waitOptions } from '../../wait/options.ts'

interface WantedPullRequest extends Omit<PullRequest, 'pr'> {
  readonly pr: number | undefined
  readonly head: string | undefined
}

const headInput = paramInput('head', getSubmittedPullRequest.params.head)

const wantedPullRequests: Input<readonly WantedPullRequest[]> = {
  ...pullRequests,
  definitions: [...pullRequests.definitions, ...headInput.definitions],
  async read(args, context) {
    const head = await headInput.read(args, context)
    if (head === undefined) return (await pullRequests.read(args, context)).map(each => ({ ...each, head }))
    return [{ ...(await queueOfSettings(context.settings)), pr: undefined, head }]
  },
}

const recordColumns = columns(
  'prNumber',
  'state',
  'isCurrentlySubmittedToQueue',
  'priorityName',
  'priorityValue',
  'stateChangedAt',
  'prTitle',
  'stacked',
)

export const definition = command({
  name: 'pr get',
  summary: 'Show the state of pull requests',
  operation: getSubmittedPullRequest,
  alsoSends: [getSubmittedPullRequests, getQueue, getMergeQueueMetrics],
  options: {
    wanted: wantedPullRequests,
    ...paramsOf(getSubmittedPullRequest, 'repo', 'targetBranch', 'pr', 'head'),
    grace: option(waitOptions.grace.type, waitOptions.grace.summary, { default: '0' }),
    exitStatus: flag('Exit 0 if merged, 3 if failed, 10 if cancelled, 8 if not finished yet'),
    web: webOption,
  },
  set: setOf(getSubmittedPullRequest),
  prints: {
    documents: [shownPullRequestRecord, listedPullRequestRecord],
    records: [listedPullRequestRecord],
    columns: [...recordColumns, ...placeColumns],
    isOpen: true,
  },
  exits: outcomes,
  examples: [
    'mergeq pr get 123',
    'mergeq pr get --head fix-cart --json',
    'mergeq pr get 123 --timeline',
    'mergeq pr get 123 --grace 90s',
    'mergeq pr get 123 --exit-status  # exits with 8 if it is still queued',
  ],
  async run({ wanted, grace, exitStatus, web, ...included }, cli) {
    const { includeTimeline, includeEstimatedTimeToMerge } = included
    const isTogether =
      wanted.length > 1 &&
      !includeEstimatedTimeToMerge &&
      cli.client().added === undefined &&
      !cli.options.dryRun
    const readOfSeveral = isTogether
      ? (await import('./get/several.ts')).readerOfSeveral(cli, wanted, includeTimeline, grace)
      : undefined
    const { format, fields } = cli.options
    const isOnlyPrinted = format.name === 'json' && fields.length === 0 && !exitStatus
    const operation = isOnlyPrinted ? getPartialPullRequest : getSubmittedPullRequest
    const poll = grace === 0 ? undefined : await import('../../wait/poll.ts')
    return forEach(
      cli,
      getSubmittedPullRequest,
      wanted,
      async item => {
        const { repo, targetBranch } = item
        // The queue has the position of a single pull request.
        const queue =
          wanted.length === 1 && !web ? await readForPerson(cli, getQueue, { repo, targetBranch }) : undefined
        const values = { ...item, ...included }
        const read = () => send(cli, operation, values)
        const known = await readOfSeveral?.(item)
        const readAlone = () => poll?.repeatWhileUnknown(read, grace, cli.host) ?? read()
        const sent = known === undefined ? await readAlone() : undefined
        if (sent === 'printed') return sent
        const found = known ?? sent?.response.records[0] ?? {}
        const shown = isStacked(found, targetBranch) ? { ...found, stacked: true } : found
        const record = { prNumber: values.pr, ...shown }
        const number = getNumber(record, 'prNumber')
        const place = number === undefined ? undefined : placeFieldsOf({ repo, targetBranch, pr: number })
        // A script that reads JSON does not load what draws.
        const draws = drawsResults(cli) || includeTimeline === true
        const view = draws ? await import('./get/view.ts') : undefined
        return {
          ...singleRecord(wanted.length > 1 ? { ...shown, ...place } : shown),
          columns: withPlaceColumns(recordColumns, cli.options.format),
          rows: [{ ...record, ...place }],
          ...(await view?.viewPullRequest(record, values, queue, isSheet(wanted, cli), cli)),
          opens: web ? await webPage(cli, place?.url) : undefined,
          exit: exitStatus ? outcomeOfRecord(record) : 'ok',
        }
      },
      wanted.length > 1 ? { unknown: place => unknownResult(place, cli) } : {},
    )
  },
})

/** What is printed of an unknown pull request, one of several, where a script reads it. */
function unknownResult({ repo, targetBranch, pr }: WantedPullRequest, cli: Cli): Result | undefined {
  if (pr === undefined || drawsResults(cli)) return undefined
  const record = { pr, ...placeFieldsOf({ repo, targetBranch, pr }), state: null }
  return {
    ...singleRecord(record),
    columns: withPlaceColumns(recordColumns, cli.options.format),
    rows: [{ ...record, prNumber: pr }],
  }
}
