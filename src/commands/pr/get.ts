import { tryRead } from '../../api/extra-reads.ts'
import type { BodyOverride, ParamValues } from '../../api/operation.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { isStacked, readinessFindings } from '../../domain/explain/readiness.ts'
import { describeSince, formatOrdinal, shorten } from '../../domain/format.ts'
import { queueEntries } from '../../domain/queue-entries.ts'
import { explainEvent } from '../../domain/reasons.ts'
import {
  isFailedOrCancelled,
  outcomeOfRecord,
  outcomes,
  stateOf,
  terminalOutcome,
} from '../../domain/states.ts'
import { testRunOfEvent } from '../../domain/test-run.ts'
import { eventsOf, stateOfEvent } from '../../domain/timeline.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import type { Repository } from '../../domain/values/repository.ts'
import { waitOptions } from '../../domain/wait-options.ts'
import { usageError } from '../../errors.ts'
import { getNumber, getString, type JsonObject, stringifyJson } from '../../json.ts'
import { linkSpan, type StyledLine, stateSpan, styled } from '../../output/styled-text.ts'
import { columns, pullRequestColumns, type Result, withLinks } from '../../output/view.ts'
import type { Cli } from '../../run/cli.ts'
import { command } from '../../run/command.ts'
import { webInput } from '../../run/common-inputs.ts'
import { serviceRecord } from '../../run/fields.ts'
import { flag, type Input, option, paramInput } from '../../run/inputs.ts'
import { forEach, forPerson, isSheet, read, type Sent, send, show, webPage } from '../../run/send.ts'
import { paramsOf, pullRequests, setOf, type Target } from '../../run/values.ts'

/** A pull request by its number, or by its head branch. */
interface WantedPullRequest extends Omit<Target, 'pr'> {
  readonly pr: number | undefined
  readonly head: string | undefined
}

const headInput = paramInput('head', getSubmittedPullRequest.params.head)

/** The pull requests that were typed, the one of --head, or the current one. */
const wantedPullRequests: Input<readonly WantedPullRequest[]> = {
  ...pullRequests,
  definitions: [...pullRequests.definitions, ...headInput.definitions],
  async read(args, context) {
    const head = await headInput.read(args, context)
    if (head === undefined)
      return (await pullRequests.read(args, context)).map(target => ({ ...target, head }))
    if (args.has('pr'))
      throw usageError('--head and a pull request cannot be used together.', 'Use only one of them.')
    const repo = await context.settings.require('repo')
    const targetBranch = await context.settings.require('targetBranch')
    return [{ repo, targetBranch, pr: undefined, head }]
  },
}

