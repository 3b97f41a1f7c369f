import { type Json, type JsonObject } from '../../../json.ts'
import { type Shape, span } from '../../../output/view.ts'
import type { Explanation } from '../../../domain/explain/explanation.ts'
import { brief, type Step } from '../../../domain/explain/finding.ts'

/** What `--json` prints of an explanation. */
export const documentOf = ({
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

const stepText = ({ command, why }: Step): string => (command === null ? why : `${command}  (${why})`)

const safety = new Map<boolean | null, string>([
  [true, 'safe'],
  [false, 'not safe'],
  [null, 'unclear'],
])

/** An explanation from top to bottom: a row for each thing to know. `now` is in milliseconds since 1970. */
export function explanationShape(explanation: Explanation, now: number): Shape {
  const { pr, verdict, state, since, title, queue, testRun, reasons, next, submitAgain, unread } = explanation
  const passed = now - Date.parse(since ?? '')
  const standing = state === null ? '' : ` (${brief(state)}${passed >= 0 ? ` for ${span(passed)}` : ''})`
  const rows: readonly (readonly [string, Json])[] = [
    ['verdict', verdict],
    ...(state === null ? [] : [['state', brief(state)] as const]),
    ...(since === null ? [] : [['since', brief(since)] as const]),
    ...(queue?.position == null ? [] : [['position', `${queue.position} of ${queue.length}`] as const]),
    ...reasons.map(({ message }) => ['reason', message] as const),
    ...(testRun === null
      ? []
      : [
          [
            'test run',
            `${testRun.id}${testRun.status === null ? '' : ` (${brief(testRun.status)})`}`,
          ] as const,
        ]),
    ...next.map(step => ['next', stepText(step)] as const),
    ['submit again', `${safety.get(submitAgain.safe)}: ${submitAgain.why}`],
    ...unread.map(({ what, why }) => ['could not be read', `${what}: ${why}`] as const),
  ]
  return {
    heading: [
      `#${pr} ${verdict === 'never-submitted' ? 'was never submitted' : `is ${verdict}`}${standing}${title === null ? '' : `: ${brief(title, mostTitle)}`}`,
    ],
    columns: [
      { title: 'WHAT', manner: 'plain' },
      { title: 'HOW IT IS', manner: 'prose' },
    ],
    rows,
  }
}
