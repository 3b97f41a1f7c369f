import { describe, expect, test } from 'vitest'
import type { WriteRecovery } from '../../src/api/operation.ts'
import type { OperationName } from '../../src/api/operations/index.ts'
import { recoveryRules } from '../../src/api/recovery-rules.ts'
import {
  type Act,
  type ChangeFault,
  firstHeadOf,
  type Loss,
  pushedHead,
  type ReadFault,
  runAgainstFaults,
  type Scenario,
} from '../support/faulty-sandbox.ts'
import { noon, type Setting } from '../support/harness.ts'
import { type OperationExample, operations, queueChanges } from '../support/operations.ts'
import { replaceTransport } from '../support/replaced-transport.ts'

replaceTransport()

/**
 * Runs a change. Says in words how often it was sent and what it shows in was read, how often it was applied, the exit
 * code, and the delivery that the receipt names.
 */
async function outcomeOf(line: string, scenario: Partial<Scenario>, setting: Setting = {}) {
  const { code, out, err, sandbox } = await runAgainstFaults(`${line} --json`, scenario, setting)
  const { sendings, operations } = sandbox
  const [receipt, ...others] = out
    .split('\n')
    .slice(0, -1)
    .map(text => JSON.parse(text))
  const error = code === 0 ? undefined : JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error
  expect(others).toEqual([])
  expect(new Set(sendings.map(({ text }) => text)).size, 'a replay has the same bytes').toBeLessThan(2)
  if (receipt?.delivery !== undefined)
    expect(receipt).toMatchObject({
      ok: code === 0,
      ...(code === 0 ? {} : { exit: code, message: error.message, operation: error.operation }),
    })
  if (code === 11) expect(error.message).toContain('It is unknown whether the change was applied.')
  if (operations.some(name => name.startsWith('get')) && code === 11)
    expect(error.hint, 'the command that shows the state').toMatch(/mergeq (pr get 7|queue get)( --|$)/)
  const applied = sendings.filter(({ appliedAt }) => appliedAt !== undefined).length
  const delivery = receipt?.delivery ?? (code === 0 ? 'confirmed' : '-')
  return `${sayRequests(operations)}; applied ${['never', 'once', 'twice'][applied]}; exit ${code}, ${delivery}`
}

/** Returns the requests in their order in words: `sent, 3 reads, sent`. */
function sayRequests(operations: readonly string[]): string {
  const runs = operations
    .map(name => (name.startsWith('get') ? 'r' : 'c'))
    .join('')
    .match(/r+|c/g)
  const say = (run: string) => (run === 'c' ? 'sent' : run === 'r' ? '1 read' : `${run.length} reads`)
  return (runs ?? []).map(say).join(', ')
}

const ruleOf = ({ operation }: (typeof queueChanges)[number]) => operation.change?.recovery.readBack?.rule

/** The first change of each rule of recovery, and the first that no reading shows. */
const ruled = queueChanges
  .filter((change, index) => queueChanges.findIndex(other => ruleOf(other) === ruleOf(change)) === index)
  .map(({ name }) => name)
const submit = 'submitPullRequest'
const cancel = 'cancelPullRequest'
const restart = 'restartTestsOnPullRequest'
const targets = 'setImpactedTargets'
const create = 'createQueue'
const update = 'updateQueue'
const remove = 'deleteQueue'

/** The command line of a change, and the queues in which it changes something. */
function lineAndStage(name: OperationName): { readonly line: string; readonly stage: Partial<Scenario> } {
  const { line, change }: OperationExample = operations[name]
  return { line, stage: change?.stage ?? {} }
}

const namesOf = (isMeant: (recovery: WriteRecovery) => boolean) =>
  queueChanges.flatMap(({ name, operation: { change } }) =>
    change !== undefined && isMeant(change.recovery) ? [name] : [],
  )
/** All changes, those that a reading shows, and those that are then sent again. */
const names = namesOf(() => true)
const readable = namesOf(({ readBack }) => readBack !== undefined)
const replayable = namesOf(({ replay }) => replay === 'if-not-applied')

const losses: readonly Loss[] = ['reset', 'time-out', 408, 503, 'cut', 'page']
const lost: ChangeFault = { kind: 'lost', loss: 'reset' }
const applied: ChangeFault = { kind: 'applied, lost', loss: 'reset' }
const limited: ChangeFault = { kind: '429' }
const late = (delay: number): ChangeFault => ({ kind: 'applied late, lost', delay, loss: 'reset' })
const refused = (status: number) => ({ kind: 'refused', status }) as const
const works: ReadFault = { kind: 'works' }
const failing: ReadFault = { kind: 'lost', loss: 503 }
const shows = (document: object): ReadFault => ({ kind: 'other body', body: JSON.stringify(document) })
const times = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one)

