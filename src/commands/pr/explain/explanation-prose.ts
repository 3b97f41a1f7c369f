import { describeTesting, formatOrdinal, otherReasons } from '../../../domain/explain/describe-explanation.ts'
import type { Explanation } from '../../../domain/explain/explanation.ts'
import { shorten } from '../../../domain/explain/finding.ts'
import { isSubmitHarmless } from '../../../domain/explain/submit-again.ts'
import { describeSince } from '../../../domain/format.ts'
import { linkSpan, type Span, type StyledLine, stateSpan, styled } from '../../../output/styled-text.ts'

/** The longest title that is shown whole, in characters. */
const maxTitleLength = 200

/** The verdicts whose pull request was tested in the past. */
const isOver = ({ verdict }: Explanation): boolean => verdict === 'dropped' || verdict === 'merged'

/** Returns the first line: `✗ #9 failed 3m ago: Fix the cart`, `● #7 pending for 4m, 3rd of 12`. */
function headline(explanation: Explanation, url: string, now: number): StyledLine {
  const { pr, verdict, state, since, title, queue, targetBranch } = explanation
  const number = linkSpan(`#${pr}`, url)
  const name = title === null ? '' : `: ${shorten(title, maxTitleLength)}`
  if (verdict === 'never-submitted' || state === null)
    return [
      number,
      verdict === 'never-submitted'
        ? ` was never submitted to the queue for ${targetBranch}`
        : ' is in an unknown state',
      name,
    ]
  const { text, style } = stateSpan(state)
  const [sign, ...words] = text.split(' ')
  const span = (part: string): Span => (style === undefined ? { text: part } : { text: part, style })
  const position =
    queue?.position == null ? '' : `, ${formatOrdinal(queue.position)} of ${queue.length} in the queue`
  return [
    ...(style === undefined ? [] : [span(sign ?? ''), ' ']),
    number,
    ' ',
    span(style === undefined ? shorten(text) : words.join(' ')),
    describeSince(since === null ? undefined : shorten(since), now, isOver(explanation)),
    position,
    name,
  ]
}

/** Returns the lines about the test run: its failing checks with their pages, and how it was tested. */
function testRunLines(explanation: Explanation): readonly StyledLine[] {
  const { testRun, pr, targetBranch, state } = explanation
  if (testRun === null) return []
  const testing = describeTesting(testRun, pr, targetBranch, isOver(explanation))
  // The checks of a cancelled run were cancelled, and a check that is not required does not stop a merge.
  const failingChecks = state === 'CANCELLED' || state === 'MERGED' ? [] : testRun.failingChecks
  return [
    ...failingChecks.map(
      ({ name, url }): StyledLine =>
        url === undefined
          ? `  The check "${name}" failed.`
          : [`  The check "${name}" failed: `, linkSpan(url, url)],
    ),
    ...(testing === undefined ? [] : [`  ${testing}`]),
  ]
}

/** Returns the steps as commands to copy, each with its purpose. */
function nextLines({ next, submitAgain, verdict, state, testRun }: Explanation): readonly StyledLine[] {
  const hasChecks = testRun !== null && testRun.failingChecks.length > 0
  // The failing checks of the test run are shown already.
  const shown = next.filter(({ command }) => !(hasChecks && command?.startsWith('mergeq pr testing')))
  const width = Math.max(0, ...shown.map(({ command }) => command?.length ?? 0))
  const steps = shown.map(
    ({ command, why }): StyledLine =>
      command === null ? `  ${why}` : [`  ${command.padEnd(width)}  `, styled(why, 'dim')],
  )
  const warning =
    state === 'FAILED' && verdict === 'dropped'
      ? 'Submitting it again without a fix will most likely fail again.'
      : isSubmitHarmless(submitAgain)
        ? undefined
        : `Submit again? ${submitAgain.safe === false ? 'No' : 'Not yet'}. ${submitAgain.why}`
  const lines = [...steps, ...(warning === undefined ? [] : [[styled(`  ${warning}`, 'dim')]])]
  return lines.length === 0 ? [] : [[styled('Next', 'bold')], ...lines]
}

/**
 * Returns an explanation as prose for a terminal: what happened, why, and what to do next. `url` is the page
 * of the pull request, `now` is in milliseconds since 1970.
 */
export const explanationProse = (
  explanation: Explanation,
  url: string,
  now: number,
): readonly StyledLine[] => [
  headline(explanation, url, now),
  ...testRunLines(explanation),
  ...otherReasons(explanation).map(message => `  ${message}`),
  ...explanation.unread.map(({ what, why }) => `  The ${what} could not be read: ${why}`),
  ...nextLines(explanation),
]
