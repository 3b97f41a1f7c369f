import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { milestones, type WaitOutcome } from '../../src/domain/states.ts'
import { parseRepository } from '../../src/values/repository.ts'
import {
  afterReading,
  afterSubmission,
  beginAttempt,
  endWait,
  type SubmissionEvent,
  type WaitRules,
} from '../../src/wait/machine.ts'
import {
  isDue,
  type Step,
  type TrackedPullRequest,
  track,
  type WaitEnd,
  type WaitObservation,
  type WaitOptions,
  wasSubmitted,
} from '../../src/wait/wait-state.ts'
import { noon } from '../support/harness.ts'

// The rows are those of docs/contributing/waits.md.

const error = (message: string) => () => new MergeqError('not-found', message)
const errors: WaitRules['errors'] = {
  notInQueue: error('not in the queue'),
  onlyEarlierAttempt: error('only an earlier attempt'),
  notSubmitted: error('not submitted'),
  notInTime: error('not in time'),
  resultUnknown: error('result unknown'),
  mayStillBeQueued: error('may still be queued'),
}
/** What differs from a `pr land` that submits twice. */
interface Aim extends Partial<WaitOptions> {
  readonly attempts?: number
}
const rulesOf = ({ attempts = 2, ...options }: Aim): WaitRules => ({
  options: {
    until: 'merged',
    grace: 90_000,
    interval: 'auto',
    giveUpAfter: 1_800_000,
    failOnPaused: false,
    waitLimit: 3_600_000,
    stopsOnError: false,
    ...options,
  },
  submitOptions: { params: {}, attempts, resubmit: 'safe' },
  errors,
})

const place = { repo: parseRepository('acme/web'), targetBranch: 'main', pr: 7 }
const due = track(place, { isDue: true })
/** A pull request that the wait does not submit. */
const watched = track(place, { isDue: false })

type Event = (item: TrackedPullRequest, rules: WaitRules) => Step
const dueOnly = (item: TrackedPullRequest) => {
  if (!isDue(item)) throw new Error(`It is ${item.phase.name}.`)
  return item
}
const attemptAt =
  (record: JsonObject | undefined): Event =>
  (item, rules) => ({ item: beginAttempt(dueOnly(item), record, false, rules) })
const attempt = attemptAt(undefined)
const submission =
  (event: SubmissionEvent): Event =>
  (item, rules) =>
    afterSubmission(dueOnly(item), event, rules)
const sent = { from: noon, to: noon }
const acceptedAfter = (before: JsonObject | undefined) => submission({ type: 'accepted', sent, before })
const accepted = acceptedAfter(undefined)
const noResponse = new MergeqError('unknown-outcome', 'no response')
const unansweredAfter = (before: JsonObject | undefined, times = sent) =>
  submission({ type: 'unanswered', sent: times, before, failure: noResponse, isLast: false })
const unanswered = unansweredAfter(undefined)
const refused = submission({ type: 'refused', failure: noResponse })
/** Something is in the queue, after a record of an earlier attempt. */
const queuedAfter = (before: JsonObject) => submission({ type: 'in the queue', record: undefined, before })
const observe =
  (observation: WaitObservation): Event =>
  (item, rules) => {
    if (isDue(item)) throw new Error('It is due.')
    return afterReading(item, observation, false, rules)
  }
/** A reading so many seconds after the submission. */
const reading = (seconds: number, shown: JsonObject | undefined, position?: number): Event => {
  const at = noon + seconds * 1_000
  const notFound = shown === undefined ? noResponse : undefined
  const waited = seconds * 1_000
  return observe({ record: shown, position, at, askedAt: at, date: at, waited, notFound })
}
/** A reading of a service that has no clock. */
const undated = (seconds: number, record: JsonObject | undefined, position?: number): Event =>
  observe({ record, position, at: noon + seconds * 1_000, waited: seconds * 1_000 })
const over =
  (end: WaitEnd): Event =>
  (item, rules) =>
    endWait(item, end, rules)
const timedOut = over({ outcome: 'timed-out' })