/** Readings that answer so often, and then fail. */
const readings = (good: number): readonly ReadFault[] => [...times(good, works), ...times(12, failing)]

/** With this latency, somebody acts between the sending of a change and the first reading, or the replay. */
const latency = 300
const beforeReading = (what: Act['what']): Partial<Scenario> => ({
  latency,
  acts: [{ at: 400, what, pr: 7, branch: 'main' }],
})
const beforeReplay = (what: Act['what']): Partial<Scenario> => ({
  latency,
  acts: [{ at: 7_300, what, pr: 7, branch: 'main' }],
})

const sentAgain = 'sent, 3 reads, sent; applied once; exit 0, confirmed'
const unknown = (requests: string, applied: string) => `${requests}; applied ${applied}; exit 11, unknown`

/** What the sendings of a change are answered with, one after the other; further ones work. */
const answers: Readonly<Record<string, readonly ChangeFault[]>> = {
  '429': [limited],
  '429, always': times(9, limited),
  'no connection': [{ kind: 'no connection' }],
  '422': [refused(422)],
  '401': [refused(401)],
  'a redirect, not applied': [{ kind: 'lost', loss: 307 }],
  'a redirect, applied': [{ kind: 'applied, lost', loss: 307 }],
  'lost, not applied': [lost],
  'lost, never applied': times(9, lost),
  'lost, applied': [applied],
  'lost, applied 1.5 s late': [late(1_500)],
  'lost, applied 10 s late': [late(10_000)],
  'lost, then 422': [lost, refused(422)],
  'lost, then 429': [lost, limited],
  'lost, then a redirect': [lost, refused(307)],
  'lost, then 401': [lost, refused(401)],
  'lost, then 404': [lost, refused(404)],
  'lost, then 409': [lost, refused(409)],
  'lost, then lost, but applied': [lost, applied],
  'lost, then lost': [lost, lost],
  'lost, then no connection': [lost, { kind: 'no connection' }],
  'lost, applied, then 422': [applied, refused(422)],
  'lost, applied, then 429': [applied, limited],
  ...Object.fromEntries(
    losses.flatMap(loss => [
      [`lost (${loss}), not applied`, [{ kind: 'lost', loss }]],
      [`lost (${loss}), applied`, [{ kind: 'applied, lost', loss }]],
    ]),
  ),
}

/** How the reads go that look for the change. */
const reads = {
  work: {},
  'get no answer': { readings: readings(0) },
  'are refused the token': { readings: times(12, refused(401)) },
  'get web pages': { readings: times(12, { kind: 'lost', loss: 'page' }) },
  'get web pages with 404': {
    readings: times(12, { kind: 'other body', status: 404, body: '<!doctype html>' }),
  },
  'get redirects': { readings: times(12, { kind: 'lost', loss: 307 }) },
  'work but for one, and its repeat': { readings: [works, failing, failing] },
  'work but for one, whose repeat counts': { readings: [works, failing] },
  'take 21 s each, too late for a replay': { latency: 21_000 },
  'work three times, then get no answer': { readings: readings(3) },
} satisfies Readonly<Record<string, Partial<Scenario>>>

/** What holds for these changes; `others` is the rest of `ruled`. */
type Expected = Partial<
  Readonly<Record<OperationName | 'all' | 'readable' | 'replayable' | 'others', string>>
>

type Row = readonly [answerToChange: string, thenReads: keyof typeof reads, expected: Expected]

const rowsOfLoss = (loss: Loss): readonly Row[] => [
  [
    `lost (${loss}), not applied`,
    'work',
    {
      [targets]: 'sent, sent; applied once; exit 0, confirmed',
      [restart]: unknown('sent, 3 reads', 'never'),
      others: sentAgain,
    },
  ],
  [
    `lost (${loss}), applied`,
    'work',
    {
      [targets]: 'sent, sent; applied twice; exit 0, confirmed',
      // A run that began in the second of the sending may be an older one.
      [restart]: unknown('sent, 3 reads', 'once'),
      // An end that is not dated after the second of the sending must be seen three times.
      [cancel]: 'sent, 3 reads; applied once; exit 0, confirmed-by-read',
      [remove]: 'sent, 3 reads; applied once; exit 0, confirmed-by-read',
      others: 'sent, 1 read; applied once; exit 0, confirmed-by-read',
    },
  ],
]

