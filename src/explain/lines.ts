import { causerTexts, findReason } from '../domain/reasons/reasons.ts'
import { isFailedOrCancelled } from '../domain/states.ts'
import { failedCheckText } from '../domain/test-run.ts'
import { linkSpan, type Span, type StyledLine, stateSpan, styled } from '../output/styled-text.ts'
import { describeSince, formatOrdinal, joinTruncated, shorten } from '../values/format.ts'
import { describeEstimate } from './estimate.ts'
import type { Explanation } from './explain-pull-request.ts'
import type { NextStep } from './next-commands.ts'

/** Returns an explanation as prose for a terminal; `now` is in milliseconds since 1970. */
export const explanationProse = (explanation: Explanation, now: number): readonly StyledLine[] => [
  ...findingLines(explanation, now),
  ...timeLines(explanation),
  ...nextLines(explanation.next, resubmissionLines(explanation)),
]

/** Says how long it may take to merge, unless something that a person must change is in the way. */
function timeLines({ verdict, estimate }: Explanation): readonly StyledLine[] {
  if (estimate === null || !['waiting', 'testing', 'held'].includes(verdict)) return []
  const isKnown = estimate.seconds !== null
  return [`  ${isKnown ? 'Time to merge:' : 'The time to merge is'} ${describeEstimate(estimate)}.`]
}

/** Returns what is known of a pull request, without what to do. */
export const findingLines = (explanation: Explanation, now: number): readonly StyledLine[] => [
  headline(explanation, now),
  ...testRunLines(explanation),
  ...explanation.reasons.flatMap(({ isSaidAbove, message }) => (isSaidAbove ? [] : [`  ${message}`])),
  ...causeLine(explanation),
  ...unreadLines(explanation.unread),
]

/** Returns who caused that a pull request left or waits again, with the word of the service. */
function causeLine({ state, reason, serviceReason, by }: Explanation): readonly StyledLine[] {
  if (serviceReason === null || by === null || findReason(state ?? '', serviceReason)?.isUsual) return []
  if (!isFailedOrCancelled(state ?? '') && state !== 'PENDING') return []
  const word = shorten(serviceReason)
  if (reason?.includes(word)) return []
  const line =
    by === 'unknown' ? `Who caused it is not known (${word}).` : `Caused by ${causerTexts[by]} (${word}).`
  const start = line.indexOf('(')
  return [[`  ${line.slice(0, start)}`, styled(line.slice(start), 'dim')]]
}

type Unread = { readonly what: string; readonly why: string }

/** Returns what could not be read. The reason of several reads is said once, without what each of them is for. */
export function unreadLines(unread: readonly Unread[]): readonly StyledLine[] {
  const reasonOf = ({ why }: Unread) => why.replace(/ for .* (?=\(\d{3}\))/, ' ')
  return [...new Set(unread.map(reasonOf))].map(reason => {
    const sources = unread.filter(source => reasonOf(source) === reason).map(({ what }) => what)
    return `  The ${sources.join(' and ')} could not be read: ${reason}`
  })
}

export const unreadRows = (unread: readonly Unread[]): readonly (readonly [field: string, value: string])[] =>
  unread.map(({ what, why }) => ['unavailable', `${what}: ${why}`])

/** The longest title that is shown whole, in characters. */
const maxTitleLength = 200

/** Whether the pull request was tested in the past. */
const isOver = ({ verdict }: Explanation): boolean => verdict === 'dropped' || verdict === 'merged'

/** Returns the first line: `✗ #9 failed 3m ago: Fix the cart`, `● #7 pending for 4m, 3rd of 12`. */
function headline(explanation: Explanation, now: number): StyledLine {
  const { pr, url, verdict, state, since, title, queue, targetBranch } = explanation
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
  return [
    span(sign),
    ' ',
    { ...number, style: 'bold' as const },
    ' ',
    span(words.join(' ')),
    styled(age, 'dim'),
    styled(`${position}${name}`, 'bold'),
  ]
}

/** Returns the failing checks with their pages, and how the pull request was tested: alone or with others. */
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
export function joinSteps(steps: readonly NextStep[]): readonly NextStep[] {
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
  const bright = styled(command, 'bold')
  return when === undefined ? [['  ', bright], [styled(`    ${why}`, 'dim')]] : [[`  ${when}: `, bright]]
}

export const nextRows = (steps: readonly NextStep[]): readonly (readonly [field: string, value: string])[] =>
  steps.map(({ command, why }) => ['next', command === null ? why : `${command}  (${why})`])

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
export function resubmissionLines({ verdict, submitAgain, next }: Explanation): readonly StyledLine[] {
  if (verdict === 'merged' || verdict === 'not-found' || submitAgain.safe === true) return []
  // A next step says it already.
  if (next.some(({ command, why }) => command === null && why === submitAgain.why)) return []
  const answer = submitAgain.safe === false ? 'No' : 'Not yet'
  return [[styled(`  Submit again? ${answer}. ${submitAgain.why}`, 'dim')]]
}
