import type { QueueExplanation } from '../../../explain/explain-queue.ts'
import { isOfQueue } from '../../../explain/findings.ts'
import { findingLines, nextLines, nextRows, unreadLines, unreadRows } from '../../../explain/lines.ts'
import { linkSpan, type StyledLine, stateSpan, styled } from '../../../output/styled-text.ts'
import type { Fact } from '../../../output/view.ts'
import { describeSince, joinTruncated, pluralize, shorten } from '../../../values/format.ts'
import { urlOfPullRequest } from '../../../values/pull-request.ts'
import { type Queue, shortRepositoryName } from '../../../values/repository.ts'

/** What the first line says of a queue that runs. */
const runningWords: Readonly<Partial<Record<QueueExplanation['verdict'], string>>> = {
  empty: 'nothing waits',
  waiting: 'nothing is ready',
  blocked: 'the first pull request is blocked',
  stalled: 'nothing has changed for an hour or more',
  moving: 'it moves',
}

const numbers = (pullRequests: readonly number[]): string => joinTruncated(pullRequests.map(pr => `#${pr}`))

const batchText = (pullRequests: readonly number[]): string =>
  pullRequests.length === 1 ? `${numbers(pullRequests)} alone` : numbers(pullRequests)

/** Returns an explanation of a queue as prose for a terminal; `now` is in milliseconds since 1970. */
export function queueExplanationLines(
  explanation: QueueExplanation,
  { repo, targetBranch }: Queue,
  now: number,
): readonly StyledLine[] {
  const { state, verdict, reasons, batches, notReadyPullRequests, notReady, next, unread } = explanation
  const words = runningWords[verdict]
  const others = (notReady ?? 0) - notReadyPullRequests.length
  return [
    [
      styled(`${shortRepositoryName(repo)} ${targetBranch}`, 'bold'),
      '  ',
      stateSpan(state === null ? 'unknown state' : shorten(state)),
      words === undefined ? '' : `: ${words}`,
    ],
    ...reasons.map(({ message }) => `  ${message}`),
    ...(batches.length === 0
      ? []
      : [`  Tested together: ${batches.map(({ pullRequests }) => batchText(pullRequests)).join('; ')}.`]),
    ...unreadLines(unread),
    ...headLines(explanation, now),
    ...(notReadyPullRequests.length === 0 ? [] : [[styled('Not ready', 'bold')]]),
    ...notReadyPullRequests.map(({ pr, since, reasons: [reason] }) => [
      '  ',
      linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)),
      describeSince(since === null ? undefined : shorten(since), now, false),
      `: ${reason?.message ?? 'the service does not say why.'}`,
    ]),
    ...(notReadyPullRequests.length > 0 && others > 0 ? [`  and ${others} more`] : []),
    ...nextLines(next),
  ]
}

/** Returns what is known of the pull request at the head, without what was said of the queue. */
function headLines({ head }: QueueExplanation, now: number): readonly StyledLine[] {
  if (head === null) return []
  const reasons = head.reasons.filter(finding => !isOfQueue(finding))
  return [
    [styled('Head', 'bold')],
    ...findingLines({ ...head, reasons }, now).map(line =>
      typeof line === 'string' ? `  ${line}` : ['  ', ...line],
    ),
  ]
}

export function queueExplanationRows(explanation: QueueExplanation): readonly Fact[] {
  const { verdict, state, mode, depth, head, testing, concurrency, batches } = explanation
  const rows: Fact[] = [['verdict', verdict]]
  if (state !== null) rows.push(['state', shorten(state)])
  if (mode !== null) rows.push(['mode', shorten(mode)])
  rows.push(['depth', depth])
  rows.push([
    'testing',
    concurrency === null ? testing : `${testing}, ${pluralize(concurrency, 'run')} at a time`,
  ])
  for (const { message } of explanation.reasons) rows.push(['reason', message])
  for (const { pullRequests } of batches) rows.push(['batch', batchText(pullRequests)])
  if (head !== null) {
    rows.push(['head', `#${head.pr} (${head.verdict})`])
    for (const { message } of head.reasons) rows.push(['head', message])
  }
  for (const { pr, reasons } of explanation.notReadyPullRequests)
    rows.push(['not ready', `#${pr}: ${reasons[0]?.message ?? 'the service does not say why.'}`])
  return [...rows, ...nextRows(explanation.next), ...unreadRows(explanation.unread)]
}