const table: readonly Row[] = [
  ...losses.flatMap(rowsOfLoss),
  ['429', 'work', { all: 'sent, sent; applied once; exit 0, confirmed' }],
  // Repeated as often as --retries says.
  ['429, always', 'work', { all: 'sent, sent, sent, sent; applied never; exit 7, not-applied' }],
  ['no connection', 'work', { all: 'sent; applied once; exit 0, confirmed' }],
  [
    '422',
    'work',
    // Whether it is merged or closed, a submission that is refused asks once.
    {
      all: 'sent; applied never; exit 6, not-applied',
      submitPullRequest: 'sent, 1 read; applied never; exit 6, not-applied',
    },
  ],
  ['401', 'work', { all: 'sent; applied never; exit 4, not-applied' }],
  ['a redirect, not applied', 'work', { all: 'sent; applied never; exit 15, unknown' }],
  ['a redirect, applied', 'work', { all: 'sent; applied once; exit 15, unknown' }],
  [
    'lost, never applied',
    'work',
    {
      [targets]: unknown('sent, sent', 'never'),
      [restart]: unknown('sent, 3 reads', 'never'),
      others: 'sent, 3 reads, sent, 3 reads; applied never; exit 7, not-applied',
    },
  ],
  [
    'lost, applied 1.5 s late',
    'work',
    {
      [targets]: 'sent, sent; applied twice; exit 0, confirmed',
      // What is gone has no date: it is looked for twice more.
      [remove]: 'sent, 4 reads; applied once; exit 0, confirmed-by-read',
      others: 'sent, 2 reads; applied once; exit 0, confirmed-by-read',
    },
  ],
  // Nobody can tell this from a change that was lost.
  [
    'lost, applied 10 s late',
    'work',
    {
      [targets]: 'sent, sent; applied twice; exit 0, confirmed',
      [restart]: unknown('sent, 3 reads', 'once'),
      [submit]: 'sent, 3 reads, sent; applied twice; exit 0, confirmed',
      [update]: 'sent, 3 reads, sent; applied twice; exit 0, confirmed',
      others: sentAgain,
    },
  ],
  ['lost, never applied', 'get no answer', { readable: unknown('sent, 6 reads', 'never') }],
  ['lost, applied', 'get no answer', { readable: unknown('sent, 6 reads', 'once') }],
  ...(['are refused the token', 'get web pages', 'get web pages with 404', 'get redirects'] as const).map(
    then => ['lost, applied', then, { readable: unknown('sent, 3 reads', 'once') }] as const,
  ),
  // The change is not sent again.
  ['lost, not applied', 'work but for one, and its repeat', { readable: unknown('sent, 4 reads', 'never') }],
  [
    'lost, never applied',
    'work but for one, whose repeat counts',
    { replayable: 'sent, 4 reads, sent, 3 reads; applied never; exit 7, not-applied' },
  ],
  [
    'lost, not applied',
    'take 21 s each, too late for a replay',
    { readable: unknown('sent, 3 reads', 'never') },
  ],
  // The replay gives the exit code where the reads show nothing.
  [
    'lost, then 422',
    'work',
    {
      replayable: 'sent, 3 reads, sent, 3 reads; applied never; exit 6, not-applied',
      submitPullRequest: 'sent, 3 reads, sent, 4 reads; applied never; exit 6, not-applied',
    },
  ],
  [
    'lost, then 429',
    'work',
    { replayable: 'sent, 3 reads, sent, 3 reads; applied never; exit 7, not-applied' },
  ],
  [
    'lost, then a redirect',
    'work',
    { replayable: 'sent, 3 reads, sent, 3 reads; applied never; exit 15, not-applied' },
  ],
  // A refusal of the replay proves nothing if the first request explains it.
  ['lost, then 401', 'work', { replayable: unknown('sent, 3 reads, sent, 3 reads', 'never') }],
  [
    'lost, then 404',
    'work',
    {
      [cancel]: unknown('sent, 3 reads, sent, 3 reads', 'never'),
      [remove]: unknown('sent, 3 reads, sent, 3 reads', 'never'),
    },
  ],
  [
    'lost, then 409',
    'work',
    {
      [submit]: unknown('sent, 3 reads, sent, 3 reads', 'never'),
      [create]: unknown('sent, 3 reads, sent, 3 reads', 'never'),
    },
  ],
  [
    'lost, then lost, but applied',
    'work',
    {
      [submit]: 'sent, 3 reads, sent, 1 read; applied once; exit 0, confirmed-by-read',
      [create]: 'sent, 3 reads, sent, 1 read; applied once; exit 0, confirmed-by-read',
      [update]: 'sent, 3 reads, sent, 1 read; applied once; exit 0, confirmed-by-read',
      [remove]: 'sent, 3 reads, sent, 3 reads; applied once; exit 0, confirmed-by-read',
    },
  ],
  [
    'lost, then lost',
    'work three times, then get no answer',
    { replayable: unknown('sent, 3 reads, sent, 6 reads', 'never') },
  ],
  [
    'lost, then no connection',
    'work three times, then get no answer',
    { [submit]: unknown('sent, 9 reads', 'never') },
  ],
  ['lost, applied, then 422', 'work', { [targets]: unknown('sent, sent', 'once') }],
  ['lost, applied, then 429', 'work', { [targets]: unknown('sent, sent', 'once') }],
]

