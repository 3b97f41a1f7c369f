import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type Act,
  answers,
  applied,
  changingOperations,
  closes,
  cuts,
  emptyQueue,
  type FaultOptions,
  type FaultServer,
  hangs,
  iso,
  type Judged,
  judgeWords,
  late,
  openStranger,
  pull,
  resets,
  run,
  type Show,
  unapplied,
  withFaults,
  withoutDate,
  works,
} from '../support/fault-server.ts'
import { noon } from '../support/harness.ts'
import { inLetters, operationsIn } from '../support/unanswered-writes.ts'

/** A change, what is typed for it, what it is read back by, and the stage on which it is done. */
interface Change {
  readonly operation: string
  readonly line: string
  /** The operation that reads it back; none where nothing can tell. */
  readonly back?: string
  readonly stage?: FaultOptions
}

const record = 'getSubmittedPullRequest'
const queue = 'getQueue'

const submit: Change = {
  operation: 'submitPullRequest',
  line: 'pr submit 7 --priority high --no-batch',
  back: record,
}
const cancel: Change = {
  operation: 'cancelPullRequest',
  line: 'pr cancel 7',
  back: record,
  stage: { pulls: { 7: pull(7) } },
}
const restart: Change = {
  operation: 'restartTestsOnPullRequest',
  line: 'pr restart 7',
  back: record,
  stage: { pulls: { 7: pull(7, { state: 'testing' }) } },
}
const targets: Change = { operation: 'setImpactedTargets', line: 'pr targets 7 //a //b --sha 4f2a9c1' }
const create: Change = {
  operation: 'createQueue',
  line: 'queue create --mode parallel --concurrency 3',
  back: queue,
  stage: { queue: null },
}
const update: Change = {
  operation: 'updateQueue',
  line: 'queue update --concurrency 5 --batch',
  back: queue,
}
const remove: Change = { operation: 'deleteQueue', line: 'queue delete --yes', back: queue }

const all: readonly Change[] = [submit, cancel, restart, targets, create, update, remove]

/** What must be seen: requests (c is the change, r a reading), how often applied, exit code and delivery. */
interface Seen {
  readonly requests: string
  readonly applied: number
  readonly exit: number
  /** As the receipt says it; `-` without a receipt. */
  readonly delivery: string
}

/** A fault: what the server does with the changes and the readings, and with what is typed besides. */
interface Fault {
  readonly name: string
  readonly changes?: Act | readonly Act[]
  readonly readings?: Act | readonly Act[]
  readonly more?: string
  readonly stage?: FaultOptions
}

interface Row {
  readonly change: Change
  readonly fault: Fault
  readonly expected: Seen
}

const seen = (requests: string, applied: number, exit: number, delivery: string): Seen => ({
  requests,
  applied,
  exit,
  delivery,
})

const stranger = await openStranger()
afterAll(() => stranger.close())
const elsewhere = (status: number): Show =>
  answers(status, '', { location: `${stranger.origin}/v1/submitPullRequest` })
const page = '<!doctype html><html><body>Sign in</body></html>'

// What is expected where all changes agree, and the ways in which they do not.

const refusedBefore = seen('c', 0, 6, 'not-applied')
const unknownAfter = (requests: string, times: number) => seen(requests, times, 11, 'unknown')
const replayed = seen('c rrr c', 1, 0, 'confirmed')

/** The change took effect and no answer came: what it is read back by shows it. */
const whenApplied = ({ operation }: Change): Seen => {
  if (operation === 'setImpactedTargets') return seen('c c', 2, 0, 'confirmed')
  // A restart shows only when a run has begun since: one second later, here.
  if (operation === 'restartTestsOnPullRequest') return seen('c rr', 1, 0, 'confirmed-by-read')
  // An end that is not dated after the second of the sending must be seen three times.
  return seen(endsUndated(operation) ? 'c rrr' : 'c r', 1, 0, 'confirmed-by-read')
}

const endsUndated = (operation: string): boolean => /^(cancelPullRequest|deleteQueue)$/.test(operation)

