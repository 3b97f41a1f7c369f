import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { parseRepository } from '../../src/values/repository.ts'
import { advance, type WaitEvent, type WaitRules } from '../../src/wait/machine.ts'
import {
  endOf,
  type TrackedPullRequest,
  track,
  type WaitEnd,
  wasSubmitted,
} from '../../src/wait/wait-state.ts'
import { noon } from '../support/harness.ts'

// The rows are those of docs/contributing/waits.md.

const error = (message: string) => () => new MergeqError('not-found', message)
const rules: WaitRules = {
  until: 'merged',
  grace: 90_000,
  waitLimit: 3_600_000,
  failOnPaused: false,
  attempts: 2,
  keepsHead: true,
  errors: {
    notInQueue: error('not in the queue'),
    onlyEarlierAttempt: error('only an earlier attempt'),
    notSubmitted: error('not submitted'),
    notInTime: error('not in time'),
    resultUnknown: error('result unknown'),
    mayStillBeQueued: error('may still be queued'),
  },
}
const due = track({ repo: parseRepository('acme/web'), targetBranch: 'main', pr: 7 }, { isDue: true })
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
const attempt = { type: 'attempt', record: undefined, isQueued: false } as const
const accepted: WaitEvent = { type: 'accepted', sent: { from: noon, to: noon }, before: undefined }
const noResponse = new MergeqError('unknown-outcome', 'no response')
const unanswered: WaitEvent = {
  type: 'unanswered',
  sent: { from: noon, to: noon },
  before: undefined,
  failure: noResponse,
  isLast: false,
}
/** A reading so many seconds after the submission. */
const reading = (seconds: number, shown: JsonObject | undefined): WaitEvent => {
  const at = noon + seconds * 1_000
  const notFound = shown === undefined ? noResponse : undefined
  const observation = { record: shown, at, askedAt: at, date: at, waited: seconds * 1_000, notFound }
  return { type: 'reading', observation, isFirstRound: false }
}
const over = (end: WaitEnd): WaitEvent => ({ type: 'over', end })
const timedOut = over({ outcome: 'timed-out' })
const failed = record('FAILED', 5)
const doubtful = { timeline: [{ state: 'FAILED', reason: 'github_api_merge_already_in_progress' }] }

const itemAfter = (events: readonly WaitEvent[], more: Partial<WaitRules> = {}): TrackedPullRequest =>
  events.reduce((item, event) => advance(item, event, { ...rules, ...more }).item, due)

/** The phase, or how it ended, after events. */
function phaseAfter(events: readonly WaitEvent[], more: Partial<WaitRules> = {}): string {
  const item = itemAfter(events, more)
  const end = endOf(item)
  return end === undefined
    ? item.phase.name
    : [end.outcome, end.failure?.message, end.note].filter(Boolean).join(': ')
}

const submitted = [attempt, accepted]
const inDoubt = [attempt, unanswered]
const failedOnce = [...submitted, reading(6, failed)]
const notFound = { outcome: 'error', failure: new MergeqError('not-found', 'not found') } as const
const unavailable = { outcome: 'error', failure: new MergeqError('unavailable', 'no service') } as const

describe('what follows from events', () => {
  test.each<[string, readonly WaitEvent[], Partial<WaitRules>?]>([
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
      [
        attempt,
        { ...accepted, before: record('PENDING', -60) },
        reading(11, record('PENDING', -60, { prSha: other })),
      ],
      { head },
    ],
    ['absent', [...submitted, reading(1, record('FAILED', -60))]],
    ['due', failedOnce],
    ['failed', [...failedOnce, attempt, accepted, reading(20, record('FAILED', 19))]],
    // A further submission that was accepted is what counts, and one that was not leaves the end before it.
    ['timed-out: result unknown', [...failedOnce, attempt, accepted, over(unavailable)]],
    ['error: not found', [...failedOnce, attempt, accepted, over(notFound)]],
    ['timed-out', [...failedOnce, attempt, accepted, timedOut]],
    ['error: no response', [...failedOnce, attempt, unanswered, over(unavailable)]],
    ['failed: Attempt 2: not submitted', [...failedOnce, attempt, unanswered, over(notFound)]],
    ['failed: Attempt 2: no service', [...failedOnce, over(unavailable)]],
    ['failed: Attempt 2: no response', [...failedOnce, attempt, { type: 'refused', failure: noResponse }]],
    ['failed', [...failedOnce, timedOut]],
    ['error: not in time', [timedOut]],
    ['timed-out: result unknown', [...submitted, over(unavailable)]],
    ['error: no response', [...inDoubt, timedOut]],
    ['error: not submitted', [...inDoubt, over(notFound)]],
    ['timed-out', [...inDoubt, reading(1, record('PENDING', 0.5)), timedOut]],
  ])('%s (%#)', (phase, events, more) => {
    expect(phaseAfter(events, more)).toBe(phase)
  })

  test('what failed and may have merged stays in doubt for a minute, also while it is not found', () => {
    const first = [...submitted, reading(6, { ...failed, ...doubtful })]
    expect(phaseAfter(first)).toBe('doubtful')
    expect(phaseAfter([...first, reading(40, undefined)])).toBe('doubtful')
    expect(phaseAfter([...first, reading(40, undefined), reading(66, undefined)])).toBe('failed')
    expect(phaseAfter([...first, reading(40, record('MERGED', 39))])).toBe('merged')
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
    expect(wasSubmitted(itemAfter(inDoubt).attempt)).toBeNull()
    expect(wasSubmitted(itemAfter([...inDoubt, reading(1, record('PENDING', 0.5))]).attempt)).toBe(true)
    expect(wasSubmitted(itemAfter([...inDoubt, over(notFound)]).attempt)).toBe(false)
  })
})

test('the page about waits names each event, each phase and each kind of evidence', () => {
  const page = readFileSync('docs/contributing/waits.md', 'utf8')
  const sources = ['machine', 'wait-state', 'evidence'].map(name =>
    readFileSync(`src/wait/${name}.ts`, 'utf8'),
  )
  const named = sources.flatMap(text =>
    [...text.matchAll(/readonly (?:type|name|is): ((?:'[^']+'(?: \| )?)+)/g)].flatMap(([, names = '']) =>
      names.split(' | ').map(name => name.replaceAll("'", '')),
    ),
  )
  expect(new Set(named).size).toBeGreaterThan(20)
  expect(named.filter(name => !page.includes(`\`${name}\``))).toEqual([])
})