/** What a row expects of a change; undefined where it says nothing of it. */
function expectedOf(change: OperationName, expected: Expected): string | undefined {
  const own = expected[change] ?? expected.all
  if (own !== undefined) return own
  if (readable.includes(change) && expected.readable !== undefined) return expected.readable
  if (replayable.includes(change) && expected.replayable !== undefined) return expected.replayable
  return ruled.includes(change) ? expected.others : undefined
}

test('each rule of recovery has a change here', () => {
  expect(new Set(queueChanges.map(ruleOf))).toEqual(new Set([...Object.keys(recoveryRules), undefined]))
})

describe.each(names)('a change without a clear response: %s', change => {
  const { line, stage } = lineAndStage(change)
  for (const [answer, then, due] of table) {
    const expected = expectedOf(change, due)
    if (expected !== undefined)
      test(`answer to the change: ${answer}; then reads ${then}`, async () => {
        const changes = answers[answer]
        if (changes === undefined) throw new Error(`There is no answer '${answer}'.`)
        expect(await outcomeOf(line, { ...stage, changes, ...reads[then] })).toBe(expected)
      })
  }

  test('--retries 0: neither read nor sent again', async () => {
    for (const [count, fault] of [
      ['never', lost],
      ['once', applied],
    ] as const)
      expect(await outcomeOf(`${line} --retries 0`, { ...stage, changes: [fault] })).toBe(
        unknown('sent', count),
      )
    expect(await outcomeOf(`${line} --retries 0`, { ...stage, changes: [limited] })).toBe(
      'sent; applied never; exit 7, not-applied',
    )
  })
})

const hour = 3_600_000
const ended = (state: string, at: number) => ({
  state,
  isCurrentlySubmittedToQueue: false,
  stateChangedAt: new Date(at).toISOString(),
})
const queued = (changedAt: number, more: object = {}) => ({
  state: 'pending',
  isCurrentlySubmittedToQueue: true,
  stateChangedAt: new Date(changedAt).toISOString(),
  ...more,
})
const queue = { state: 'RUNNING', mode: 'single', concurrency: 1, batch: false, enqueuedPullRequests: [] }
const again = 'sent, 3 reads; applied never; exit 0, confirmed-by-read'

type Cases = Readonly<Record<string, readonly [scenario: Partial<Scenario>, expected: string]>>

