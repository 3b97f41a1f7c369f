import { describe, expect, test } from 'vitest'
import { startWaitTime } from '../../src/api/wait-time.ts'
import { MergeqError } from '../../src/base/errors.ts'
import { automaticDelay, backOff, poll } from '../../src/wait/poll.ts'
import { readEach } from '../../src/wait/read-each.ts'
import type { Judgement, WaitEnd } from '../../src/wait/wait-state.ts'

const unavailable = new MergeqError('unavailable', 'no.', { status: 503 })
const refused = new MergeqError('unavailable', 'no.', { failedStep: 'connection' })
const timedOut = new MergeqError('unavailable', 'no.')

type Answer = string | MergeqError

let random = 0

/** Polls items every 10 s, for at most 200 s; each reads its answers in order, and the last one again and again. */
async function run(...scripts: readonly (readonly Answer[])[]) {
  let now = 0
  const clock = {
    now(): number {
      throw new Error('A wait does not depend on the clock of the day.')
    },
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms
    },
  }
  const seconds: number[] = []
  const outages: string[] = []
  const ends = new Map<number, WaitEnd>()
  await poll<number, string, Judgement<number>>({
    items: scripts.map((_, index) => index),
    async read(items) {
      const round = seconds.push(now / 1_000) - 1
      return items.map(index => {
        const answer = scripts[index]?.[round] ?? scripts[index]?.at(-1) ?? ''
        return typeof answer === 'string' ? { value: answer } : { failure: answer }
      })
    },
    judge: (item, value) => ({ item, ...(value === 'done' && { end: { outcome: 'reached' } }) }),
    schedule: () => 10_000,
    limit: startWaitTime(200_000, clock),
    giveUpAfter: 55_000,
    host: { clock, random: () => random, interrupted: new AbortController().signal },
    async onChange(judgements) {
      for (const { item, end } of judgements) if (end !== undefined) ends.set(item, end)
      return true
    },
    async onOutage(text) {
      outages.push(text)
    },
  })
  const reports = [...ends].sort(([one], [other]) => one - other).map(([, end]) => end)
  return { seconds, outages, ends: reports.map(({ outcome, failure }) => failure?.message ?? outcome) }
}

const gaveUp = 'no; no poll has succeeded for 55s.'

describe('a poll', () => {
  test('reads every item until each has ended, or the time is over', async () => {
    const { seconds, ends } = await run(['', 'done'], ['', '', 'done'])
    expect({ seconds, ends }).toEqual({ seconds: [0, 10, 20], ends: ['reached', 'reached'] })
    const endless = await run([''])
    expect(endless).toMatchObject({ ends: ['timed-out'] })
    expect(endless.seconds.at(-1)).toBe(200)
  })

  test('gives up an item when its readings have failed for long enough, and reads at that moment', async () => {
    const { seconds, ends, outages } = await run([unavailable], [unavailable, '', unavailable], ['done'])
    expect({ seconds: seconds.slice(-4), ends }).toEqual({
      seconds: [50, 55, 65, 75],
      ends: [gaveUp, gaveUp, 'reached'],
    })
    expect(outages).toEqual([expect.stringMatching(/^no\. /)])
  })

  test.each<[string, readonly Answer[], string, number]>([
    ['refused at first', [refused, refused, refused, 'done'], 'reached', 4],
    ['refused too often at first', [refused], 'no.', 4],
    ['refused, after another failure', [refused, refused, timedOut, refused, refused, 'done'], 'reached', 6],
    ['refused after an answer', [unavailable, refused, refused, refused, refused, 'done'], 'reached', 6],
    ['not trusted', [new MergeqError('unavailable', 'no.', { needsChange: true })], 'no.', 1],
    ['unreadable', [new MergeqError('bad-answer', 'no.')], gaveUp, 7],
    ['too large', [new MergeqError('bad-answer', 'no.', { isResponseTooLarge: true })], 'no.', 1],
    ['refused with 400', [new MergeqError('refused', 'no.')], 'no.', 1],
  ])('of a service that is %s', async (_, answers, end, readings) => {
    const { seconds, ends } = await run(answers)
    expect({ ends, readings: seconds.length }).toEqual({ ends: [end], readings })
  })

  test('ends for all items with an error that every request would have', async () => {
    const rejected = new MergeqError('auth', 'rejected.')
    expect((await run(['', rejected], [''], ['', 'done'])).ends).toEqual([
      'rejected.',
      'rejected.',
      'reached',
    ])
  })

  test('reads later than the service asks for, by up to a fifth', async () => {
    const limited = new MergeqError('unavailable', 'no.', { status: 429, retryAfter: 30 })
    expect((await run([limited, 'done'])).seconds).toEqual([0, 30])
    random = 0.5
    expect((await run([limited, 'done'])).seconds).toEqual([0, 33])
    random = 0
  })

  test('reads at the latest when it gives up or the time is over, whatever the service asks for', async () => {
    const limited = (retryAfter: number) => new MergeqError('unavailable', 'no.', { status: 429, retryAfter })
    expect(await run([limited(3_600)])).toMatchObject({ seconds: [0, 55], ends: [gaveUp] })
    const late = await run(['', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', limited(3_600)])
    expect(late).toMatchObject({ seconds: expect.arrayContaining([160, 200]), ends: ['timed-out'] })
  })
})

describe('a round of readings', () => {
  const limited = new MergeqError('unavailable', 'no.', { status: 429 })

  test.each<[string, readonly Answer[], MergeqError | undefined]>([
    ['reads on after three without a response', ['', timedOut, timedOut, timedOut], undefined],
    ['ends after four without a response', ['', timedOut, timedOut, timedOut, timedOut], timedOut],
    ['counts those in a row', [timedOut, timedOut, '', timedOut, timedOut], undefined],
    ['reads on after other errors', [unavailable, unavailable, unavailable, unavailable], undefined],
    ['ends after a 429', ['', limited], limited],
  ])('%s', async (_, first, failure) => {
    const answers = [...first, ...Array.from({ length: 20 }, () => 'done')]
    const read = async (answer: Answer) => {
      if (typeof answer === 'string') return answer
      throw answer
    }
    const readings = await readEach(answers, read, undefined)
    expect(readings).toHaveLength(answers.length)
    expect(readings.at(-1)).toEqual(failure === undefined ? { value: 'done' } : { failure })
  })
})

describe('the time until the next reading', () => {
  test.each([
    ['TESTING', 30_000],
    ['NOT_READY', 60_000],
  ])('%s without a change is polled after 2, 5 and 10 s, then every %i ms', (state, usual) => {
    const delays = [0, 1, 2, 3, 900].map(unchanged => automaticDelay({ state, unchanged }))
    expect(delays).toEqual([2_000, 5_000, 10_000, usual, usual])
  })

  test.each([
    [2_000, 0, 2_000],
    [2_000, 3, 16_000],
    [60_000, 3, 300_000],
    [2_000, 1_000, 300_000],
  ])('a delay of %i ms becomes, after %i errors, about %i ms', (delay, errors, pause) => {
    expect(backOff(delay, errors, 0.5)).toBe(pause)
    expect(backOff(delay, errors, 0)).toBe(Math.round(pause * 0.9))
    expect(backOff(delay, errors, 0.999)).toBeLessThanOrEqual(300_000)
  })
})
