import { explain, explanationJson } from '../../../api/explain.ts'
import { getPartialPullRequest } from '../../../api/operations/pull-requests.ts'
import { nextCommands } from '../../../config/next-commands.ts'
import type { Explanation, NextStep } from '../../../domain/explain/explain-pull-request.ts'
import { describeSince, formatOrdinal, joinTruncated, shorten } from '../../../domain/format.ts'
import { againText, causerText } from '../../../domain/reasons.ts'
import { canResume, isFailedOrCancelled } from '../../../domain/states.ts'
import { failedCheckText } from '../../../domain/test-run.ts'
import type { PullRequest } from '../../../domain/values/pull-request.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import type { Json, JsonObject } from '../../../json.ts'
import { linkSpan, type Span, type StyledLine, stateSpan, styled } from '../../../output/styled-text.ts'
import { keyValueTable, singleRecord } from '../../../output/view.ts'
import { type Cli, drawsResults } from '../../../run/command.ts'
import { printRequests } from '../../../run/dry-run.ts'
import { each } from '../../../run/each.ts'
import { openPage } from '../../../run/open-page.ts'
import { readRecord } from '../reads.ts'
import { describeTimeToMerge } from '../time-to-merge.ts'

/** Explains pull requests, or opens their pages with --web. Returns the most severe exit code. */
export async function explainAll(
  pullRequests: readonly PullRequest[],
  web: boolean,
  cli: Cli,
): Promise<number> {
  if (cli.options.dryRun) return printRequests(cli, getPartialPullRequest, pullRequests)
  const isOnly = pullRequests.length === 1
  let isFirst = true
  const steps: NextStep[] = []
  const print = async (pullRequest: PullRequest, explanation: Explanation): Promise<void> => {
    const url = urlOfPullRequest(pullRequest.repo, pullRequest.pr)
    const queueState = explanation.queue?.state ?? ''
    // That the queue is paused is said already.
    const isRunning = !canResume(queueState)
    const time =
      isOnly && isRunning && isQueued(explanation)
        ? await describeTimeToMerge(pullRequest, queueState, cli)
        : undefined
    const lines = isOnly
      ? explanationProse(explanation, url, cli.startedAt, time)
      : [...findingLines(explanation, url, cli.startedAt), ...resubmissionLines(explanation)]
    const heading = isFirst ? lines : ['', ...lines]
    isFirst = false
    steps.push(...explanation.next)
    await cli.printer.add({
      ...singleRecord(explanationJson(explanation)),
      ...keyValueTable({}, []),
      rows: [...(isOnly ? [] : [{ field: 'pr', value: explanation.pr }]), ...explanationRows(explanation)],
      screen: () => ({ heading }),
    })
  }
  const { report } = await each(
    cli,
    getPartialPullRequest,
    pullRequests,
    pullRequest =>
      web
        ? openPullRequest(pullRequest, cli)
        : explain(pullRequest, cli.client(), nextCommands(cli.settings, pullRequest)),
    {
      atOnce: web ? 1 : undefined,
      resource: pullRequest => pullRequest,
      async print({ item, result }) {
        if (result !== undefined) await print(item, result)
        return undefined
      },
    },
  )
  if (!isOnly && steps.length > 0 && drawsResults(cli)) {
    const heading = ['', ...nextLines(joinSteps(steps))]
    await cli.printer.add({ records: [], columns: [], screen: () => ({ heading }) })
  }
  await cli.printer.end()
  return report()
}

/** Opens the page of a pull request, after a read that shows that the service accepts the request. */
async function openPullRequest(pullRequest: PullRequest, cli: Cli): Promise<undefined> {
  await readRecord(pullRequest, cli, {}, getPartialPullRequest)
  await openPage(urlOfPullRequest(pullRequest.repo, pullRequest.pr), cli)
}

/** Whether the pull request may still merge, and nothing that a person must change is in its way. */
const isQueued = ({ verdict }: Explanation): boolean => ['waiting', 'testing', 'held'].includes(verdict)

/** Returns an explanation as the rows of a table: a field and its value for each fact. */
export function explanationRows(explanation: Explanation): readonly JsonObject[] {
  const { verdict, state, since, queue, testRun, reasons, next, submitAgain, unread } = explanation
  const rows: (readonly [string, Json])[] = [['verdict', verdict]]
  if (state !== null) rows.push(['state', shorten(state)])
  if (since !== null) rows.push(['since', shorten(since)])
  rows.push(...serviceRows(explanation))
  if (queue?.position != null) rows.push(['position', `${queue.position} of ${queue.length}`])
  for (const message of new Set(reasons.map(reason => reason.message))) rows.push(['reason', message])
  if (testRun !== null) {
    const status = testRun.status === null ? '' : ` (${shorten(testRun.status)})`
    rows.push(['test run', `${testRun.id}${status}`])
  }
  for (const { command, why } of next) rows.push(['next', command === null ? why : `${command}  (${why})`])
  const { safe, needsChange } = submitAgain
  const isOver = verdict === 'dropped' && explanation.again !== null
  const safety = isOver
    ? againText(explanation.again)
    : safe === null
      ? 'unclear'
      : !safe
        ? 'not safe'
        : needsChange
          ? 'after a change'
          : 'safe'
  rows.push(['submit again', `${safety}: ${submitAgain.why}`])
  for (const { what, why } of unread) rows.push(['unavailable', `${what}: ${why}`])
  return rows.map(([field, value]) => ({ field, value }))
}