/** The rules that belong to one operation. Unless a case says otherwise, the first request is lost. */
const special: Readonly<Partial<Record<OperationName, Cases>>> = {
  [submit]: {
    'waits already, with another priority': [{ pulls: { 'main#7': 'PENDING' } }, sentAgain],
    'waits already, as asked for': [{ pulls: { 'main#7': { priority: 10, noBatch: true } } }, again],
    'waits already, with our priority, but in batches': [
      { pulls: { 'main#7': { priority: 10 } } },
      sentAgain,
    ],
    'failed an hour ago': [{ pulls: { 'main#7': 'FAILED' } }, sentAgain],
    'somebody submits it with another priority': [beforeReading(submit), unknown('sent, 3 reads', 'never')],
    'applied; somebody cancels it at once': [
      { changes: [applied], ...beforeReading(cancel) },
      unknown('sent, 3 reads', 'once'),
    ],
    'a submission of before, which was cancelled meanwhile, is not ours': [
      {
        pulls: { 'main#7': { state: 'CANCELLED', changedAt: noon - 1_000 } },
        readings: [shows(queued(noon - hour, { priorityName: 'HIGH', noBatch: true }))],
      },
      unknown('sent, 3 reads', 'never'),
    ],
    'a submission that no clock can date must be seen three times': [
      { changes: [applied], dated: false },
      'sent, 3 reads; applied once; exit 0, confirmed-by-read',
    ],
  },
  [cancel]: {
    'merged meanwhile': [
      { pulls: { 'main#7': 'TESTS_PASSED' }, ...beforeReading('advance') },
      'sent, 3 reads; applied never; exit 6, not-applied',
    ],
    'applied; somebody submits it again': [
      { changes: [applied], ...beforeReading(submit) },
      unknown('sent, 3 reads', 'once'),
    ],
    'never submitted': [{ pulls: {} }, again],
    'somebody cancels it before the replay': [
      beforeReplay(cancel),
      'sent, 3 reads, sent, 1 read; applied never; exit 0, confirmed-by-read',
    ],
    "the service's clock is 3 h behind": [
      { changes: [applied], skew: -3 * hour },
      'sent, 3 reads; applied once; exit 0, confirmed-by-read',
    ],
    "submitted 1 h ago by the service's clock, which is 3 h ahead": [{ skew: 3 * hour }, sentAgain],
    // Records on a replica that is behind confirm nothing.
    'twice the FAILED record of the attempt before': [
      { changes: times(9, lost), readings: times(2, shows(ended('failed', noon - hour))) },
      unknown('sent, 3 reads', 'never'),
    ],
    'twice a CANCELLED record of the second of the sending': [
      { changes: times(9, lost), readings: times(2, shows(ended('cancelled', noon))) },
      unknown('sent, 3 reads', 'never'),
    ],
    'twice a brief 404': [
      { changes: times(9, lost), readings: times(2, refused(404)) },
      unknown('sent, 3 reads', 'never'),
    ],
    'a MERGED record of the previous submission rejects nothing': [
      { changes: [applied], readings: [shows(ended('merged', noon - hour))] },
      'sent, 4 reads; applied once; exit 0, confirmed-by-read',
    ],
    'cancelled after the sending is read once': [
      { readings: times(5, shows(ended('cancelled', noon + 5_000))) },
      'sent, 1 read; applied never; exit 0, confirmed-by-read',
    ],
    'cancelled before the sending is read three times': [
      { readings: times(5, shows(ended('cancelled', noon - hour))) },
      again,
    ],
    'merged after the sending is read once': [
      { readings: times(5, shows(ended('merged', noon + 5_000))) },
      'sent, 1 read; applied never; exit 6, not-applied',
    ],
    'merged before the sending is read three times': [
      { readings: times(5, shows(ended('merged', noon - hour))) },
      'sent, 3 reads; applied never; exit 6, not-applied',
    ],
  },
  [restart]: {
    "applied late; the service's clock is 3 h behind": [
      { changes: [late(1_500)], skew: -3 * hour },
      'sent, 2 reads; applied once; exit 0, confirmed-by-read',
    ],
    'a run that began before a repeated request counts as older': [
      {
        changes: [{ kind: '429', retryAfter: '5' }, lost],
        pulls: { 'main#7': 'PENDING' },
        acts: [{ at: 2_000, what: 'advance', pr: 7, branch: 'main' }],
      },
      unknown('sent, sent, 3 reads', 'never'),
    ],
    'responses without a date say nothing': [
      { skew: 3 * hour, dated: false },
      unknown('sent, 3 reads', 'never'),
    ],
  },
  [create]: {
    'there already': [{ changes: [], queues: { main: queue } }, 'sent; applied never; exit 6, not-applied'],
    'there already with other settings': [
      { queues: { main: queue } },
      'sent, 3 reads; applied never; exit 6, not-applied',
    ],
    'there already with our settings': [
      { queues: { main: { ...queue, mode: 'PARALLEL', concurrency: 3 } } },
      'sent, 1 read; applied never; exit 0, confirmed-by-read',
    ],
    'applied after the readings, so that the replay gets 409': [
      { latency, changes: [late(7_300)] },
      'sent, 3 reads, sent, 1 read; applied once; exit 0, confirmed-by-read',
    ],
    // The first sending may have made it, before somebody changed it.
    'there with other settings after the readings, so that the replay gets 409': [
      beforeReplay(create),
      unknown('sent, 3 reads, sent, 3 reads', 'never'),
    ],
    'other settings on a replica that is behind are no refusal': [
      { changes: [applied], readings: [shows(queue)] },
      'sent, 2 reads; applied once; exit 0, confirmed-by-read',
    ],
  },
  [update]: {
    'somebody sets one of the two values': [beforeReading(update), unknown('sent, 3 reads', 'never')],
    'applied, and the queue is deleted': [
      { changes: [applied], ...beforeReading(remove) },
      unknown('sent, 3 reads', 'once'),
    ],
    'one value is there at the replay, which is refused': [
      { changes: [lost, limited], ...beforeReplay(update) },
      unknown('sent, 3 reads, sent, 3 reads', 'never'),
    ],
  },
  [remove]: {
    'holds pull requests': [
      { pulls: { 'main#7': 'PENDING' } },
      'sent, 3 reads; applied never; exit 6, not-applied',
    ],
    'holds pull requests, says the service': [
      { changes: [], pulls: { 'main#7': 'PENDING' } },
      'sent, 1 read; applied never; exit 6, not-applied',
    ],
    'gone after the readings, so that the replay gets 404': [
      beforeReplay(remove),
      'sent, 3 reads, sent, 3 reads; applied never; exit 0, confirmed-by-read',
    ],
    'shown with pull requests by two readings that are behind': [
      {
        changes: [applied],
        readings: times(2, shows({ ...queue, enqueuedPullRequests: [queued(noon)] })),
      },
      'sent, 5 reads; applied once; exit 0, confirmed-by-read',
    ],
    'missing on a replica that is behind': [
      { changes: times(9, lost), readings: [refused(404)] },
      unknown('sent, 3 reads', 'never'),
    ],
    '409 to the replay, and no reading answers': [
      { changes: [lost, refused(409)], readings: readings(3) },
      unknown('sent, 3 reads, sent, 6 reads', 'never'),
    ],
  },
}

