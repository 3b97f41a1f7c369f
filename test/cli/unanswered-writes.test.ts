import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { emptyQueue, iso, pullRequest, writeOperationNames } from '../support/fake-queue.ts'
import {
  type FaultServer,
  type FaultServerOptions,
  startUnusedServer,
  withFaultServer,
} from '../support/fault-server.ts'
import { type CheckedOutcome, checkFailureText, runAndCheck } from '../support/fault-server-runs.ts'
import { noon } from '../support/harness.ts'
import {
  type Behavior,
  closeConnection,
  neverRespond,
  normalBehavior,
  type Responder,
  resetConnection,
  respondWith,
  truncateBody,
  withEffect,
  withLateEffect,
  withoutDate,
  withoutEffect,
} from '../support/responders.ts'
import { operationNames } from '../support/retries.ts'
import { inLetters } from '../support/unanswered-writes.ts'

/** A change, what is typed for it, what it is read back by, and the stage on which it is done. */
interface Change {
  readonly operation: string
  readonly line: string
  /** The operation that reads it back; none where nothing can tell. */
  readonly back?: string
  readonly stage?: FaultServerOptions
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
  stage: { pulls: { 7: pullRequest(7) } },
}
const restart: Change = {
  operation: 'restartTestsOnPullRequest',
  line: 'pr restart 7',
  back: record,
  stage: { pulls: { 7: pullRequest(7, { state: 'testing' }) } },
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
  readonly changes?: Behavior | readonly Behavior[]
  readonly readings?: Behavior | readonly Behavior[]
  readonly more?: string
  readonly stage?: FaultServerOptions
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

const stranger = await startUnusedServer()
afterAll(() => stranger.close())
const elsewhere = (status: number): Responder =>
  respondWith(status, '', { location: `${stranger.origin}/v1/submitPullRequest` })
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
  [
    { name: '429, then good', changes: [withoutEffect(respondWith(429))] },
    same(seen('c c', 1, 0, 'confirmed')),
  ],
  [
    {
      name: '429 with Retry-After: 2, always',
      changes: withoutEffect(respondWith(429, '', { 'retry-after': '2' })),
    },
    same(seen('c c c c', 0, 7, 'not-applied')),
  ],
  [
    { name: '429, --retries 0', changes: withoutEffect(respondWith(429)), more: '--retries 0' },
    same(seen('c', 0, 7, 'not-applied')),
  ],
  [{ name: '422', changes: withoutEffect(respondWith(422, 'no such thing')) }, same(refusedBefore)],
  [{ name: '401', changes: withoutEffect(respondWith(401)) }, same(seen('c', 0, 4, 'not-applied'))],
  [
    { name: '307 to another host, not applied', changes: withoutEffect(elsewhere(307)) },
    same(seen('c', 0, 15, 'unknown')),
  ],
  [
    { name: '303 to another host, applied', changes: withEffect(elsewhere(303)) },
    same(seen('c', 1, 15, 'unknown')),
  ],
  [{ name: 'reset before applying', changes: [withoutEffect(resetConnection)] }, whenNotApplied],
  [{ name: 'closed before applying', changes: [withoutEffect(closeConnection)] }, whenNotApplied],
  [{ name: '503, not applied', changes: [withoutEffect(respondWith(503))] }, whenNotApplied],
  [{ name: '408, not applied', changes: [withoutEffect(respondWith(408))] }, whenNotApplied],
  [{ name: 'reset before applying, always', changes: withoutEffect(resetConnection) }, whenNeverApplied],
  [{ name: '503, not applied, always', changes: withoutEffect(respondWith(503)) }, whenNeverApplied],
  [{ name: 'applied, then reset', changes: [withEffect(resetConnection)] }, whenApplied],
  [{ name: 'applied, never answered', changes: [withEffect(neverRespond)], more: brief }, whenApplied],
  [{ name: 'applied, then 503', changes: [withEffect(respondWith(503))] }, whenApplied],
  [{ name: 'applied, then 408', changes: [withEffect(respondWith(408))] }, whenApplied],
  [{ name: 'applied, 2xx cut', changes: [withEffect(truncateBody)] }, whenApplied],
  [
    { name: 'applied, 200 with half a document', changes: [withEffect(respondWith(200, '{"state":'))] },
    whenApplied,
  ],
  [{ name: 'applied, 200 with a web page', changes: [withEffect(respondWith(200, page))] }, whenApplied],
  [
    { name: 'applied 1.5 s late, reset at once', changes: [withLateEffect(1_500, resetConnection)] },
    change => {
      if (change === targets) return seen('c c', 2, 0, 'confirmed')
      // What is gone has no date: it is looked for twice more.
      const requests = change === remove ? 'c rrrr' : change === restart ? 'c rrr' : 'c rr'
      return seen(requests, 1, 0, 'confirmed-by-read')
    },
  ],
  [
    // Nobody can tell this from a change that was lost. What two of them do is what one does.
    { name: 'applied 10 s late, reset at once', changes: [withLateEffect(10_000, resetConnection)] },
    change => {
      if (change === restart) return unknownAfter('c rrr', 1)
      if (change === targets) return seen('c c', 2, 0, 'confirmed')
      return { ...replayed, applied: change === submit || change === update ? 2 : 1 }
    },
  ],
  [
    {
      name: 'reset before applying, --retries 0',
      changes: withoutEffect(resetConnection),
      more: '--retries 0',
    },
    same(unknownAfter('c', 0)),
  ],
  [
    { name: 'applied, then reset, --retries 0', changes: withEffect(resetConnection), more: '--retries 0' },
    same(unknownAfter('c', 1)),
  ],
]