/** The change did not take effect and no answer came, once. */
const whenNotApplied = ({ operation }: Change): Seen => {
  if (operation === 'setImpactedTargets') return seen('c c', 1, 0, 'confirmed')
  return operation === 'restartTestsOnPullRequest' ? unknownAfter('c rrr', 0) : replayed
}

/** The same, and again on the replay. */
const whenNeverApplied = ({ operation }: Change): Seen => {
  if (operation === 'setImpactedTargets') return unknownAfter('c c', 0)
  return operation === 'restartTestsOnPullRequest'
    ? unknownAfter('c rrr', 0)
    : seen('c rrr c rrr', 0, 7, 'not-applied')
}

const same = (expected: Seen) => () => expected
const brief = '--timeout 400ms'

/** The fault classes that every change meets. */
const common: readonly (readonly [Fault, (change: Change) => Seen, changes?: readonly Change[]])[] = [
  [{ name: 'connection refused, always', stage: { opensAfter: 99 } }, same(seen('', 0, 7, '-'))],
  [
    { name: 'connection refused, then the port opens', stage: { opensAfter: 2 } },
    same(seen('c', 1, 0, 'confirmed')),
  ],
  [
    { name: 'connection refused, --retries 0', stage: { opensAfter: 99 }, more: '--retries 0' },
    same(seen('', 0, 7, '-')),
  ],
  [{ name: '429, then good', changes: [unapplied(answers(429))] }, same(seen('c c', 1, 0, 'confirmed'))],
  [
    { name: '429 with Retry-After: 2, always', changes: unapplied(answers(429, '', { 'retry-after': '2' })) },
    same(seen('c c c c', 0, 7, 'not-applied')),
  ],
  [
    { name: '429, --retries 0', changes: unapplied(answers(429)), more: '--retries 0' },
    same(seen('c', 0, 7, 'not-applied')),
  ],
  [{ name: '422', changes: unapplied(answers(422, 'no such thing')) }, same(refusedBefore)],
  [{ name: '401', changes: unapplied(answers(401)) }, same(seen('c', 0, 4, 'not-applied'))],
  [
    { name: '307 to another host, not applied', changes: unapplied(elsewhere(307)) },
    same(seen('c', 0, 15, 'unknown')),
  ],
  [
    { name: '303 to another host, applied', changes: applied(elsewhere(303)) },
    same(seen('c', 1, 15, 'unknown')),
  ],
  [{ name: 'reset before applying', changes: [unapplied(resets)] }, whenNotApplied],
  [{ name: 'closed before applying', changes: [unapplied(closes)] }, whenNotApplied],
  [{ name: '503, not applied', changes: [unapplied(answers(503))] }, whenNotApplied],
  [{ name: '408, not applied', changes: [unapplied(answers(408))] }, whenNotApplied],
  [{ name: 'reset before applying, always', changes: unapplied(resets) }, whenNeverApplied],
  [{ name: '503, not applied, always', changes: unapplied(answers(503)) }, whenNeverApplied],
  [{ name: 'applied, then reset', changes: [applied(resets)] }, whenApplied],
  [{ name: 'applied, never answered', changes: [applied(hangs)], more: brief }, whenApplied],
  [{ name: 'applied, then 503', changes: [applied(answers(503))] }, whenApplied],
  [{ name: 'applied, then 408', changes: [applied(answers(408))] }, whenApplied],
  [{ name: 'applied, 2xx cut', changes: [applied(cuts)] }, whenApplied],
  [{ name: 'applied, 200 with half a document', changes: [applied(answers(200, '{"state":'))] }, whenApplied],
  [{ name: 'applied, 200 with a web page', changes: [applied(answers(200, page))] }, whenApplied],
  [
    { name: 'applied 1.5 s late, reset at once', changes: [late(1_500, resets)] },
    change => {
      if (change === targets) return seen('c c', 2, 0, 'confirmed')
      // What is gone has no date: it is looked for twice more.
      const requests = change === remove ? 'c rrrr' : change === restart ? 'c rrr' : 'c rr'
      return seen(requests, 1, 0, 'confirmed-by-read')
    },
  ],
  [
    // Nobody can tell this from a change that was lost. What two of them do is what one does.
    { name: 'applied 10 s late, reset at once', changes: [late(10_000, resets)] },
    change => {
      if (change === restart) return unknownAfter('c rrr', 1)
      if (change === targets) return seen('c c', 2, 0, 'confirmed')
      return { ...replayed, applied: change === submit || change === update ? 2 : 1 }
    },
  ],
  [
    { name: 'reset before applying, --retries 0', changes: unapplied(resets), more: '--retries 0' },
    same(unknownAfter('c', 0)),
  ],
  [
    { name: 'applied, then reset, --retries 0', changes: applied(resets), more: '--retries 0' },
    same(unknownAfter('c', 1)),
  ],
]