/** Returns what the service says of why the pull request is in its state; nothing if it says nothing. */
function serviceRows(explanation: Explanation): readonly (readonly [string, Json])[] {
  const { serviceReason, by, actor, again, mayBeMerged } = explanation
  if (serviceReason === null) return []
  return [
    ['service reason', shorten(serviceReason)],
    ...(by === null ? [] : [['by', by] as const]),
    ...(actor === null ? [] : [['actor', shorten(actor)] as const]),
    ...(again === null ? [] : [['again', again] as const]),
    ...(mayBeMerged ? [['may be merged', 'yes'] as const] : []),
  ]
}

/** What the first lines of the prose say already: the state itself, the position in the queue, the checks. */
const saidAbove = [
  ...['not-found', 'not-ready', 'pending', 'testing', 'merged', 'failed', 'cancelled'],
  ...['position', 'failing-checks', 'may-appear'],
]

/** The reasons of the service that only repeat the state. */
const repeated = ['Its tests passed.', 'It was cancelled.', 'The queue merged it.']

/**
 * Returns an explanation as prose for a terminal: what happened, why, and what to do next. `url` is the page
 * of the pull request, `now` is in milliseconds since 1970. `time` says how long it may take, without a full stop.
 */
export const explanationProse = (
  explanation: Explanation,
  url: string,
  now: number,
  time?: string,
): readonly StyledLine[] => [
  ...findingLines(explanation, url, now),
  ...(time === undefined ? [] : [`  ${timeSentence(time)}.`]),
  ...nextLines(explanation.next, resubmissionLines(explanation)),
]

const timeSentence = (time: string): string => `The time to merge is ${time}`

/** Returns what is known of a pull request, without what to do. */
export const findingLines = (explanation: Explanation, url: string, now: number): readonly StyledLine[] => [
  headline(explanation, url, now),
  ...testRunLines(explanation),
  ...explanation.reasons.flatMap(({ code, message }) =>
    saidAbove.includes(code) || repeated.includes(message) ? [] : [`  ${message}`],
  ),
  ...causeLine(explanation),
  ...unreadLines(explanation.unread),
]

/** Returns who caused that a pull request left or waits again, with the word of the service. */
function causeLine({ state, reason, serviceReason, by }: Explanation): readonly StyledLine[] {
  if (serviceReason === null || by === null || serviceReason === 'merge_item_now_ready') return []
  if (!isFailedOrCancelled(state ?? '') && state !== 'PENDING') return []
  const word = shorten(serviceReason)
  if (reason?.includes(word)) return []
  const line =
    by === 'unknown' ? `Who caused it is not known (${word}).` : `Caused by ${causerText(by)} (${word}).`
  return [[styled(`  ${line}`, 'dim')]]
}

/** Returns what could not be read. The reason of several reads is said once, without what each of them is for. */
export function unreadLines(
  unread: readonly { readonly what: string; readonly why: string }[],
): readonly StyledLine[] {
  const reasonOf = ({ why }: { readonly why: string }) => why.replace(/ for .* (?=\(\d{3}\))/, ' ')
  return [...new Set(unread.map(reasonOf))].map(reason => {
    const sources = unread.filter(source => reasonOf(source) === reason).map(({ what }) => what)
    return `  The ${sources.join(' and ')} could not be read: ${reason}`
  })
}

/** The longest title that is shown whole, in characters. */
const maxTitleLength = 200

/** Whether the pull request was tested in the past. */
const isOver = ({ verdict }: Explanation): boolean => verdict === 'dropped' || verdict === 'merged'

/** Returns the first line: `✗ #9 failed 3m ago: Fix the cart`, `● #7 pending for 4m, 3rd of 12`. */
function headline(explanation: Explanation, url: string, now: number): StyledLine {
  const { pr, verdict, state, since, title, queue, targetBranch } = explanation
  const number = linkSpan(`#${pr}`, url)
  const name = title === null ? '' : `: ${shorten(title, maxTitleLength)}`
  if (verdict === 'not-found') return [number, ` is not in the queue for ${targetBranch}`, name]
  if (state === null) return [number, ' is in an unknown state', name]
  const age = describeSince(since === null ? undefined : shorten(since), now, isOver(explanation))
  const position =
    queue?.position == null ? '' : `, ${formatOrdinal(queue.position)} of ${queue.length} in the queue`
  const { text, style } = stateSpan(state)
  if (style === undefined) return [number, ' ', { text: shorten(text) }, age, position, name]
  const [sign = '', ...words] = text.split(' ')
  const span = (part: string): Span => ({ text: part, style })
  return [span(sign), ' ', number, ' ', span(words.join(' ')), age, position, name]
}

