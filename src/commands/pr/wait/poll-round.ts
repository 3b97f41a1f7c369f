import { askedBy, type Change, isKnownState, judgeSight, paceOf } from '../../../domain/wait.ts'
import { ended, Failure, isFinal } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import { type JsonObject, textAt } from '../../../json.ts'
import { type Found, type Manner, queueOf, readRound, type Watch } from './poll.ts'
import { type Ended, pictureOf, type Report } from './reporter.ts'
import type { Terms } from './time-limits.ts'

/** What is left of a wait after a round. */
export interface Left {
  readonly waiting: readonly Watch[]
  /** Milliseconds until the next round. */
  readonly pause: number
  /** Whether a pull request ended as nobody hopes. */
  readonly isSpoilt: boolean
}

/** One pull request after a round. */
interface Step {
  readonly watch: Watch
  readonly change?: Change
  readonly ended?: Ended
}

const isSuccess = ({ outcome }: Ended): boolean => /^(merged|reached|left)$/.test(outcome)

/** One round of a wait: reads, tells what changed, and ends those that have settled. */
export async function goRound(
  before: readonly Watch[],
  terms: Terms,
  manner: Manner,
  report: Report,
  desk: Desk,
): Promise<Left> {
  const progress = `waiting for ${pictureOf(before)}`
  const { found, queues } = await readRound(before, manner, { ...desk, progress })
  for (const [name, queue] of queues) await tellQueue(name, queue, desk)
  const steps: readonly Step[] = before.map((watch, index) => {
    const one = found[index]
    return one === undefined ? { watch } : stepOf(watch, one, queues.get(queueOf(watch)), terms)
  })
  for (const { watch, change, ended } of steps) {
    if (change !== undefined) {
      if (!isKnownState(change.to))
        await desk.sayOnce(`${change.to} is a state that mergeq does not know; it is waited out.`)
      await report.change(watch, change)
    }
    if (ended !== undefined) await report.end(watch, ended)
  }
  const waiting = steps.flatMap(({ watch, ended }) => (ended === undefined ? [watch] : []))
  if (terms.head !== undefined && found.some(lacksHead))
    await desk.sayOnce('the service does not say which commit the head is: --match-head is not checked.')
  const failures = found.flatMap(one => ('sight' in one ? [] : [one.failure]))
  if (waiting.length > 0) await tellTrouble(failures, waiting, terms, desk)
  return {
    waiting,
    pause: pauseOf(waiting, failures, terms, desk.world.random()),
    isSpoilt: steps.some(({ ended }) => ended !== undefined && !isSuccess(ended)),
  }
}

const lacksHead = (one: Found): boolean =>
  'sight' in one && one.sight.record !== undefined && (textAt(one.sight.record, 'prSha') ?? '') === ''

/** What a reading makes of a pull request. */
function stepOf(watch: Watch, found: Found, queue: JsonObject | undefined, terms: Terms): Step {
  if (!('sight' in found)) {
    const { failure } = found
    const errors = watch.errors + 1
    const isOver = isFinal(failure) || errors >= terms.maxErrors || terms.limit === 0
    return { watch: { ...watch, errors }, ...(isOver ? { ended: { outcome: 'error', failure } } : {}) }
  }
  const { known, change, outcome } = judgeSight(watch.known, found.sight, terms)
  const next = { ...watch, known, errors: 0 }
  const isStuck = terms.failOnPaused && textAt(queue, 'state') === 'PAUSED'
  const ended: Ended | undefined =
    outcome === 'error'
      ? { outcome, failure: found.failure ?? notShown(next) }
      : (outcome ?? (isStuck ? 'pending' : undefined)) && { outcome: outcome ?? 'pending' }
  return { watch: next, ...(change && { change }), ...(ended && { ended }) }
}

/** The failure when, for all of the grace period, only the record of the previous attempt was there. */
const notShown = ({ run, known: { before = {}, earlier = before } }: Watch): Failure =>
  new Failure(
    'not-found',
    `#${run.values.pr} was submitted, but the service still shows only its earlier attempt: ${textAt(earlier, 'state')} since ${textAt(earlier, 'stateChangedAt')}.`,
    {
      hint: `This tells how it stands: mergeq pr get ${run.values.pr}. A longer --grace waits longer for it.`,
    },
  )

const whatIsHeld = new Map([
  ['PAUSED', 'nothing is tested or merged until it is resumed'],
  ['DRAINING', 'no new tests are started'],
])

/** A queue that holds pull requests back is told once. */
async function tellQueue(name: string, queue: JsonObject, desk: Desk): Promise<void> {
  const state = textAt(queue, 'state') ?? ''
  const held = whatIsHeld.get(state)
  if (held !== undefined) await desk.sayOnce(`The queue of ${name} is ${state}: ${held}.`)
}

/** Failed polls, each kind of trouble once a round. */
async function tellTrouble(
  failures: readonly Failure[],
  waiting: readonly Watch[],
  { maxErrors }: Terms,
  { voice }: Desk,
): Promise<void> {
  const worst = Math.max(...waiting.map(({ errors }) => errors))
  const inRow = worst > 1 ? ` (${worst} in a row; ${maxErrors} end the wait)` : ''
  for (const message of new Set(failures.map(({ message }) => message)))
    await voice.note(`${ended(message)}${inRow} Still waiting.`)
}

/** The shortest pause that suits any of them; no shorter than the service asks for, within reason. */
function pauseOf(
  waiting: readonly Watch[],
  failures: readonly Failure[],
  { interval }: Terms,
  random: number,
): number {
  const pauses = waiting.map(({ known, errors }) =>
    interval === 'auto' ? paceOf(known, errors, random) : interval,
  )
  return Math.max(Math.min(...pauses), askedBy(failures))
}