const readable = all.filter(change => change !== targets)
const replayable = readable.filter(change => change !== restart)
const failing = unapplied(answers(503))

/** What can befall the reading and the replay. */
const afterwards: typeof common = [
  [
    { name: 'reset before applying; no reading answers', changes: unapplied(resets), readings: failing },
    same(unknownAfter('c rrrrrr', 0)),
    readable,
  ],
  [
    { name: 'applied, then reset; no reading answers', changes: applied(resets), readings: failing },
    same(unknownAfter('c rrrrrr', 1)),
    readable,
  ],
  [
    {
      name: 'applied, then reset; the token is refused from then on',
      changes: applied(resets),
      readings: unapplied(answers(401)),
    },
    same(unknownAfter('c rrr', 1)),
    readable,
  ],
  [
    {
      name: 'reset before applying; one reading of three fails, and its repeat',
      changes: unapplied(resets),
      readings: [works, failing, failing],
    },
    same(unknownAfter('c rrrr', 0)),
    readable,
  ],
  [
    {
      name: 'reset before applying; one reading of three fails by chance',
      changes: unapplied(resets),
      readings: [works, failing],
    },
    same(seen('c rrrr c rrr', 0, 7, 'not-applied')),
    replayable,
  ],
  [
    { name: 'applied, then reset; the first reading fails', changes: [applied(resets)], readings: [failing] },
    change => {
      const requests = endsUndated(change.operation) ? 'c rrrr' : change === restart ? 'c rrr' : 'c rr'
      return seen(requests, 1, 0, 'confirmed-by-read')
    },
    readable,
  ],
  [
    {
      name: 'applied, then reset; a web page to the readings',
      changes: [applied(resets)],
      readings: unapplied(answers(200, page)),
    },
    same(unknownAfter('c rrrrrr', 1)),
    readable,
  ],
  [
    {
      name: 'reset before applying; 404 with a web page to the readings',
      changes: unapplied(resets),
      readings: unapplied(answers(404, page)),
    },
    same(unknownAfter('c rrr', 0)),
    readable,
  ],
  [
    {
      name: 'reset before applying; readings take 21 s each',
      changes: [unapplied(resets)],
      readings: { ...works, takes: 21_000 },
    },
    same(unknownAfter('c rrr', 0)),
    readable,
  ],
  [
    {
      name: 'reset before applying; 422 to the replay',
      changes: [unapplied(resets), unapplied(answers(422))],
    },
    same(seen('c rrr c rrr', 0, 6, 'not-applied')),
    replayable,
  ],
  [
    {
      name: 'reset before applying; 429 to the replay',
      changes: [unapplied(resets), unapplied(answers(429))],
    },
    same(seen('c rrr c rrr', 0, 7, 'not-applied')),
    replayable,
  ],
  [
    {
      // What the reading says of the delivery stands; what the replay was told gives the exit code.
      name: 'reset before applying; 307 to the replay',
      changes: [unapplied(resets), unapplied(elsewhere(307))],
    },
    same(seen('c rrr c rrr', 0, 15, 'not-applied')),
    replayable,
  ],
  [
    {
      name: 'reset before applying; replay applied, then reset',
      changes: [unapplied(resets), applied(resets)],
    },
    change => seen(change === remove ? 'c rrr c rrr' : 'c rrr c r', 1, 0, 'confirmed-by-read'),
    replayable,
  ],
  [
    {
      name: 'reset before applying; replay reset, then no reading answers',
      changes: unapplied(resets),
      readings: [works, works, works, ...Array.from({ length: 6 }, () => failing)],
    },
    same(unknownAfter('c rrr c rrrrrr', 0)),
    replayable,
  ],
  [
    {
      name: 'reset before applying; nothing listens at the replay',
      changes: [unapplied(resets)],
      readings: [works, works, { ...works, last: true }],
    },
    same(unknownAfter('c rrr', 0)),
    replayable,
  ],
  [
    {
      name: 'applied 8 s late, reset at once; 429 to the replay, then no reading answers',
      changes: [late(8_000, resets), unapplied(answers(429))],
      readings: [works, works, works, ...Array.from({ length: 6 }, () => failing)],
    },
    same(unknownAfter('c rrr c rrrrrr', 1)),
    replayable,
  ],
  [
    { name: 'applied, then reset; 422 to the replay', changes: [applied(resets), unapplied(answers(422))] },
    same(unknownAfter('c c', 1)),
    [targets],
  ],
  [
    { name: 'applied, then reset; 429 to the replay', changes: [applied(resets), unapplied(answers(429))] },
    same(unknownAfter('c c', 1)),
    [targets],
  ],
  [{ name: 'applied, then reset, twice', changes: applied(resets) }, same(unknownAfter('c c', 2)), [targets]],
]