/**
 * Returns the lines about the test run: its failing checks with their pages, and if the service names the
 * tested pull requests, how it was tested: alone or with others, and on top of which.
 */
function testRunLines(explanation: Explanation): readonly StyledLine[] {
  const { pr, targetBranch, testRun, state, reasons, head } = explanation
  const cause = state === 'FAILED' ? reasons.find(({ code }) => code === 'failed')?.message : undefined
  if (testRun === null) return cause === undefined ? [] : [`  ${cause}`]
  // The checks of a cancelled run were cancelled, and a check that is not required does not stop a merge.
  const isBlamed =
    state === 'FAILED' ? reasons.some(({ code }) => code === 'failing-checks') : !isOver(explanation)
  const failingChecks = isBlamed ? testRun.failingChecks : []
  const lines = failingChecks.map(
    ({ name, url, conclusion }): StyledLine => [
      `  ${failedCheckText(name, conclusion)}`,
      ...(url === undefined ? [] : ['   ', linkSpan(url, url)]),
    ],
  )
  const { tested, builtOn } = testRun
  if (!tested.includes(pr)) return cause === undefined ? lines : [...lines, `  ${cause}`]
  const numbers = (pullRequests: readonly number[]) => joinTruncated(pullRequests.map(other => `#${other}`))
  const others = tested.filter(other => other !== pr)
  const alone = builtOn.length === 0 ? ' alone,' : ''
  const company = others.length === 0 ? alone : ` in a batch with ${numbers(others)},`
  const base = builtOn.length === 0 ? targetBranch : `${targetBranch} and ${numbers(builtOn)}`
  const at =
    head !== null && /^[\da-f]{7,64}$/i.test(head)
      ? ` at ${head.slice(0, 7)}${company === '' ? '' : ','}`
      : ''
  const sentence = `It ${isOver(explanation) ? 'was' : 'is being'} tested${at}${company} on top of ${base}`
  const isName = cause?.startsWith('GitHub') === true
  const end =
    cause === undefined ? '.' : `; ${isName ? cause : `${cause.charAt(0).toLowerCase()}${cause.slice(1)}`}`
  return [...lines, `  ${sentence}${end}`]
}

/** Matches a command that takes several pull requests, and their numbers. */
const commandOfSeveral = /^(mergeq pr (?:get|restart|submit|wait))((?: \d+)+)/

/** Returns the steps of several pull requests: commands that differ only in the pull request are one command. */
function joinSteps(steps: readonly NextStep[]): readonly NextStep[] {
  const joined = new Map<string, NextStep>()
  for (const { command, ...step } of steps) {
    const key = `${command?.replace(commandOfSeveral, '$1')} ${step.why}`
    const [, , number = ''] = commandOfSeveral.exec(command ?? '') ?? []
    const known = joined.get(key)?.command ?? undefined
    const next = known?.replace(commandOfSeveral, `$&${number}`) ?? command
    joined.set(key, { ...step, command: next })
  }
  return [...joined.values()]
}

/** Returns a step as a command to copy with its purpose below it, or with its condition before it. */
function stepLines({ command, when, why }: NextStep): readonly StyledLine[] {
  if (command === null) return [`  ${why}`]
  return when === undefined ? [`  ${command}`, [styled(`    ${why}`, 'dim')]] : [`  ${when}: ${command}`]
}

/** Returns the steps, those with a condition last, and further lines. */
export function nextLines(
  steps: readonly NextStep[],
  more: readonly StyledLine[] = [],
): readonly StyledLine[] {
  const isConditional = ({ when }: NextStep) => when !== undefined
  const lines = [...steps.filter(step => !isConditional(step)), ...steps.filter(isConditional)].flatMap(
    stepLines,
  )
  return lines.length + more.length === 0 ? [] : [[styled('Next', 'bold')], ...lines, ...more]
}

/** Returns a warning about submitting again, where that is not safe. */
function resubmissionLines({ verdict, submitAgain, next }: Explanation): readonly StyledLine[] {
  if (verdict === 'merged' || verdict === 'not-found' || submitAgain.safe === true) return []
  // A next step says it already.
  if (next.some(({ command, why }) => command === null && why === submitAgain.why)) return []
  const answer = submitAgain.safe === false ? 'No' : 'Not yet'
  return [[styled(`  Submit again? ${answer}. ${submitAgain.why}`, 'dim')]]
}