const readable = all.filter(change => change !== targets)
const replayable = readable.filter(change => change !== restart)
const failing = withoutEffect(respondWith(503))

/** What can befall the reading and the replay. */
const afterwards: typeof common = [
  [
    {
      name: 'reset before applying; no reading answers',
      changes: withoutEffect(resetConnection),
      readings: failing,
    },
    same(unknownAfter('c rrrrrr', 0)),
    readable,
  ],
  [
    {
      name: 'applied, then reset; no reading answers',
      changes: withEffect(resetConnection),
      readings: failing,
    },
    same(unknownAfter('c rrrrrr', 1)),
    readable,
  ],
  [
    {
      name: 'applied, then reset; the token is refused from then on',
      changes: withEffect(resetConnection),
      readings: withoutEffect(respondWith(401)),
    },
    same(unknownAfter('c rrr', 1)),
    readable,
  ],
  [
    {
      name: 'reset before applying; one reading of three fails, and its repeat',
      changes: withoutEffect(resetConnection),
      readings: [normalBehavior, failing, failing],
    },
    same(unknownAfter('c rrrr', 0)),
    readable,
  ],
  [
    {
      name: 'reset before applying; one reading of three fails by chance',
      changes: withoutEffect(resetConnection),
      readings: [normalBehavior, failing],
    },
    same(seen('c rrrr c rrr', 0, 7, 'not-applied')),
    replayable,
  ],
  [
    {
      name: 'applied, then reset; the first reading fails',
      changes: [withEffect(resetConnection)],
      readings: [failing],
    },
    change => {
      const requests = endsUndated(change.operation) ? 'c rrrr' : change === restart ? 'c rrr' : 'c rr'
      return seen(requests, 1, 0, 'confirmed-by-read')
    },
    readable,
  ],
  [
    {
      name: 'applied, then reset; a web page to the readings',
      changes: [withEffect(resetConnection)],
      readings: withoutEffect(respondWith(200, page)),
    },
    same(unknownAfter('c rrrrrr', 1)),
    readable,
  ],
  [
    {
      name: 'reset before applying; 404 with a web page to the readings',
      changes: withoutEffect(resetConnection),
      readings: withoutEffect(respondWith(404, page)),
    },
    same(unknownAfter('c rrr', 0)),
    readable,
  ],
  [
    {
      name: 'reset before applying; readings take 21 s each',
      changes: [withoutEffect(resetConnection)],
      readings: { ...normalBehavior, delayBeforeReply: 21_000 },
    },
    same(unknownAfter('c rrr', 0)),
    readable,
  ],
  [
    {
      name: 'reset before applying; 422 to the replay',
      changes: [withoutEffect(resetConnection), withoutEffect(respondWith(422))],
    },
    same(seen('c rrr c rrr', 0, 6, 'not-applied')),
    replayable,
  ],
  [
    {
      name: 'reset before applying; 429 to the replay',
      changes: [withoutEffect(resetConnection), withoutEffect(respondWith(429))],
    },
    same(seen('c rrr c rrr', 0, 7, 'not-applied')),
    replayable,
  ],
  [
    {
      // What the reading says of the delivery stands; the answer to the replay gives the exit code.
      name: 'reset before applying; 307 to the replay',
      changes: [withoutEffect(resetConnection), withoutEffect(elsewhere(307))],
    },
    same(seen('c rrr c rrr', 0, 15, 'not-applied')),
    replayable,
  ],
  [
    {
      name: 'reset before applying; replay applied, then reset',
      changes: [withoutEffect(resetConnection), withEffect(resetConnection)],
    },
    change => seen(change === remove ? 'c rrr c rrr' : 'c rrr c r', 1, 0, 'confirmed-by-read'),
    replayable,
  ],
  [
    {
      name: 'reset before applying; replay reset, then no reading answers',
      changes: withoutEffect(resetConnection),
      readings: [normalBehavior, normalBehavior, normalBehavior, ...Array.from({ length: 6 }, () => failing)],
    },
    same(unknownAfter('c rrr c rrrrrr', 0)),
    replayable,
  ],
  [
    {
      name: 'reset before applying; nothing listens at the replay',
      changes: [withoutEffect(resetConnection)],
      readings: [normalBehavior, normalBehavior, { ...normalBehavior, closesPort: true }],
    },
    same(unknownAfter('c rrr', 0)),
    replayable,
  ],
  [
    {
      name: 'applied 8 s late, reset at once; 429 to the replay, then no reading answers',
      changes: [withLateEffect(8_000, resetConnection), withoutEffect(respondWith(429))],
      readings: [normalBehavior, normalBehavior, normalBehavior, ...Array.from({ length: 6 }, () => failing)],
    },
    same(unknownAfter('c rrr c rrrrrr', 1)),
    replayable,
  ],
  [
    {
      name: 'applied, then reset; 422 to the replay',
      changes: [withEffect(resetConnection), withoutEffect(respondWith(422))],
    },
    same(unknownAfter('c c', 1)),
    [targets],
  ],
  [
    {
      name: 'applied, then reset; 429 to the replay',
      changes: [withEffect(resetConnection), withoutEffect(respondWith(429))],
    },
    same(unknownAfter('c c', 1)),
    [targets],
  ],
  [
    { name: 'applied, then reset, twice', changes: withEffect(resetConnection) },
    same(unknownAfter('c c', 2)),
    [targets],
  ],
]

