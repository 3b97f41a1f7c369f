import type { RecordFields } from '../../../cli/fields/record-fields.ts'
import type { Explanation, ExplanationVerdict } from '../../../domain/explain/explanation.ts'
import { type NextStep, shorten } from '../../../domain/explain/finding.ts'
import { formatAge } from '../../../domain/format.ts'
import type { Json, JsonObject } from '../../../json.ts'
import type { View } from '../../../output/view.ts'

/** The fields of an explanation. */
export const explanationRecord: RecordFields = {
  names: [
    ...['pr', 'targetBranch', 'title', 'verdict', 'state', 'since'],
    ...['queue', 'queue.state', 'queue.position', 'queue.length', 'queue.ahead'],
    ...['queue.testing', 'queue.concurrency'],
    ...['testRun', 'testRun.id', 'testRun.status', 'testRun.failing', 'testRun.pending'],
    ...['reasons', 'reasons.code', 'reasons.message'],
    ...['next', 'next.command', 'next.why'],
    ...['submitAgain', 'submitAgain.safe', 'submitAgain.why'],
    ...['unread', 'unread.what', 'unread.why'],
  ],
  columns: [],
}

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
  testRun: testRun === null ? null : { ...testRun },
  reasons: reasons.map(reason => ({ ...reason })),
  next: next.map(step => ({ ...step })),
  submitAgain: { ...submitAgain },
  unread: unread.map(source => ({ ...source })),
})

/** Upper limit for the title in the heading, in characters. */
const maxTitleLength = 120

const formatNextStep = ({ command, why }: NextStep): string =>
  command === null ? why : `${command}  (${why})`

const safetyTexts = new Map<boolean | null, string>([
  [true, 'safe'],
  [false, 'not safe'],
  [null, 'unclear'],
])

/** The verb phrase of each verdict in the heading. */
const verdictTexts: Readonly<Record<ExplanationVerdict, string>> = {
  waiting: 'is waiting',
  blocked: 'is blocked',
  testing: 'is being tested',
  held: 'failed its tests and may still merge',
  dropped: 'left the queue',
  merged: 'is merged',
  'never-submitted': 'was never submitted',
  unknown: 'is in an unclear state',
}

/** Returns an explanation as a table with a row for each fact. `now` is in milliseconds since 1970. */
export function explanationView(explanation: Explanation, now: number): View {
  const { pr, verdict, state, since, title, queue, testRun, reasons, next, submitAgain, unread } = explanation
  const age = now - Date.parse(since ?? '')
  const stateText = state === null ? '' : ` (${shorten(state)}${age >= 0 ? ` for ${formatAge(age)}` : ''})`
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
    heading: [
      `#${pr} ${verdictTexts[verdict]}${stateText}${title === null ? '' : `: ${shorten(title, maxTitleLength)}`}`,
    ],
    columns: [
      { title: 'FIELD', format: 'plain' },
      { title: 'VALUE', format: 'prose' },
    ],
    rows,
  }
}