const by = (server: FaultServer, number: number, more: Readonly<Record<string, unknown>>) => {
  const before = server.stage.pulls.get(number)
  server.stage.pulls.set(number, {
    ...pull(number),
    ...before,
    stateChangedAt: iso(server.stage.now()),
    ...more,
  })
}
const setQueue = (queue: FaultOptions['queue']) => (server: FaultServer) => {
  server.stage.queue = queue ?? undefined
}
const lostOnce = [unapplied(resets)]

/** The rules that belong to one operation. */
const special: readonly (readonly [Change, Fault, Seen])[] = [
  [
    submit,
    {
      name: 'waits already, with another priority; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pull(7) } },
    },
    replayed,
  ],
  [
    submit,
    {
      name: 'waits already, as asked for; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pull(7, { priorityName: 'high', priorityValue: 10, noBatch: true }) } },
    },
    seen('c rrr', 0, 0, 'confirmed-by-read'),
  ],
  [
    submit,
    {
      name: 'waits already, with our priority but in batches; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pull(7, { priorityName: 'HIGH', priorityValue: 10 }) } },
    },
    replayed,
  ],
  [
    submit,
    {
      name: 'failed an hour ago; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pull(7, { state: 'failed', isCurrentlySubmittedToQueue: false }) } },
    },
    replayed,
  ],
  [
    submit,
    {
      name: 'reset before applying; somebody submits it with another priority',
      changes: [{ ...unapplied(resets), meanwhile: server => by(server, 7, {}) }],
    },
    unknownAfter('c rrr', 0),
  ],
  [
    submit,
    {
      name: 'applied, then reset; somebody cancels it at once',
      changes: [
        {
          ...applied(resets),
          meanwhile: server => by(server, 7, { state: 'cancelled', isCurrentlySubmittedToQueue: false }),
        },
      ],
    },
    unknownAfter('c rrr', 1),
  ],
  [
    cancel,
    {
      name: 'merged meanwhile; reset before applying',
      changes: [
        {
          ...unapplied(resets),
          meanwhile: server => by(server, 7, { state: 'merged', isCurrentlySubmittedToQueue: false }),
        },
      ],
    },
    seen('c rrr', 0, 6, 'not-applied'),
  ],
  [
    cancel,
    {
      name: 'applied, then reset; somebody submits it again',
      changes: [
        {
          ...applied(resets),
          meanwhile: server => by(server, 7, { state: 'pending', isCurrentlySubmittedToQueue: true }),
        },
      ],
    },
    unknownAfter('c rrr', 1),
  ],
  [
    cancel,
    { name: 'never submitted; reset before applying', changes: lostOnce, stage: { pulls: {} } },
    seen('c rrr', 0, 0, 'confirmed-by-read'),
  ],
  [
    cancel,
    {
      name: 'reset, applied after the readings; 404 to the replay',
      changes: lostOnce,
      readings: [
        works,
        works,
        {
          ...works,
          meanwhile: server => by(server, 7, { state: 'cancelled', isCurrentlySubmittedToQueue: false }),
        },
      ],
    },
    seen('c rrr c r', 0, 0, 'confirmed-by-read'),
  ],
  [
    cancel,
    {
      name: "applied, then reset; the service's clock is 3 h behind",
      changes: [applied(resets)],
      stage: { skew: -3 * 3_600_000 },
    },
    seen('c rrr', 1, 0, 'confirmed-by-read'),
  ],
  [
    cancel,
    {
      name: "reset before applying; submitted 1 h ago by the service's clock, which is 3 h ahead",
      changes: lostOnce,
      stage: { skew: 3 * 3_600_000, pulls: { 7: pull(7, { stateChangedAt: iso(noon + 2 * 3_600_000) }) } },
    },
    replayed,
  ],
  [
    restart,
    {
      name: "applied, then reset; the service's clock is 3 h behind",
      changes: [applied(resets)],
      stage: { skew: -3 * 3_600_000 },
    },
    seen('c rr', 1, 0, 'confirmed-by-read'),
  ],
  [
    restart,
    {
      name: 'a run began in the second of the sending; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pull(7, { state: 'testing', stateChangedAt: iso(noon) }) } },
    },
    unknownAfter('c rrr', 0),
  ],
  [
    restart,
    {
      name: '429 with Retry-After: 5; a run begins by itself meanwhile; then reset before applying',
      changes: [
        {
          ...unapplied(answers(429, '', { 'retry-after': '5' })),
          meanwhile: server => by(server, 7, { state: 'testing', stateChangedAt: iso(noon + 2_000) }),
        },
        unapplied(resets),
      ],
      stage: { pulls: { 7: pull(7) } },
    },
    unknownAfter('c c rrr', 0),
  ],
  [
    restart,
    {
      name: 'a run began 2 s before the sending; reset before applying; readings come 5 s after their Date',
      changes: lostOnce,
      readings: { ...works, dawdles: 5_000 },
      stage: { pulls: { 7: pull(7, { state: 'testing', stateChangedAt: iso(noon - 2_000) }) } },
    },
    unknownAfter('c rrr', 0),
  ],
  [
    restart,
    {
      name: "a run began 1 h before the sending; reset before applying; readings without a Date, the service's clock 3 h ahead",
      changes: lostOnce,
      readings: { ...works, show: withoutDate },
      stage: {
        skew: 3 * 3_600_000,
        pulls: { 7: pull(7, { state: 'testing', stateChangedAt: iso(noon + 2 * 3_600_000) }) },
      },
    },
    unknownAfter('c rrr', 0),
  ],
  [create, { name: '409: there already', stage: { queue: emptyQueue } }, refusedBefore],
  [
    create,
    {
      name: 'there already with other settings; reset before applying',
      changes: lostOnce,
      stage: { queue: emptyQueue },
    },
    seen('c rrr', 0, 6, 'not-applied'),
  ],
  [
    create,
    {
      name: 'there already with our settings; reset before applying',
      changes: lostOnce,
      stage: { queue: { ...emptyQueue, mode: 'PARALLEL', concurrency: 3 } },
    },
    seen('c r', 0, 0, 'confirmed-by-read'),
  ],
  [
    create,
    {
      name: 'reset; there with our settings after the readings; 409 to the replay',
      changes: lostOnce,
      readings: [
        works,
        works,
        {
          ...works,
          meanwhile: setQueue({ ...emptyQueue, mode: 'parallel', concurrency: 3 }),
        },
      ],
    },
    seen('c rrr c r', 0, 0, 'confirmed-by-read'),
  ],
  [
    create,
    {
      name: 'reset; there with other settings after the readings; 409 to the replay',
      changes: lostOnce,
      readings: [works, works, { ...works, meanwhile: setQueue(emptyQueue) }],
    },
    // The first sending may have made it, before somebody changed it.
    unknownAfter('c rrr c rrr', 0),
  ],
  [
    update,
    {
      name: 'reset before applying; somebody sets one of the two values',
      changes: [{ ...unapplied(resets), meanwhile: setQueue({ ...emptyQueue, batch: true }) }],
    },
    unknownAfter('c rrr', 0),
  ],
  [
    update,
    {
      name: 'applied, then reset; the queue is gone',
      changes: [{ ...applied(resets), meanwhile: setQueue(undefined) }],
    },
    unknownAfter('c rrr', 1),
  ],
  [
    update,
    {
      name: 'reset; the first takes effect after the readings, then one value is set back; 429 to the replay',
      changes: [unapplied(resets), unapplied(answers(429))],
      readings: [works, works, { ...works, meanwhile: setQueue({ ...emptyQueue, concurrency: 5 }) }],
    },
    unknownAfter('c rrr c rrr', 0),
  ],
  [
    remove,
    {
      name: 'reset before applying; holds pull requests',
      changes: lostOnce,
      stage: { pulls: { 7: pull(7) } },
    },
    seen('c rrr', 0, 6, 'not-applied'),
  ],
  [
    remove,
    { name: '409: holds pull requests', stage: { pulls: { 7: pull(7) } } },
    seen('c r', 0, 6, 'not-applied'),
  ],
  [
    remove,
    {
      name: 'reset; gone after the readings; 404 to the replay',
      changes: lostOnce,
      readings: [works, works, { ...works, meanwhile: setQueue(undefined) }],
    },
    seen('c rrr c rrr', 0, 0, 'confirmed-by-read'),
  ],
]

