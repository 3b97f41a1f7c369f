import type { Explanation } from '../../../domain/explain/explanation.ts'
import { type NextStep, shorten } from '../../../domain/explain/finding.ts'
import { formatDuration } from '../../../domain/format.ts'
import type { Json, JsonObject } from '../../../json.ts'
import type { View } from '../../../output/view.ts'

/** What `--json` prints of an explanation. */
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
  testRun: testRun === null ? null : { ...testRun },
  reasons: reasons.map(reason => ({ ...reason })),
  next: next.map(step => ({ ...step })),
  submitAgain: { ...submitAgain },
  unread: unread.map(one => ({ ...one })),
})

const mostTitle = 120

const stepText = ({ command, why }: NextStep): string => (command === null ? why : `${command}  (${why})`)

const safety = new Map<boolean | null, string>([
  [true, 'safe'],
  [false, 'not safe'],
  [null, 'unclear'],
])

/** An explanation from top to bottom: a row for each thing to know. `now` is in milliseconds since 1970. */
export function explanationView(explanation: Explanation, now: number): View {
  const { pr, verdict, state, since, title, queue, testRun, reasons, next, submitAgain, unread } = explanation
  const passed = now - Date.parse(since ?? '')
  const standing =
    state === null ? '' : ` (${shorten(state)}${passed >= 0 ? ` for ${formatDuration(passed)}` : ''})`
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
    ...next.map(step => ['next', stepText(step)] as const),
    ['submit again', `${safety.get(submitAgain.safe)}: ${submitAgain.why}`],
    ...unread.map(({ what, why }) => ['could not be read', `${what}: ${why}`] as const),
  ]
  return {
    heading: [
      `#${pr} ${verdict === 'never-submitted' ? 'was never submitted' : `is ${verdict}`}${standing}${title === null ? '' : `: ${shorten(title, mostTitle)}`}`,
    ],
    columns: [
      { title: 'WHAT', format: 'plain' },
      { title: 'HOW IT IS', format: 'prose' },
    ],
    rows,
  }
}