const recordColumns = columns(
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['SUBMITTED', 'isCurrentlySubmittedToQueue'],
  ['PRIORITY', 'priorityName'],
  ['VALUE', 'priorityValue', 'number'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['TITLE', 'prTitle'],
)

/** The longest text of the service that is shown whole, in characters. */
const maxTextLength = 200

function shortText(record: JsonObject, key: string): string | undefined {
  const text = getString(record, key)
  return text === undefined ? undefined : shorten(text, maxTextLength)
}

/** Returns the priority with its number: `medium (100)`. */
function priorityText(record: JsonObject): string | undefined {
  const [name, value] = [shortText(record, 'priorityName'), getNumber(record, 'priorityValue')]
  if (name === undefined) return value === undefined ? undefined : String(value)
  return value === undefined ? name : `${name} (${value})`
}

/** Returns whether the pull request is submitted, where its state does not say so. */
function submittedText(record: JsonObject, state: string): string | undefined {
  const { isCurrentlySubmittedToQueue: isSubmitted } = record
  if (isSubmitted === false && terminalOutcome(state) === undefined) return 'no'
  return isSubmitted === true && isFailedOrCancelled(state) ? 'yes' : undefined
}

const timelineColumns = columns(
  ['WHEN', 'timestamp', 'time'],
  ['STATE', 'state', 'state'],
  ['REASON', 'reason', 'text'],
  ['ACTOR', 'actor', 'plain', { priority: 1 }],
  ['TEST RUN', 'run', 'id', { priority: 2 }],
)

/** On a pipe, an event also has what a program decides by. */
const eventColumns = [
  ...columns(['PR', 'prNumber', 'pr']),
  ...timelineColumns,
  ...columns(
    ['SERVICE REASON', 'serviceReason'],
    ['BY', 'by'],
    ['AGAIN', 'again'],
    ['MAY BE MERGED', 'mayBeMerged'],
  ),
]

/** Returns the events of a pull request as rows, newest first. */
const eventRows = (record: JsonObject): readonly JsonObject[] =>
  eventsOf(record).map(event => {
    const state = stateOfEvent(event)
    const { words, sentence } = explainEvent(state, event)
    return {
      prNumber: record.prNumber,
      timestamp: event.timestamp,
      state,
      reason: sentence,
      ...words,
      run: testRunOfEvent(event),
    }
  })

/** Returns what the service expects: the name and the form of the field are not documented. */
function estimateText(record: JsonObject): string {
  const value = record[Object.keys(record).find(name => /^estimated/i.test(name)) ?? '']
  return value == null ? '-' : typeof value === 'string' ? value : stringifyJson(value)
}

/**
 * Returns the record of a pull request as lines for a terminal: its state and title, then its properties as
 * far as the record has them. `page` is its URL, `place` its position in the queue, `now` is in milliseconds since
 * 1970.
 */
function pullRequestSheet(
  record: JsonObject,
  pr: number | undefined,
  {
    page,
    place,
    targetBranch,
    now,
  }: {
    readonly page: string | undefined
    readonly place: string
    readonly targetBranch: string
    readonly now: number
  },
): readonly StyledLine[] {
  const state = stateOf(record)
  const title = shortText(record, 'prTitle')
  const age = describeSince(shortText(record, 'stateChangedAt'), now, terminalOutcome(state) !== undefined)
  const problems = state === 'NOT_READY' ? readinessFindings(record, {}, targetBranch) : []
  const properties = [
    ['priority', priorityText(record)],
    ['author', shortText(record, 'prAuthor')],
    ['base branch', shortText(record, 'prBaseBranch')],
    ['stack', isStacked(record, targetBranch) ? 'those below it are tested and merged with it' : undefined],
    ['head commit', shortText(record, 'prSha')],
    ['submitted', submittedText(record, state)],
    ['batching', record.noBatch === true ? 'no: it is tested alone' : undefined],
    ...problems.map(({ message }) => ['not ready', message] as const),
    ['estimate', shortText(record, 'estimate')],
    ['page', page && linkSpan(page, page)],
  ] as const
  const width = Math.max(...properties.map(([name, value]) => (value === undefined ? 0 : name.length)))
  return [
    [
      ...(pr === undefined ? [] : [linkSpan(`#${pr}`, page), '  ']),
      stateSpan(state === '' ? 'unknown state' : shorten(state)),
      age,
      place,
    ],
    ...(title === undefined ? [] : [[styled(`  ${title}`, 'bold')]]),
    ...properties.flatMap(([name, value]) =>
      value === undefined ? [] : [[styled(`  ${name.padEnd(width)}  `, 'dim'), value]],
    ),
  ]
}

export const prGetCommand = command({
  name: 'pr get',
  alias: 'status',
  summary: 'Show the state of pull requests',
  operation: getSubmittedPullRequest,
  alsoSends: [getQueue],
  options: {
    wanted: wantedPullRequests,
    ...paramsOf(getSubmittedPullRequest, 'repo', 'targetBranch', 'pr', 'head'),
    grace: option(waitOptions.grace.type, waitOptions.grace.summary, { default: '0' }),
    exitStatus: flag('Exit 0 if merged, 3 if failed, 10 if cancelled, 8 if not finished yet'),
    web: webInput,
    set: setOf(getSubmittedPullRequest),
  },
  fields: serviceRecord(getSubmittedPullRequest, recordColumns),
  exits: outcomes,
  examples: [
    'mergeq pr get 123',
    'mergeq pr get --head fix-cart --json',
    'mergeq pr get 123 --timeline',
    'mergeq pr get 123 --grace 90s',
    'mergeq pr get 123 --exit-status  # exits with 8 if it is still queued',
  ],
  run: ({ wanted, grace, exitStatus, web, set, ...included }, cli) =>
    forEach(cli, getSubmittedPullRequest, wanted, async place => {
      const { repo, targetBranch } = place
      // The queue has the position of a single pull request.
      const queue =
        wanted.length === 1
          ? await forPerson(cli, () =>
              tryRead(cli.client(), getQueue, { repo, targetBranch }, { once: true }),
            )
          : undefined
      const values = { ...place, ...included }
      const sent =
        grace === 0 || cli.options.dryRun
          ? await send(cli, getSubmittedPullRequest, values, set)
          : await readWithGrace(cli, values, set, grace)
      if (sent === 'printed') return sent
      const [record = {}] = sent.response.records
      const page = pageOf({ prNumber: values.pr, ...record }, repo)
      return {
        ...showRecord(sent, values, queue?.record, isSheet(wanted, cli), cli),
        opens: web ? await webPage(cli, page) : undefined,
        exit: exitStatus ? outcomeOfRecord(record) : 'ok',
      }
    }),
})

async function readWithGrace(cli: Cli, values: GetValues, set: readonly BodyOverride[], grace: number) {
  const { repeatWhileUnknown } = await import('./grace.ts')
  return repeatWhileUnknown(
    () => read(cli, getSubmittedPullRequest, values, { overrides: set }),
    grace,
    cli.host,
  )
}

function pageOf(record: JsonObject, repo: Repository): string | undefined {
  const number = getNumber(record, 'prNumber')
  return number === undefined ? undefined : urlOfPullRequest(repo, number)
}

type GetValues = ParamValues<typeof getSubmittedPullRequest.params>

function showRecord(
  sent: Sent,
  values: GetValues,
  queue: JsonObject | undefined,
  showsSheet: boolean,
  cli: Cli,
): Result {
  const [record = {}] = sent.response.records
  const { repo, targetBranch, pr, includeTimeline, includeEstimatedTimeToMerge } = values
  const numbered = { prNumber: pr, ...record }
  const number = getNumber(numbered, 'prNumber')
  const page = pageOf(numbered, repo)
  const events = eventRows(numbered)
  const isTimeline = includeTimeline === true && cli.options.fields.length === 0
  return show(sent, {
    ...(isTimeline ? { columns: eventColumns, rows: events } : { columns: recordColumns, rows: [numbered] }),
    screen() {
      if (!showsSheet && !includeTimeline && !includeEstimatedTimeToMerge)
        return {
          columns: withLinks(pullRequestColumns, number => urlOfPullRequest(repo, number)),
          rows: [numbered],
        }
      const shown = includeEstimatedTimeToMerge ? { ...record, estimate: estimateText(record) } : record
      const entries = queueEntries(queue ?? {})
      const position = entries.find(entry => entry.pr === number)?.position
      const place = position === undefined ? '' : `, ${formatOrdinal(position)} of ${entries.length}`
      const why =
        number === undefined || stateOf(record) === 'MERGED'
          ? []
          : [`  Why: ${cli.settings.commandLine(['pr', 'explain', number], { repo, targetBranch })}`]
      const lines = pullRequestSheet(shown, number, { page, place, targetBranch, now: cli.startedAt })
      const heading = [...lines, ...why]
      return events.length === 0 ? { heading } : { heading, columns: timelineColumns, rows: events }
    },
  })
}