const rows: readonly Row[] = [
  ...[...common, ...afterwards].flatMap(([fault, expected, changes = all]) =>
    changes.map(change => ({ change, fault, expected: expected(change) })),
  ),
  ...special.map(([change, fault, expected]) => ({ change, fault, expected })),
]

/** What is said of the delivery. The service's own document is printed only where it answered. */
const deliveryOf = ({ code, documents: [document] }: Judged): string =>
  String(document?.delivery ?? (code === 0 && document?.concurrency === 5 ? 'confirmed' : '-'))

/** Runs a row against a server of its own. */
const observe = ({ change, fault }: Row) =>
  withFaults(
    {
      ...change.stage,
      ...fault.stage,
      script: {
        [change.operation]: fault.changes ?? [],
        ...(change.back === undefined ? {} : { [change.back]: fault.readings ?? [] }),
      },
    },
    async server => {
      const came = await run(server, `${change.line} --json ${fault.more ?? ''}`, { wordless: true })
      server.settle()
      const requests = server.log.filter(({ operation }) => operation === change.operation)
      return {
        came,
        host: server.host,
        /** Whether every copy of the change is the same, byte for byte, and on a connection of its own. */
        copies: new Set(requests.map(({ path, body }) => `${path} ${body}`)).size,
        shared: requests.some(({ nthOnSocket }) => nthOnSocket > 0),
        seen: seen(
          inLetters(operationsIn(server), change.operation),
          server.applied.length,
          came.code,
          deliveryOf(came),
        ),
      }
    },
  )