const [head, other] = ['aaaaaaa', 'bbbbbbb']
const record = (state: string, seconds: number, more: JsonObject = {}): JsonObject => ({
  id: '0b9f',
  state,
  stateChangedAt: new Date(noon + seconds * 1_000).toISOString(),
  isCurrentlySubmittedToQueue: ['PENDING', 'TESTING'].includes(state),
  timeline: [],
  prSha: head,
  ...more,
})
const failed = record('FAILED', 5)
const doubtful = { timeline: [{ state: 'FAILED', reason: 'github_api_merge_already_in_progress' }] }

const run = (item: TrackedPullRequest, events: readonly Event[], aim: Aim = {}): Step =>
  events.reduce<Step>((step, event) => event(step.item, rulesOf(aim)), { item })

/** The phase, or how it ended, after events. */
function phaseAfter(events: readonly Event[], aim: Aim = {}, item = due): string {
  const { item: last, end } = run(item, events, aim)
  return end === undefined
    ? last.phase.name
    : [end.outcome, end.failure?.message, end.note].filter(Boolean).join(': ')
}

const submitted = [attempt, accepted]
const inDoubt = [attempt, unanswered]
const failedOnce = [...submitted, reading(6, failed)]
const notFound = over({ outcome: 'error', failure: new MergeqError('not-found', 'not found') })
const unavailable = over({ outcome: 'error', failure: new MergeqError('unavailable', 'no service') })

describe('what follows from events', () => {
  test.each<[string, readonly Event[], Aim?]>([
    ['due', []],
    ['unread', submitted],
    ['absent', [...submitted, reading(1, undefined)]],
    ['shown', [...submitted, reading(1, record('PENDING', 0.5))]],
    ['merged', [...submitted, reading(1, record('MERGED', -60))]],
    // A record that is older than the submission, at another head.
    ['absent', [...submitted, reading(1, record('PENDING', -60, { prSha: other }))], { head }],
    ['absent', [...submitted, reading(11, record('PENDING', -60, { prSha: other }))], { head }],
    [
      'error: only an earlier attempt',
      [...submitted, ...[1, 50, 91].map(second => reading(second, record('PENDING', -60, { prSha: other })))],
      { head },
    ],
    ['stale', [...submitted, reading(11, record('PENDING', 1, { prSha: other }))], { head }],
    // It was in the queue at the right head, and was pushed to since.
    [
      'stale',
      [attempt, acceptedAfter(record('PENDING', -60)), reading(11, record('PENDING', -60, { prSha: other }))],
      { head },
    ],
    ['absent', [...submitted, reading(1, record('FAILED', -60))]],
    // What was under test before the submission may be an earlier attempt.
    ['shown', [...submitted, reading(9, record('TESTING', -60))], { until: 'testing' }],
    ['reached', [...submitted, reading(10, record('TESTING', -60))], { until: 'testing' }],
    ['due', failedOnce],
    ['failed', [...failedOnce, attempt, accepted, reading(20, record('FAILED', 19))]],
    // A further submission that was accepted is what counts, and one that was not leaves the end before it.
    ['timed-out: result unknown', [...failedOnce, attempt, accepted, unavailable]],
    ['error: not found', [...failedOnce, attempt, accepted, notFound]],
    ['timed-out', [...failedOnce, attempt, accepted, timedOut]],
    ['error: no response', [...failedOnce, attempt, unanswered, unavailable]],
    ['failed: Attempt 2: not submitted', [...failedOnce, attempt, unanswered, notFound]],
    ['failed: Attempt 2: no service', [...failedOnce, unavailable]],
    ['failed', [...failedOnce, over({ outcome: 'pending' })]],
    ['failed: Attempt 2: no response', [...failedOnce, attempt, refused]],
    ['failed', [...failedOnce, timedOut]],
    ['error: not in time', [timedOut]],
    ['timed-out: result unknown', [...submitted, unavailable]],
    ['error: no response', [...inDoubt, timedOut]],
    ['error: not submitted', [...inDoubt, notFound]],
    ['timed-out', [...inDoubt, reading(1, record('PENDING', 0.5)), timedOut]],
  ])('%s (%#)', (phase, events, aim) => {
    expect(phaseAfter(events, aim)).toBe(phase)
  })

  test('what failed and may have merged stays in doubt for a minute, also while it is not found', () => {
    const first = [...submitted, reading(6, { ...failed, ...doubtful })]
    expect(phaseAfter(first)).toBe('doubtful')
    expect(phaseAfter([...first, reading(40, undefined)])).toBe('doubtful')
    expect(phaseAfter([...first, reading(40, undefined), reading(66, undefined)])).toBe('failed')
    expect(phaseAfter([...first, reading(40, record('MERGED', 39))])).toBe('merged')
    expect(phaseAfter([...first, unavailable])).toBe('failed')
  })

  test('so does what failed without its words, until they are read', () => {
    const { timeline: _, ...unread } = failed
    const first = [...submitted, reading(6, unread), reading(20, unread)]
    expect(phaseAfter(first)).toBe('doubtful')
    expect(phaseAfter([...first, reading(66, unread)])).toBe('failed')
    expect(phaseAfter([...first, timedOut])).toBe('failed')
    expect(phaseAfter([...first, reading(40, failed)])).toBe('due')
    expect(phaseAfter([...first, reading(40, record('MERGED', 39))])).toBe('merged')
  })

  test('a submission is said to be made as soon as a reading shows it', () => {
    const madeAfter = (...events: readonly Event[]) => wasSubmitted(run(due, events).item.attempt)
    expect(madeAfter(...inDoubt)).toBeNull()
    expect(madeAfter(...inDoubt, reading(1, record('PENDING', 0.5)))).toBe(true)
    expect(madeAfter(...inDoubt, notFound)).toBe(false)
  })

  test('what was submitted by this wait and is in the queue is cancelled at another head', () => {
    const moved = reading(11, record('PENDING', 1, { prSha: other }))
    const isCancelled = (events: readonly Event[]) => run(due, events, { head }).mustBeCancelled
    expect(isCancelled([...submitted, moved])).toBe(true)
    expect(isCancelled([attempt, acceptedAfter(record('PENDING', -60)), moved])).toBe(false)
  })
})