for (const [change, cases] of Object.entries(special))
  describe(change, () => {
    const { line, stage } = lineAndStage(change as OperationName)
    test.each(Object.entries(cases))('%s', async (_, [scenario, expected]) => {
      expect(await outcomeOf(line, { ...stage, changes: [lost], ...scenario })).toBe(expected)
    })
  })

describe('settings that a reading cannot show say nothing of whether they were applied', () => {
  test.each([
    ['queue update --set newSetting=true', {}],
    ['queue update --concurrency 1 --set newSetting=true', {}],
    ['queue create --set newSetting=true', { queues: {} }],
  ])('%s', async (line, stage) => {
    const scenario = { ...stage, changes: [applied], readings: times(5, shows(queue)) }
    expect(await outcomeOf(line, scenario)).toBe(unknown('sent, 3 reads', 'once'))
  })

  test('required statuses are the same in any order', async () => {
    const readings = [shows({ ...queue, requiredStatuses: ['b', 'a'] })]
    const line = 'queue update --required-status a --required-status b'
    expect(await outcomeOf(line, { changes: [lost], readings })).toBe(
      'sent, 1 read; applied never; exit 0, confirmed-by-read',
    )
  })
})

test.each(readable)('%s: readings without what the service documents prove nothing', async change => {
  const { line, stage } = lineAndStage(change)
  for (const body of ['{}', '12345678901234567890'])
    expect(
      await outcomeOf(line, { ...stage, changes: [lost], readings: times(12, { kind: 'other body', body }) }),
    ).toMatch(/^sent, \d reads?; applied never; exit 11, unknown$/)
})

describe('an unknown outcome stays unknown in what is built on a change', () => {
  test('`queue delete --cancel-all` ends with it before it deletes', async () => {
    const { code, sandbox } = await runAgainstFaults('queue delete --cancel-all --yes', {
      pulls: { 'main#7': 'PENDING' },
      changes: times(9, lost),
      readings: readings(1),
    })
    expect({ code, deletes: sandbox.operations.includes('deleteQueue') }).toEqual({
      code: 11,
      deletes: false,
    })
  })

  test.each([
    ['an update', {}],
    ['a creation', { queues: {} }],
  ])('`queue apply`: of %s', async (_, stage) => {
    const files = { 'queue.yaml': 'settings:\n  mode: parallel\n' }
    const { code, out } = await runAgainstFaults(
      'queue apply -f queue.yaml --create --yes --json',
      { ...stage, changes: times(9, lost), readings: readings(1) },
      { files },
    )
    expect({ code, receipt: JSON.parse(out) }).toMatchObject({
      code: 11,
      receipt: { ok: false, delivery: 'unknown', exit: 11 },
    })
  })
})