type Observed = Awaited<ReturnType<typeof observe>>
const kept = new Map<Row, Promise<Observed>>()
const observed = (row: Row): Promise<Observed> => {
  const standing = kept.get(row) ?? observe(row)
  kept.set(row, standing)
  return standing
}

describe.each(all)('unanswered writes: $operation', change => {
  for (const row of rows.filter(one => one.change === change)) {
    const { name } = row.fault
    test(name, async () => {
      const { came, copies, shared, seen } = await observed(row)
      expect(seen).toEqual(row.expected)
      expect({ shared, copies: copies < 2 }, 'the same bytes, each on a fresh connection').toEqual({
        shared: false,
        copies: true,
      })
      const [receipt, ...others] = came.documents
      expect(others).toEqual([])
      if (receipt?.delivery !== undefined)
        expect(receipt).toMatchObject({
          operation: change.operation,
          ok: came.code === 0,
          ...(came.code === 0 ? {} : { exit: came.code, message: came.sentence }),
        })
      if (came.code === 11 && change.back !== undefined)
        expect(came.hint, 'the command that tells').toMatch(tells[change.back] ?? /never/)
      expect(stranger.connections(), 'no redirect is followed').toBe(0)
    })
    if (row.expected.exit === 0) continue
    test(`${name}: says the host and the next step`, async () => {
      const { came, host } = await observed(row)
      judgeWords(came, { host })
    })
  }
})