describe('what a reading shows', () => {
  const inQueue = { isCurrentlySubmittedToQueue: true }
  const left = { isCurrentlySubmittedToQueue: false }
  const unknown = { isCurrentlySubmittedToQueue: undefined }
  const outcomeAfter = (events: readonly Event[], aim: Aim = {}, item = due): WaitOutcome | undefined =>
    run(item, events, { attempts: 1, ...aim }).end?.outcome

  /** The outcome of a wait until each milestone; the wait goes on where none is named. */
  type Outcomes = Partial<Readonly<Record<(typeof milestones)[number], WaitOutcome>>>
  test.each<[state: string, more: object, outcomes: Outcomes]>([
    ['PENDING', inQueue, {}],
    ['TESTING', inQueue, { testing: 'reached' }],
    ['PENDING_FAILURE', inQueue, { testing: 'reached' }],
    ['TESTS_PASSED', inQueue, { 'tests-passed': 'reached', testing: 'reached' }],
    ['MERGED', left, { merged: 'merged', 'tests-passed': 'reached', testing: 'reached', left: 'left' }],
    ['merged', unknown, { merged: 'merged', 'tests-passed': 'reached', testing: 'reached', left: 'left' }],
    ['FAILED', inQueue, {}],
    ['FAILED', left, { merged: 'failed', 'tests-passed': 'failed', testing: 'failed', left: 'left' }],
    ['FAILED', unknown, { merged: 'failed', 'tests-passed': 'failed', testing: 'failed', left: 'left' }],
    ['CANCELLED', inQueue, {}],
    [
      'cancelled',
      left,
      { merged: 'cancelled', 'tests-passed': 'cancelled', testing: 'cancelled', left: 'left' },
    ],
    ['PUZZLED', inQueue, {}],
    ['PUZZLED', left, { left: 'left' }],
  ])('%s with %j', (state, more, outcomes) => {
    const found = milestones.map(until => {
      const event = reading(0, { ...record(state, 0), ...more })
      return [until, outcomeAfter([event], { until, attempts: 0 }, watched)]
    })
    expect(Object.fromEntries(found)).toEqual(outcomes)
  })

  test('a pull request that the queue lists is submitted, in any state', () => {
    expect(outcomeAfter([reading(0, record('FAILED', 0), 1)], {}, watched)).toBeUndefined()
    expect(outcomeAfter([reading(0, record('TESTING', 0), 1)], { until: 'testing' }, watched)).toBe('reached')
  })

  test.each<[string, string, WaitOutcome | undefined]>([
    ['4f2a9c1', '4f2a9c1d00', undefined],
    ['4F2A', '4f2a9c1d00', undefined],
    ['4f2a9c1d00', '4f2a', undefined],
    ['4f2a', '4f2b9c1d00', 'stale'],
    ['4f2a', '', undefined],
  ])('the requested head commit is %s, the current one %s', (wanted, prSha, outcome) => {
    const event = reading(0, record('TESTING', 0, { prSha }))
    expect(outcomeAfter([event], { head: wanted }, watched)).toBe(outcome)
  })

  test('a finished record that was there before is as good as not found, until the attempt shows', () => {
    const before = record('FAILED', 0)
    const first = [attempt, queuedAfter(before), undated(0, before)]
    const { item, change } = run(due, first)
    expect(item).toMatchObject({ phase: { absence: { since: 0 } }, seen: { unchanged: 0 } })
    expect(change).toBeUndefined()
    expect(outcomeAfter([...first, undated(90, before)])).toBe('error')
    const shown = [...first, undated(1, record('PENDING', 0))]
    expect(outcomeAfter([...shown, undated(2, before)])).toBeUndefined()
    for (const end of [record('FAILED', 0, { id: 'other' }), record('FAILED', 1), record('CANCELLED', 0)])
      expect(outcomeAfter([...first, undated(0, end)])).toBeDefined()
    const older = record('MERGED', -3_600)
    expect(outcomeAfter([...first, undated(0, older)])).toBeUndefined()
    expect(outcomeAfter([...first, undated(90, older)])).toBe('error')
  })

  test.each([
    ['PENDING', 40],
    ['FAILED', 50],
    ['FAILED', 200],
  ])('a record %s that is older than one before it changes nothing', (state, seconds) => {
    const events = [undated(30, record('TESTING', 30)), undated(seconds, record(state, 0))]
    const { item, change, end } = run(watched, events)
    expect(item).toMatchObject({ phase: { name: 'shown' }, seen: { state: 'TESTING', unchanged: 1 } })
    expect([change, end]).toEqual([undefined, undefined])
  })

  test('a record of the previous submission does not count, even after the queue listed it', () => {
    const before = record('FAILED', 0, { prSha: other })
    const first = [attempt, queuedAfter(before), undated(0, before)]
    const again = [...first, undated(1, { state: 'PENDING' }, 1), undated(2, before)]
    expect(outcomeAfter(again, { head })).toBeUndefined()
    const { change, end } = run(due, [...again, undated(3, record('MERGED', 3))], { head })
    expect({ change, end }).toMatchObject({
      change: { from: 'PENDING', to: 'MERGED' },
      end: { outcome: 'merged' },
    })
    // Without the moment nothing tells the two apart: then what the queue lists is the end of the old one.
    const { stateChangedAt: _, ...bare } = before
    const seen = [attempt, queuedAfter(bare), undated(0, { state: 'PENDING' }, 1)]
    expect(outcomeAfter([...seen, undated(0, { ...bare, prSha: head })], { head })).toBe('failed')
  })

  test.each(
    ['FAILED', 'CANCELLED'].flatMap(state =>
      [0, 3_600, -3_600].flatMap(skew => [accepted, unanswered].map(event => ({ state, skew, event }))),
    ),
  )('a state from before the submission does not count, by the clock of the service: %j', how => {
    const { state, skew, event } = how
    /** The outcome after several readings, a second apart, the first one at `at`. */
    const outcomeAt = (at: number, changedAt: number, readings: number) => {
      const shown = record(state, changedAt + skew)
      const events = Array.from({ length: readings }, (_, index) => {
        const now = noon + (at + index) * 1_000
        return observe({ record: shown, at: now, waited: 0, date: now + skew * 1_000 })
      })
      return outcomeAfter([attempt, event, ...events])
    }
    expect(outcomeAt(60, -60, 4)).toBeUndefined()
    // The response may have come later than the end.
    expect(outcomeAt(5, 2, 1)).toBe(state.toLowerCase())
    // In the second of the sending it may be older: three readings must show it.
    expect([1, 2, 3].map(readings => outcomeAt(5, 0, readings))).toEqual([
      undefined,
      undefined,
      state.toLowerCase(),
    ])
  })

  test('an end that may be of the second before the sending does not show that a submission was made', () => {
    const before = record('TESTS_PASSED', -3_600)
    const times = { from: noon + 20, to: noon + 500 }
    const made = submission({ type: 'accepted', sent: times, before })
    /** After how many seconds the end counts; the responses take 20 ms, so that the second of the sending is open. */
    const countsAfter = (event: Event): number | undefined => {
      const readings = Array.from({ length: 59 }, (_, index) => {
        const date = noon + (index + 1) * 1_000
        const waited = date - noon
        return observe({ record: record('FAILED', -1), askedAt: date + 30, at: date + 50, date, waited })
      })
      const index = readings.findIndex(
        (_, last) => outcomeAfter([attempt, event, ...readings.slice(0, last + 1)]) !== undefined,
      )
      return index < 0 ? undefined : index + 1
    }
    expect(countsAfter(made)).toBe(11)
    expect(countsAfter(unansweredAfter(before, times))).toBeUndefined()
  })

  test('a merge counts, whenever it was, unless it is of another head', () => {
    const before = acceptedAfter(record('PENDING', -60))
    const merged = (seconds: number) => reading(1, record('MERGED', seconds))
    expect(outcomeAfter([attempt, before, merged(-5)])).toBe('merged')
    expect(outcomeAfter([attempt, before, merged(-3_600)])).toBe('merged')
    expect(outcomeAfter([attempt, before, merged(0)], { head: `${head}d` })).toBe('merged')
    expect(outcomeAfter([attempt, before, merged(0)], { head: other })).toBe('stale')
    // `pr land` kept the head that it submitted; a head that only moved does not end it.
    const kept = attemptAt({ prSha: other })
    expect(outcomeAfter([kept, before, merged(0)])).toBe('stale')
    expect(outcomeAfter([kept, before, reading(1, record('TESTING', 0))])).toBeUndefined()
  })

  test.each<[state: string, seconds: number | undefined, isMade: boolean, mayBeVisible?: boolean]>([
    ['TESTING', 0, true],
    ['TESTING', -2, false],
    ['TESTING', undefined, false, true],
    ['CANCELLED', 0, false, true],
    ['CANCELLED', 2, true],
    ['CANCELLED', -2, false, false],
    ['FAILED', -60, false, false],
  ])('%s, dated %j seconds after it, shows a submission or not: %j', (state, seconds, isMade, visible) => {
    const shown = record(state, seconds ?? 0, seconds === undefined ? { stateChangedAt: '' } : {})
    const events = [attempt, unansweredAfter(record('FAILED', -60)), reading(1, shown)]
    const { attempt: found } = run(due, events).item
    expect(found.isMade).toBe(isMade)
    if (visible !== undefined) expect(found.doubt?.mayBeVisible).toBe(visible)
  })

  test('what may be visible stays so when the record from before the submission is shown again', () => {
    const before = record('FAILED', -60)
    const events = [attempt, unansweredAfter(before), reading(1, record('CANCELLED', 0)), reading(2, before)]
    expect(run(due, events).item.attempt.doubt?.mayBeVisible).toBe(true)
  })

  test('a submission that is not found counts as missing after three readings, whatever the grace period', () => {
    const missing = undated(0, undefined)
    const outcomes = [1, 2, 3].map(readings =>
      outcomeAfter([...submitted, ...Array(readings).fill(missing)], { grace: 0 }),
    )
    expect(outcomes).toEqual([undefined, undefined, 'error'])
    expect(outcomeAfter([missing], { grace: 0 }, watched)).toBe('error')
  })
})

test('the page about waits names each event, each phase and each kind of evidence', () => {
  const page = readFileSync('docs/contributing/waits.md', 'utf8')
  const sources = ['machine', 'wait-state', 'evidence'].map(name =>
    readFileSync(`src/wait/${name}.ts`, 'utf8'),
  )
  const named = sources.flatMap(text =>
    [...text.matchAll(/readonly (?:type|name): '([^']+)'|^ {2}\| '([^']+)'$/gm)].map(
      ([, type, evidence]) => type ?? evidence,
    ),
  )
  expect(new Set(named).size).toBeGreaterThan(18)
  expect(named.filter(name => !page.includes(`\`${name}\``))).toEqual([])
})