test('a replay is reported; only verbose mode names the operation', async () => {
  const lines = async (line: string) =>
    (await runAgainstFaults(line, { changes: [lost] })).err
      .split('\n')
      .filter(text => /Retrying once/.test(text))
  expect(await lines('pr submit 7')).toEqual(['The change was not applied. Retrying once.'])
  expect(await lines('pr submit 7 -v')).toEqual([
    'submitPullRequest: The change was not applied. Retrying once.',
  ])
  expect(await lines('pr targets 7 //a --no-sha')).toEqual([expect.stringMatching(/\. Retrying once\.$/)])
})

test.each([
  ['pr submit 7 --wait --timeout 20s', 20_000],
  ['pr submit 7 --wait --timeout 90s', 90_000],
])('%s: each attempt, also of a read-back, gets the remaining time', async (line, whole) => {
  const silence: ReadFault = { kind: 'lost', loss: 'time-out' }
  const { end, code, attempts } = await runAgainstFaults(line, {
    changes: [lost],
    readings: [works, ...times(30, silence)],
  })
  expect(code).toBe(11)
  // The reading before, the submission and one that reads it back, at least.
  expect(attempts.length).toBeGreaterThanOrEqual(3)
  for (const { operation, at, limit } of attempts) {
    const usual = operation === submit ? 60_000 : 30_000
    expect({ operation, at, limit }).toEqual({
      operation,
      at,
      limit: Math.min(usual, Math.max(1_000, whole - at)),
    })
  }
  expect(end - noon).toBeLessThanOrEqual(whole + 2_000)
})

describe('a submission is sent once more only at the head that is meant', () => {
  const move = (...acts: readonly (readonly [at: number, what: Act['what']])[]): readonly Act[] =>
    acts.map(([at, what]) => ({ at, what, pr: 7, branch: 'main' }))
  const silent: ChangeFault = { kind: 'lost', loss: 'time-out' }
  /** Submitted, tested, and failed after a second, while the pull request is not to blame; pushed to when the pause is over. */
  const story: Partial<Scenario> = {
    changes: [works, silent],
    acts: move([1_000, 'advance'], [1_000, 'advance'], [1_000, 'stall'], [306_000, 'push']),
  }

  const unmoved = (story.acts ?? []).filter(({ what }) => what !== 'push')
  const reason = expect.stringMatching(/^The head of #7 moved: .* found 1111111\. It was not submitted\.$/)
  test.each<[string, Partial<Scenario>, number, object]>([
    ['ends with 14 if the head moved', {}, 2, { code: 14, outcome: 'stale', reason }],
    // It ends as the last attempt.
    ['sends nothing where the head is not known', { checkout: false }, 2, { code: 3, outcome: 'failed' }],
    ['sends it once more at the same head', { acts: unmoved }, 3, {}],
  ])('`pr land` %s', async (_, scenario, sent, result) => {
    const line = 'pr land 7 --timeout 8m --interval 2s --resubmit any --json'
    const { code, out, sandbox } = await runAgainstFaults(line, { ...story, checkout: true, ...scenario })
    expect(sandbox.sendings).toHaveLength(sent)
    expect({ code, ...JSON.parse(out) }).toMatchObject({ submitted: true, attempts: 2, ...result })
  })

  test.each([
    ['is the same', true, [], { code: 0, sent: 2 }],
    ['moved', true, move([6_000, 'push']), { code: 14, sent: 1 }],
    ['is not known any more', false, [], { code: 11, sent: 1 }],
  ])('`pr submit --match-head`, when the head %s', async (_, checkout, acts, expected) => {
    const line = `pr submit 7 --match-head ${firstHeadOf(7)}`
    let lookUps = 0
    const { code, err, sandbox } = await runAgainstFaults(
      line,
      { changes: [silent], acts, checkout: true },
      checkout ? {} : { spawn: (_, args) => gitOnce(args, args.includes('ls-remote') && lookUps++ > 0) },
    )
    expect({ code, sent: sandbox.sendings.length }).toEqual(expected)
    if (code === 14)
      expect(err).toMatch(/^mergeq: #7 was not submitted: its head moved, expected \w{7}, found 1111111\.$/m)
    if (code === 11) expect(err).toContain('The head of #7 is unknown: ')
  })

  /** git in a checkout of acme/web; it knows the head of #7 unless it fails. */
  const gitOnce = (args: readonly string[], fails: boolean) => {
    if (fails) return { code: 128, out: '', err: 'fatal: odd.\n' }
    if (args.includes('-v')) return { code: 0, out: 'origin\tgit@github.com:acme/web.git (fetch)\n' }
    return { code: 0, out: `${firstHeadOf(7)}\trefs/pull/7/head\n` }
  }
})

test.each([
  [true, { outcome: 'merged', submitted: false }],
  // Without a Date no reading proves that it was not submitted.
  [false, { outcome: 'reached', submitted: null }],
])(
  'a submission that is lost, of a pull request that had merged and was not found (a Date: %s)',
  async (dated, expected) => {
    const line = 'pr submit 7 --wait --timeout 3m --interval 2s --until testing --json'
    const { code, out } = await runAgainstFaults(line, {
      pulls: { 'main#7': 'MERGED' },
      changes: [{ kind: 'lost', loss: 'reset' }],
      readings: [{ kind: 'brief 404' }],
      dated,
    })
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, state: 'MERGED', ...expected })
  },
)

