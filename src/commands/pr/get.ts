import { listedPullRequestRecord, shownPullRequestRecord } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getPartialPullRequest, getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getSubmittedPullRequests } from '../../api/operations/several-pull-requests.ts'
import type { ParamValues } from '../../api/params.ts'
import { getNumber, type JsonObject } from '../../base/json.ts'
import { type Cli, command, drawsResults } from '../../command/command.ts'
import type { Printed } from '../../command/dry-run.ts'
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

type RecordValues = ParamValues<typeof getSubmittedPullRequest.params>

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
    const isOne = wanted.length === 1
    const operation = printsWhatComes(cli, exitStatus) ? getPartialPullRequest : getSubmittedPullRequest
    const readRecord = await recordReader(cli, operation, wanted, included, grace)
    return forEach(
      cli,
      getSubmittedPullRequest,
      wanted,
      async item => {
        const { repo, targetBranch } = item
        const [queue, record] = await Promise.all([
          // The queue has the position of a single pull request.
          isOne && !web ? readForPerson(cli, getQueue, { repo, targetBranch }) : undefined,
          readRecord(item),
        ])
        if (record === 'printed') return record
        const place = placeOf(record, item)
        return {
          ...(await resultOf(record, { ...item, ...included }, place, queue, wanted, cli)),
          opens: web ? await webPage(cli, place?.url) : undefined,
          exit: exitStatus ? outcomeOfRecord(record) : 'ok',
        }
      },
      isOne ? {} : { unknown: place => unknownResult(place, cli) },
    )
  },
})

/** Whether records are printed as they come, also without a state: tables, fields and exit codes need one. */
const printsWhatComes = ({ options: { format, fields } }: Cli, exitStatus: boolean | undefined): boolean =>
  format.name === 'json' && fields.length === 0 && !exitStatus

/** Returns the function that reads the record of a pull request: together with the others where that is possible, or alone. */
async function recordReader(
  cli: Cli,
  operation: typeof getSubmittedPullRequest,
  wanted: readonly WantedPullRequest[],
  included: Pick<RecordValues, 'includeTimeline' | 'includeEstimatedTimeToMerge'>,
  grace: number,
) {
  // The request for many has no estimate, and none of the fields that a user adds to the request for one.
  const isTogether =
    wanted.length > 1 &&
    !included.includeEstimatedTimeToMerge &&
    cli.client().added === undefined &&
    !cli.options.dryRun
  const readTogether = isTogether
    ? (await import('./get/several.ts')).readerOfSeveral(cli, wanted, included.includeTimeline, grace)
    : undefined
  return async (item: WantedPullRequest): Promise<JsonObject | Printed> =>
    (await readTogether?.(item)) ?? readAlone(cli, operation, { ...item, ...included }, grace)
}

/** Reads a record; for `grace` milliseconds again and again, while the service does not know its pull request. */
async function readAlone(
  cli: Cli,
  operation: typeof getSubmittedPullRequest,
  values: RecordValues,
  grace: number,
): Promise<JsonObject | Printed> {
  const read = async () => {
    const sent = await send(cli, operation, values)
    return sent === 'printed' ? sent : (sent.response.records[0] ?? {})
  }
  if (grace === 0) return read()
  const { repeatWhileUnknown } = await import('./get/repeat-while-unknown.ts')
  return repeatWhileUnknown(read, grace, cli.host)
}

/** Returns where a pull request is; undefined if neither its record nor the command line has its number. */
function placeOf(record: JsonObject, { repo, targetBranch, pr }: WantedPullRequest) {
  const number = getNumber({ prNumber: pr, ...record }, 'prNumber')
  return number === undefined ? undefined : placeFieldsOf({ repo, targetBranch, pr: number })
}

/** What is printed of a pull request, for a program and for a person. */
async function resultOf(
  found: JsonObject,
  values: RecordValues,
  place: ReturnType<typeof placeOf>,
  queue: JsonObject | undefined,
  wanted: readonly WantedPullRequest[],
  cli: Cli,
): Promise<Result> {
  const shown = isStacked(found, values.targetBranch) ? { ...found, stacked: true } : found
  const record = { prNumber: values.pr, ...shown }
  // A script that reads JSON does not load what draws.
  const draws = drawsResults(cli) || values.includeTimeline === true
  const view = draws ? await import('./get/view.ts') : undefined
  return {
    ...singleRecord(wanted.length > 1 ? { ...shown, ...place } : shown),
    columns: withPlaceColumns(recordColumns, cli.options.format),
    rows: [{ ...record, ...place }],
    ...(await view?.viewPullRequest(record, values, queue, isSheet(wanted, cli), cli)),
  }
}

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