const tells: Readonly<Record<string, RegExp>> = {
  [queue]: /mergeq queue get .*acme\/web.*main/,
  [record]: /mergeq pr get 7 .*acme\/web.*main/,
}

test('every write has rows in the table', () => {
  expect(all.map(({ operation }) => operation).sort()).toEqual([...changingOperations].sort())
})

const legend = `What was sent, what took effect and what was reported, for each fault and each change that meets it.
Requests: c is the change, r a reading of what it shows in. Applied: how often it took effect.
`

/** The rows of one fault, those that came out alike together. */
async function outcomesOf(name: string): Promise<readonly (readonly string[])[]> {
  const alike = new Map<string, string[]>()
  for (const row of rows.filter(({ fault }) => fault.name === name)) {
    const { requests, applied, exit, delivery } = (await observed(row)).seen
    const outcome = JSON.stringify([requests || '-', `${applied}`, `${exit}`, delivery])
    const [, word = ''] = row.change.line.split(' ')
    alike.set(outcome, [...(alike.get(outcome) ?? []), word])
  }
  return [...alike].map(([outcome, changes]) => [
    changes.length === all.length ? 'every change' : changes.join(' '),
    ...JSON.parse(outcome),
  ])
}

test('the table of all writes and faults', async () => {
  const head = ['CHANGE', 'REQUESTS', 'APPLIED', 'EXIT', 'DELIVERY']
  const blocks: (readonly [string, readonly (readonly string[])[]])[] = []
  for (const name of new Set(rows.map(({ fault }) => fault.name))) blocks.push([name, await outcomesOf(name)])
  const widths = [head, ...blocks.flatMap(([, lines]) => lines)].reduce<readonly number[]>(
    (widest, cells) => cells.map((cell, index) => Math.max(cell.length, widest[index] ?? 0)),
    [],
  )
  const drawn = (cells: readonly string[]) =>
    `  ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd()
  const text = blocks.map(([name, lines]) => [name, ...lines.map(drawn)].join('\n'))
  await expect([legend, drawn(head), ...text, ''].join('\n')).toMatchFileSnapshot(
    '../golden/unanswered-writes.txt',
  )
})

/** A fault with a name, so that a counterexample can be read. */
type Named = readonly [name: string, act: Act]

const changeFaults: readonly Named[] = [
  ['works', works],
  ['reset, not applied', unapplied(resets)],
  ['closed, not applied', unapplied(closes)],
  ['429, not applied', unapplied(answers(429))],
  ['503, not applied', unapplied(answers(503))],
  ['408, not applied', unapplied(answers(408))],
  ['422, not applied', unapplied(answers(422))],
  ['307, not applied', unapplied(elsewhere(307))],
  ['reset, applied', applied(resets)],
  ['503, applied', applied(answers(503))],
  ['408, applied', applied(answers(408))],
  ['cut, applied', applied(cuts)],
  ['half a document, applied', applied(answers(200, '{'))],
  ['web page, applied', applied(answers(200, page))],
  ['303, applied', applied(elsewhere(303))],
  ['reset, applied 1 s late', late(1_000, resets)],
  ['503, applied 5 s late', late(5_000, answers(503))],
]

const pageNotFound: Named = ['404 with a web page', applied(answers(404, page))]
const readingFaults: readonly Named[] = [
  pageNotFound,
  ['503', unapplied(answers(503))],
  ['429', unapplied(answers(429))],
  ['reset', unapplied(resets)],
  ['cut', applied(cuts)],
  ['401', unapplied(answers(401))],
  ['half a document', applied(answers(200, '{'))],
  ['web page', applied(answers(200, page))],
  ['redirect', applied(elsewhere(302))],
  ['nothing', applied(answers(200))],
]

interface Luck {
  readonly change: Change
  readonly changes: readonly Named[]
  readonly readings: readonly Named[]
  readonly retries: number
}

/** Whatever happens on the way, what is reported is what happened. */
async function staysHonest({ change, changes, readings, retries }: Luck): Promise<void> {
  const acts = (list: readonly Named[]) => list.map(([, act]) => act)
  const script = {
    [change.operation]: acts(changes),
    ...(change.back === undefined ? {} : { [change.back]: acts(readings) }),
  }
  await withFaults({ ...change.stage, script }, async server => {
    const came = await run(server, `${change.line} --json --retries ${retries}`, { wordless: true })
    server.settle()
    const copies = server.log.filter(({ operation }) => operation === change.operation)
    const delivery = deliveryOf(came)
    const [times, confirmed] = [server.applied.length, came.code === 0 ? 1 : 0]
    expect(copies.length, 'the allowed repeats, and at most one replay').toBeLessThanOrEqual(retries + 2)
    expect(new Set(copies.map(({ body }) => body.toString())).size).toBe(1)
    // Targets are sent again unread: the same list, so that twice is what once is.
    if (change === targets) expect(times, 'a sending and its replay').toBeLessThanOrEqual(2)
    else expect(times, 'applied at most once more than it is confirmed').toBeLessThanOrEqual(confirmed + 1)
    if (confirmed === 1 && change !== targets) expect(times, 'never twice when it is reported once').toBe(1)
    expect(/^confirmed(-by-read)?$/.test(delivery), 'confirmed is success').toBe(confirmed === 1)
    if (confirmed === 1) expect(times, 'confirmed was applied').toBeGreaterThan(0)
    if (delivery === 'not-applied') expect(times, 'not-applied was not').toBe(0)
    if (came.code === 11 || (came.code === 15 && copies.length === 1)) expect(delivery).toBe('unknown')
    expect(stranger.connections(), 'no redirect is followed').toBe(0)
  })
}

const lucks = (changes: readonly Change[]) =>
  fc.record({
    change: fc.constantFrom(...changes),
    changes: fc.array(fc.constantFrom(...changeFaults), { maxLength: 5 }),
    readings: fc.array(
      fc.oneof(
        { weight: 2, arbitrary: fc.constant<Named>(['works', works]) },
        fc.constantFrom(...readingFaults),
      ),
      { maxLength: 6 },
    ),
    retries: fc.constantFrom(0, 1, 3),
  })

/** Sequences that were reported wrongly once. */
const first = (luck: Partial<Luck> & Pick<Luck, 'change'>): [Luck] => [
  { changes: [], readings: [], retries: 3, ...luck },
]
const lost: Named = ['reset, not applied', unapplied(resets)]
const notFound = Array.from({ length: 6 }, () => pageNotFound)

describe('for any sequence of faults, the report says what happened', () => {
  test(
    'of the changes that can be read back',
    () =>
      fc.assert(fc.asyncProperty(lucks(readable), staysHonest), {
        numRuns: 300,
        examples: [
          first({ change: cancel, changes: [lost], readings: notFound }),
          first({ change: submit, changes: [lost], readings: notFound }),
        ],
      }),
    60_000,
  )

  test(
    'of the targets, which cannot',
    () =>
      fc.assert(fc.asyncProperty(lucks([targets]), staysHonest), {
        numRuns: 60,
        examples: [
          first({
            change: targets,
            changes: [
              ['reset, applied', applied(resets)],
              ['429, not applied', unapplied(answers(429))],
            ],
          }),
        ],
      }),
    60_000,
  )
})