const by = (server: FaultServer, number: number, more: Readonly<Record<string, unknown>>) => {
  const before = server.data.pulls.get(number)
  server.data.pulls.set(number, {
    ...pullRequest(number),
    ...before,
    stateChangedAt: iso(server.data.now()),
    ...more,
  })
}
const setQueue = (queue: FaultServerOptions['queue']) => (server: FaultServer) => {
  server.data.queue = queue ?? undefined
}
const lostOnce = [withoutEffect(resetConnection)]

/** The rules that belong to one operation. */
const special: readonly (readonly [Change, Fault, Seen])[] = [
  [
    submit,
    {
      name: 'waits already, with another priority; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pullRequest(7) } },
    },
    replayed,
  ],
  [
    submit,
    {
      name: 'waits already, as asked for; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pullRequest(7, { priorityName: 'high', priorityValue: 10, noBatch: true }) } },
    },
    seen('c rrr', 0, 0, 'confirmed-by-read'),
  ],
  [
    submit,
    {
      name: 'waits already, with our priority but in batches; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pullRequest(7, { priorityName: 'HIGH', priorityValue: 10 }) } },
    },
    replayed,
  ],
  [
    submit,
    {
      name: 'failed an hour ago; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pullRequest(7, { state: 'failed', isCurrentlySubmittedToQueue: false }) } },
    },
    replayed,
  ],
  [
    submit,
    {
      name: 'reset before applying; somebody submits it with another priority',
      changes: [{ ...withoutEffect(resetConnection), beforeReply: server => by(server, 7, {}) }],
    },
    unknownAfter('c rrr', 0),
  ],
  [
    submit,
    {
      name: 'applied, then reset; somebody cancels it at once',
      changes: [
        {
          ...withEffect(resetConnection),
          beforeReply: server => by(server, 7, { state: 'cancelled', isCurrentlySubmittedToQueue: false }),
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
          ...withoutEffect(resetConnection),
          beforeReply: server => by(server, 7, { state: 'merged', isCurrentlySubmittedToQueue: false }),
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
          ...withEffect(resetConnection),
          beforeReply: server => by(server, 7, { state: 'pending', isCurrentlySubmittedToQueue: true }),
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
        normalBehavior,
        normalBehavior,
        {
          ...normalBehavior,
          beforeReply: server => by(server, 7, { state: 'cancelled', isCurrentlySubmittedToQueue: false }),
        },
      ],
    },
    seen('c rrr c r', 0, 0, 'confirmed-by-read'),
  ],
  [
    cancel,
    {
      name: "applied, then reset; the service's clock is 3 h behind",
      changes: [withEffect(resetConnection)],
      stage: { skew: -3 * 3_600_000 },
    },
    seen('c rrr', 1, 0, 'confirmed-by-read'),
  ],
  [
    cancel,
    {
      name: "reset before applying; submitted 1 h ago by the service's clock, which is 3 h ahead",
      changes: lostOnce,
      stage: {
        skew: 3 * 3_600_000,
        pulls: { 7: pullRequest(7, { stateChangedAt: iso(noon + 2 * 3_600_000) }) },
      },
    },
    replayed,
  ],
  [
    restart,
    {
      name: "applied, then reset; the service's clock is 3 h behind",
      changes: [withEffect(resetConnection)],
      stage: { skew: -3 * 3_600_000 },
    },
    seen('c rr', 1, 0, 'confirmed-by-read'),
  ],
  [
    restart,
    {
      name: 'a run began in the second of the sending; reset before applying',
      changes: lostOnce,
      stage: { pulls: { 7: pullRequest(7, { state: 'testing', stateChangedAt: iso(noon) }) } },
    },
    unknownAfter('c rrr', 0),
  ],
  [
    restart,
    {
      name: '429 with Retry-After: 5; a run begins by itself meanwhile; then reset before applying',
      changes: [
        {
          ...withoutEffect(respondWith(429, '', { 'retry-after': '5' })),
          beforeReply: server => by(server, 7, { state: 'testing', stateChangedAt: iso(noon + 2_000) }),
        },
        withoutEffect(resetConnection),
      ],
      stage: { pulls: { 7: pullRequest(7) } },
    },
    unknownAfter('c c rrr', 0),
  ],
  [
    restart,
    {
      name: 'a run began 2 s before the sending; reset before applying; readings come 5 s after their Date',
      changes: lostOnce,
      readings: { ...normalBehavior, delayAfterDate: 5_000 },
      stage: { pulls: { 7: pullRequest(7, { state: 'testing', stateChangedAt: iso(noon - 2_000) }) } },
    },
    unknownAfter('c rrr', 0),
  ],
  [
    restart,
    {
      name: "a run began 1 h before the sending; reset before applying; readings without a Date, the service's clock 3 h ahead",
      changes: lostOnce,
      readings: { ...normalBehavior, respond: withoutDate },
      stage: {
        skew: 3 * 3_600_000,
        pulls: { 7: pullRequest(7, { state: 'testing', stateChangedAt: iso(noon + 2 * 3_600_000) }) },
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
        normalBehavior,
        normalBehavior,
        {
          ...normalBehavior,
          beforeReply: setQueue({ ...emptyQueue, mode: 'parallel', concurrency: 3 }),
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
      readings: [normalBehavior, normalBehavior, { ...normalBehavior, beforeReply: setQueue(emptyQueue) }],
    },
    // The first sending may have made it, before somebody changed it.
    unknownAfter('c rrr c rrr', 0),
  ],
  [
    update,
    {
      name: 'reset before applying; somebody sets one of the two values',
      changes: [{ ...withoutEffect(resetConnection), beforeReply: setQueue({ ...emptyQueue, batch: true }) }],
    },
    unknownAfter('c rrr', 0),
  ],
  [
    update,
    {
      name: 'applied, then reset; the queue is gone',
      changes: [{ ...withEffect(resetConnection), beforeReply: setQueue(undefined) }],
    },
    unknownAfter('c rrr', 1),
  ],
  [
    update,
    {
      name: 'reset; the first takes effect after the readings, then one value is set back; 429 to the replay',
      changes: [withoutEffect(resetConnection), withoutEffect(respondWith(429))],
      readings: [
        normalBehavior,
        normalBehavior,
        { ...normalBehavior, beforeReply: setQueue({ ...emptyQueue, concurrency: 5 }) },
      ],
    },
    unknownAfter('c rrr c rrr', 0),
  ],
  [
    remove,
    {
      name: 'reset before applying; holds pull requests',
      changes: lostOnce,
      stage: { pulls: { 7: pullRequest(7) } },
    },
    seen('c rrr', 0, 6, 'not-applied'),
  ],
  [
    remove,
    { name: '409: holds pull requests', stage: { pulls: { 7: pullRequest(7) } } },
    seen('c r', 0, 6, 'not-applied'),
  ],
  [
    remove,
    {
      name: 'reset; gone after the readings; 404 to the replay',
      changes: lostOnce,
      readings: [normalBehavior, normalBehavior, { ...normalBehavior, beforeReply: setQueue(undefined) }],
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
const deliveryOf = ({ code, documents: [document] }: CheckedOutcome): string =>
  String(document?.delivery ?? (code === 0 && document?.concurrency === 5 ? 'confirmed' : '-'))

/** Runs a row against a server of its own. */
const observe = ({ change, fault }: Row) =>
  withFaultServer(
    {
      ...change.stage,
      ...fault.stage,
      script: {
        [change.operation]: fault.changes ?? [],
        ...(change.back === undefined ? {} : { [change.back]: fault.readings ?? [] }),
      },
    },
    async server => {
      const came = await runAndCheck(server, `${change.line} --json ${fault.more ?? ''}`, {
        skipFailureText: true,
      })
      server.applyLateEffects()
      const requests = server.log.filter(({ operation }) => operation === change.operation)
      return {
        came,
        host: server.host,
        /** Whether every copy of the change is the same, byte for byte, and on a connection of its own. */
        copies: new Set(requests.map(({ path, body }) => `${path} ${body}`)).size,
        shared: requests.some(({ nthOnSocket }) => nthOnSocket > 0),
        seen: seen(
          inLetters(operationNames(server), change.operation),
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
    // Some wait in real time for an answer that never comes.
    test.concurrent(name, async () => {
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
        expect(came.hint, 'the command that shows the outcome').toMatch(tells[change.back] ?? /never/)
      expect(stranger.connections(), 'no redirect is followed').toBe(0)
    })
    if (row.expected.exit === 0) continue
    test.concurrent(`${name}: names the host and the next step`, async () => {
      const { came, host } = await observed(row)
      checkFailureText(came, { host })
    })
  }
})

const tells: Readonly<Record<string, RegExp>> = {
  [queue]: /mergeq queue get$/,
  [record]: /mergeq pr get 7$/,
}

test('every write has rows in the table', () => {
  expect(all.map(({ operation }) => operation).sort()).toEqual([...writeOperationNames].sort())
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
type Named = readonly [name: string, act: Behavior]

const changeFaults: readonly Named[] = [
  ['works', normalBehavior],
  ['reset, not applied', withoutEffect(resetConnection)],
  ['closed, not applied', withoutEffect(closeConnection)],
  ['429, not applied', withoutEffect(respondWith(429))],
  ['503, not applied', withoutEffect(respondWith(503))],
  ['408, not applied', withoutEffect(respondWith(408))],
  ['422, not applied', withoutEffect(respondWith(422))],
  ['307, not applied', withoutEffect(elsewhere(307))],
  ['reset, applied', withEffect(resetConnection)],
  ['503, applied', withEffect(respondWith(503))],
  ['408, applied', withEffect(respondWith(408))],
  ['cut, applied', withEffect(truncateBody)],
  ['half a document, applied', withEffect(respondWith(200, '{'))],
  ['web page, applied', withEffect(respondWith(200, page))],
  ['303, applied', withEffect(elsewhere(303))],
  ['reset, applied 1 s late', withLateEffect(1_000, resetConnection)],
  ['503, applied 5 s late', withLateEffect(5_000, respondWith(503))],
]

const pageNotFound: Named = ['404 with a web page', withEffect(respondWith(404, page))]
const readingFaults: readonly Named[] = [
  pageNotFound,
  ['503', withoutEffect(respondWith(503))],
  ['429', withoutEffect(respondWith(429))],
  ['reset', withoutEffect(resetConnection)],
  ['cut', withEffect(truncateBody)],
  ['401', withoutEffect(respondWith(401))],
  ['half a document', withEffect(respondWith(200, '{'))],
  ['web page', withEffect(respondWith(200, page))],
  ['redirect', withEffect(elsewhere(302))],
  ['nothing', withEffect(respondWith(200))],
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
  await withFaultServer({ ...change.stage, script }, async server => {
    const came = await runAndCheck(server, `${change.line} --json --retries ${retries}`, {
      skipFailureText: true,
    })
    server.applyLateEffects()
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
        { weight: 2, arbitrary: fc.constant<Named>(['works', normalBehavior]) },
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
const lost: Named = ['reset, not applied', withoutEffect(resetConnection)]
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
              ['reset, applied', withEffect(resetConnection)],
              ['429, not applied', withoutEffect(respondWith(429))],
            ],
          }),
        ],
      }),
    60_000,
  )
})