test('what a read-back showed is never said not to be submitted, although nothing shows it later', async () => {
  const at = 1_000
  const acts: readonly Act[] = [
    { at, what: 'cancelPullRequest', pr: 7, branch: 'main' },
    { at, what: 'deleteQueue', pr: 7, branch: 'main' },
  ]
  const line = 'pr submit 7 --wait --timeout 3m --interval 2s --json'
  const { code, out } = await runAgainstFaults(line, {
    changes: [{ kind: 'applied, lost', loss: 'reset' }],
    acts,
    dated: false,
  })
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 11, submitted: null })
})

describe('a wait for what was in the queue already takes no end of an attempt before', () => {
  const isBefore: ReadFault = { kind: 'attempt before' }
  const queued: Partial<Scenario> = {
    pulls: { 'main#7': 'FAILED' },
    acts: [{ at: -5_000, what: submit, pr: 7, branch: 'main' }],
    refusesQueued: true,
  }

  test.each<[string, string, readonly ReadFault[]]>([
    ['that was found there', 'pr land 7 --resubmit any', [works, isBefore, isBefore]],
    ['that was found there, of which the next reading is newer', 'pr land 7', [works, isBefore]],
    ['that the service refused', 'pr submit 7 --wait', [{ kind: 'brief 404' }, works, isBefore, isBefore]],
  ])('%s: %s', async (_, line, readings) => {
    const { code, out } = await runAgainstFaults(`${line} --timeout 20s --interval 2s --json`, {
      ...queued,
      readings,
    })
    const { attempts = 1, ...result } = JSON.parse(out)
    expect({ code, attempts, ...result }).toMatchObject({
      code: 124,
      outcome: 'timed-out',
      state: 'NOT_READY',
      submitted: false,
      attempts: 1,
    })
  })
})

describe('`--match-head` ends a wait only at a head that the pull request had after its submission', () => {
  const move = (at: number, what: Act['what']): Act => ({ at, what, pr: 7, branch: 'main' })
  const isBehind: ReadFault = { kind: 'stale', lag: 5_000 }
  const isMissing: ReadFault = { kind: 'brief 404' }
  const first = firstHeadOf(7)
  test.each<[string, string, readonly ReadFault[], readonly Act[], number]>([
    ['a reading of before, of what was queued', pushedHead, [works, isBehind], [move(-3_000, 'push')], 124],
    [
      'a reading of before, of what changed in the second of the submission',
      pushedHead,
      [works, { kind: 'stale', lag: 950 }],
      [move(200, 'advance'), move(300, 'push')],
      124,
    ],
    [
      'a reading of before, of what was cancelled',
      pushedHead,
      [isMissing, isBehind],
      [move(-3_000, 'push'), move(-2_000, cancel)],
      124,
    ],
    // It was not found, but the record says that it was in the queue before: it is not cancelled.
    ['a push to what was queued', first, [isMissing], [move(15_000, 'push')], 14],
    ['a push soon after the submission', first, [isMissing], [move(3_000, 'push')], 14],
  ])('%s', async (_, head, readings, acts, exit) => {
    const { code, sandbox } = await runAgainstFaults(
      `pr submit 7 --wait --match-head ${head} --timeout 20s --interval 2s`,
      { pulls: { 'main#7': 'PENDING' }, latency: 400, readings, acts, checkout: true },
    )
    expect({ code, sent: sandbox.sendings.map(({ operation }) => operation) }).toEqual({
      code: exit,
      sent: [submit],
    })
  })
})
