import type { Explanation, NextStep } from '../../../domain/explain/explanation.ts'
import { shorten } from '../../../domain/explain/finding.ts'
import type { Json, JsonObject } from '../../../json.ts'
import { linesView, type View } from '../../../output/view.ts'
import { explanationProse } from './explanation-prose.ts'

/** Returns an explanation as `--json` prints it. */
export const explanationJson = ({
  queue,
  testRun,
  reasons,
  next,
  submitAgain,
  unread,
  ...rest
}: Explanation): JsonObject => ({
  ...rest,
  queue: queue === null ? null : { ...queue },
  testRun:
    testRun === null
      ? null
      : { id: testRun.id, status: testRun.status, failing: testRun.failing, pending: testRun.pending },
  reasons: reasons.map(reason => ({ ...reason })),
  next: next.map(step => ({ ...step })),
  submitAgain: { ...submitAgain },
  unread: unread.map(source => ({ ...source })),
})

const formatNextStep = ({ command, why }: NextStep): string =>
  command === null ? why : `${command}  (${why})`

const safetyTexts = new Map<boolean | null, string>([
  [true, 'safe'],
  [false, 'not safe'],
  [null, 'unclear'],
])

/**
 * Returns an explanation as prose on a terminal, and as a table with a row for each fact elsewhere. `url` is
 * the page of the pull request, `now` is in milliseconds since 1970.
 */
export function explanationView(explanation: Explanation, url: string, now: number): View {
  const { verdict, state, since, queue, testRun, reasons, next, submitAgain, unread } = explanation
  const rows: readonly (readonly [string, Json])[] = [
    ['verdict', verdict],
    ...(state === null ? [] : [['state', shorten(state)] as const]),
    ...(since === null ? [] : [['since', shorten(since)] as const]),
    ...(queue?.position == null ? [] : [['position', `${queue.position} of ${queue.length}`] as const]),
    ...reasons.map(({ message }) => ['reason', message] as const),
    ...(testRun === null
      ? []
      : [
          [
            'test run',
            `${testRun.id}${testRun.status === null ? '' : ` (${shorten(testRun.status)})`}`,
          ] as const,
        ]),
    ...next.map(step => ['next', formatNextStep(step)] as const),
    ['submit again', `${safetyTexts.get(submitAgain.safe)}: ${submitAgain.why}`],
    ...unread.map(({ what, why }) => ['unavailable', `${what}: ${why}`] as const),
  ]
  return {
    columns: [
      { title: 'FIELD', format: 'plain' },
      { title: 'VALUE', format: 'prose' },
    ],
    rows,
    terminalView: () => linesView(explanationProse(explanation, url, now)),
  }
}
