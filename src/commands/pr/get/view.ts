import type { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import type { ParamValues } from '../../../api/params.ts'
import { getNumber, getString, type JsonObject, stringifyJson } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { forPerson } from '../../../command/send.ts'
import { isOfSplit, nameBatch, testedIn } from '../../../domain/batches.ts'
import { queueEntries } from '../../../domain/queue-entries.ts'
import { explainEvent } from '../../../domain/reasons/reasons.ts'
import { isStacked } from '../../../domain/stacks.ts'
import {
  canResume,
  isFailedOrCancelled,
  stateOf,
  stateWords,
  terminalOutcome,
} from '../../../domain/states.ts'
import { testRunOfEvent } from '../../../domain/test-run.ts'
import { eventsOf, stateOfEvent } from '../../../domain/timeline.ts'
import { describeEstimate, readEstimate } from '../../../explain/estimate.ts'
import { orUnknownReason } from '../../../explain/findings.ts'
import { readinessFindings } from '../../../explain/readiness.ts'
import { anyPullRequestColumns, withAges, withLinks } from '../../../output/pull-request-columns.ts'
import { factLines, linkSpan, type StyledLine, stateSpan, styled } from '../../../output/styled-text.ts'
import { columns, type Result, withPlaceColumns } from '../../../output/view.ts'
import { describeSince, formatOrdinal, shorten } from '../../../values/format.ts'
import { type PullRequest, placeFieldsOf, urlOfPullRequest } from '../../../values/pull-request.ts'
import type { Queue } from '../../../values/repository.ts'

const maxTextLength = 200

function shortText(record: JsonObject, key: string): string | undefined {
  const text = getString(record, key)
  return text === undefined ? undefined : shorten(text, maxTextLength)
}

const priorityText = (record: JsonObject): string | undefined =>
  shortText(record, 'priorityName') ?? getNumber(record, 'priorityValue')?.toString()

/** Returns whether the pull request is submitted, where its state does not say so. */
function submittedText(record: JsonObject, state: string): string | undefined {
  const { isCurrentlySubmittedToQueue: isSubmitted } = record
  if (isSubmitted === false && terminalOutcome(state) === undefined) return 'no'
  return isSubmitted === true && isFailedOrCancelled(state) ? 'yes' : undefined
}

/** The columns of pull requests on a terminal, one of which is stacked. */
const drawnColumns = [...anyPullRequestColumns, ...columns(['stacked', { priority: 1 }])]

const timelineColumns = columns(
  'timestamp',
  'state',
  ['reason', { format: 'text' }],
  ['actor', { priority: 1 }],
  ['run', { priority: 2 }],
)

/** On a pipe, an event also has what a program decides by. */
const eventColumns = [
  ...columns('prNumber'),
  ...timelineColumns,
  ...columns('serviceReason', 'by', 'again', 'mayBeMerged'),
]

function eventRow(event: JsonObject) {
  const state = stateOfEvent(event)
  const { words, sentence } = explainEvent(state, event)
  return { timestamp: event.timestamp, state, reason: sentence, ...words, run: testRunOfEvent(event) }
}

/** Returns in words what an event means for which the service gives no reason. */
function unsaidReason(event: JsonObject): string | undefined {
  const state = stateOfEvent(event)
  if (state === 'PENDING_FAILURE') return 'Tests failed; the cause is not known yet.'
  if (state !== 'TESTING') return undefined
  const batch = testedIn(event)
  return batch.length > 1 ? `Its tests started, in batch ${nameBatch(batch)}.` : 'Its tests started.'
}

const shownIdLength = 8

/** Returns an event as a row for a person: its test run is short, and what the service gives no reason for has words. */
function drawnEvent(event: JsonObject): JsonObject {
  const { reason, run, ...row } = eventRow(event)
  const split = isOfSplit(event) ? 'Its batch failed and is being split.' : undefined
  return { ...row, reason: split ?? reason ?? unsaidReason(event), run: run?.slice(0, shownIdLength) }
}

/** Returns what the service expects: the name and the form of the field are not documented. */
function estimateText(record: JsonObject): string {
  const value = record[Object.keys(record).find(name => /^estimated/i.test(name)) ?? '']
  return value == null
    ? 'the service gave no estimate'
    : typeof value === 'string'
      ? value
      : stringifyJson(value)
}

/** With the grounds, or why that is not known; undefined if nothing is known, and for anyone but a person. */
async function describeTimeToMerge(
  pullRequest: PullRequest,
  queue: JsonObject,
  cli: Cli,
): Promise<string | undefined> {
  const state = stateOf(queue)
  if (canResume(state)) return `not known: the queue is ${stateWords(state)}`
  const now = cli.serviceTime.startedAt()
  const estimate = await forPerson(cli, () => readEstimate(pullRequest, queue, cli.client(), now))
  return estimate == null ? undefined : describeEstimate(estimate)
}

/** Returns the properties of a pull request; `queue` has its position, and `time` is when it may merge. */
function pullRequestSheet(
  record: JsonObject,
  { repo, targetBranch }: Queue,
  queue: JsonObject,
  time: string | undefined,
  { settings, serviceTime }: Cli,
): readonly StyledLine[] {
  const pr = getNumber(record, 'prNumber')
  const page = pr === undefined ? undefined : urlOfPullRequest(repo, pr)
  const entries = queueEntries(queue)
  const position = entries.find(entry => entry.pr === pr)?.position
  const now = serviceTime.startedAt()
  const state = stateOf(record)
  const [title, head] = [shortText(record, 'prTitle'), shortText(record, 'prSha')]
  const age = describeSince(shortText(record, 'stateChangedAt'), now, terminalOutcome(state) !== undefined)
  const problems =
    state === 'NOT_READY' ? orUnknownReason(readinessFindings(record, {}, targetBranch), { record, now }) : []
  return [
    [
      ...(pr === undefined ? [] : [linkSpan(`#${pr}`, page), '  ']),
      stateSpan(state === '' ? 'unknown state' : shorten(state)),
      styled(age, 'dim'),
      position === undefined ? '' : `, ${formatOrdinal(position)} of ${entries.length}`,
    ],
    ...(title === undefined ? [] : [[styled(`  ${title}`, 'bold')]]),
    ...factLines([
      ['priority', priorityText(record)],
      ['author', shortText(record, 'prAuthor')],
      ['base branch', shortText(record, 'prBaseBranch')],
      ['stack', isStacked(record, targetBranch) ? 'those below it are tested and merged with it' : undefined],
      ['head commit', head === undefined ? undefined : styled(head, 'dim')],
      ['submitted', submittedText(record, state)],
      ['batching', record.noBatch === true ? 'no: it is tested alone' : undefined],
      ...problems.map(({ message }) => ['not ready', message] as const),
      ['estimate', shortText(record, 'estimate')],
      ['time to merge', time],
      ['page', page && linkSpan(page, page)],
    ]),
    ...(pr === undefined || state === 'MERGED'
      ? []
      : [`  Why: ${settings.commandLine(['pr', 'explain', pr], { repo, targetBranch })}`]),
  ]
}

/**
 * Returns what a person sees of a pull request: a line, or a sheet with its properties and events. With its timeline the
 * rows are its events, where no other fields were asked for.
 *
 * @param record with the number of the pull request, if that is known
 */
export async function viewPullRequest(
  record: JsonObject,
  {
    repo,
    targetBranch,
    includeTimeline,
    includeEstimatedTimeToMerge,
  }: ParamValues<typeof getSubmittedPullRequest.params>,
  queue: JsonObject | undefined,
  showsSheet: boolean,
  cli: Cli,
): Promise<Partial<Pick<Result, 'columns' | 'rows' | 'screen'>>> {
  const number = getNumber(record, 'prNumber')
  const address = number === undefined ? undefined : placeFieldsOf({ repo, targetBranch, pr: number })
  const { prNumber } = record
  const events = eventsOf(record).map(event => ({ prNumber, ...eventRow(event), ...address }))
  const isWaiting = stateOf(record) !== 'NOT_READY' && terminalOutcome(stateOf(record)) === undefined
  const time =
    queue !== undefined && number !== undefined && showsSheet && isWaiting
      ? await describeTimeToMerge({ repo, targetBranch, pr: number }, queue, cli)
      : undefined
  const isTimeline = includeTimeline === true && cli.options.fields.length === 0
  return {
    ...(isTimeline && { columns: withPlaceColumns(eventColumns, cli.options.format), rows: events }),
    screen() {
      if (!showsSheet && !includeTimeline && !includeEstimatedTimeToMerge)
        return {
          columns: withLinks(drawnColumns, number => urlOfPullRequest(repo, number)),
          rows: [record],
        }
      const shown = includeEstimatedTimeToMerge ? { ...record, estimate: estimateText(record) } : record
      const heading = pullRequestSheet(shown, { repo, targetBranch }, queue ?? {}, time, cli)
      if (events.length === 0) return { heading }
      return { heading, columns: withAges(timelineColumns), rows: eventsOf(record).map(drawnEvent) }
    },
  }
}
