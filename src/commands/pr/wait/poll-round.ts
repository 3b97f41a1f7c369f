import type { CommandContext } from '../../../cli/context.ts'
import { isKnownState } from '../../../domain/states.ts'
import { advance, pollDelay, requestedDelay, type StateChange } from '../../../domain/wait-state.ts'
import { isPermanent, MergeqError, withPeriod } from '../../../errors.ts'
import { getString, type JsonObject } from '../../../json.ts'
import { type PollOptions, type PollResult, queueName, readRound, type WaitTarget } from './poll.ts'
import { describeTargets, type WaitEnd, type WaitReporter } from './reporter.ts'
import type { WaitOptions } from './time-limits.ts'

/** What is left of a wait after a round. */
export interface RoundResult {
  readonly waiting: readonly WaitTarget[]
  /** Milliseconds until the next round. */
  readonly pause: number
  /** Whether a pull request ended as nobody hopes. */
  readonly hasFailure: boolean
}

/** One pull request after a round. */
interface TargetStep {
  readonly watch: WaitTarget
  readonly change?: StateChange
  readonly ended?: WaitEnd
}

const isSuccess = ({ outcome }: WaitEnd): boolean => /^(merged|reached|left)$/.test(outcome)

/** One round of a wait: reads, tells what changed, and ends those that have settled. */
export async function pollOnce(
  before: readonly WaitTarget[],
  terms: WaitOptions,
  manner: PollOptions,
  report: WaitReporter,
  context: CommandContext,
): Promise<RoundResult> {
  const progress = `waiting for ${describeTargets(before)}`
  const { found, queues } = await readRound(before, manner, { ...context, progress })
  for (const [name, queue] of queues) await warnQueueState(name, queue, context)
  const steps: readonly TargetStep[] = before.map((watch, index) => {
    const one = found[index]
    return one === undefined ? { watch } : stepTarget(watch, one, queues.get(queueName(watch)), terms)
  })
  for (const { watch, change, ended } of steps) {
    if (change !== undefined) {
      if (!isKnownState(change.to))
        await context.warnOnce(`${change.to} is a state that mergeq does not know; it is waited out.`)
      await report.change(watch, change)
    }
    if (ended !== undefined) await report.end(watch, ended)
  }
  const waiting = steps.flatMap(({ watch, ended }) => (ended === undefined ? [watch] : []))
  if (terms.head !== undefined && found.some(lacksHead))
    await context.warnOnce('the service does not say which commit the head is: --match-head is not checked.')
  const failures = found.flatMap(one => ('sight' in one ? [] : [one.failure]))
  if (waiting.length > 0) await reportPollErrors(failures, waiting, terms, context)
  return {
    waiting,
    pause: nextDelay(waiting, failures, terms, context.host.random()),
    hasFailure: steps.some(({ ended }) => ended !== undefined && !isSuccess(ended)),
  }
}

const lacksHead = (one: PollResult): boolean =>
  'sight' in one && one.sight.record !== undefined && (getString(one.sight.record, 'prSha') ?? '') === ''

/** What a reading makes of a pull request. */
function stepTarget(
  watch: WaitTarget,
  found: PollResult,
  queue: JsonObject | undefined,
  terms: WaitOptions,
): TargetStep {
  if (!('sight' in found)) {
    const { failure } = found
    const errors = watch.errors + 1
    const isOver = isPermanent(failure) || errors >= terms.maxErrors || terms.limit === 0
    return { watch: { ...watch, errors }, ...(isOver ? { ended: { outcome: 'error', failure } } : {}) }
  }
  const { state, change, outcome } = advance(watch.state, found.sight, terms)
  const next = { ...watch, state, errors: 0 }
  const isStuck = terms.failOnPaused && getString(queue, 'state') === 'PAUSED'
  const ended: WaitEnd | undefined =
    outcome === 'error'
      ? { outcome, failure: found.failure ?? notShown(next) }
      : (outcome ?? (isStuck ? 'pending' : undefined)) && { outcome: outcome ?? 'pending' }
  return { watch: next, ...(change && { change }), ...(ended && { ended }) }
}

/** The failure when, for all of the grace period, only the record of the previous attempt was there. */
const notShown = ({ invocation, state: { before = {}, earlier = before } }: WaitTarget): MergeqError =>
  new MergeqError(
    'not-found',
    `#${invocation.values.pr} was submitted, but the service still shows only its earlier attempt: ${getString(earlier, 'state')} since ${getString(earlier, 'stateChangedAt')}.`,
    {
      hint: `This tells how it stands: mergeq pr get ${invocation.values.pr}. A longer --grace waits longer for it.`,
    },
  )

const whatIsHeld = new Map([
  ['PAUSED', 'nothing is tested or merged until it is resumed'],
  ['DRAINING', 'no new tests are started'],
])

/** A queue that holds pull requests back is told once. */
async function warnQueueState(name: string, queue: JsonObject, context: CommandContext): Promise<void> {
  const state = getString(queue, 'state') ?? ''
  const held = whatIsHeld.get(state)
  if (held !== undefined) await context.warnOnce(`The queue of ${name} is ${state}: ${held}.`)
}

/** Failed polls, each kind of trouble once a round. */
async function reportPollErrors(
  failures: readonly MergeqError[],
  waiting: readonly WaitTarget[],
  { maxErrors }: WaitOptions,
  { logger }: CommandContext,
): Promise<void> {
  const worst = Math.max(...waiting.map(({ errors }) => errors))
  const inRow = worst > 1 ? ` (${worst} in a row; ${maxErrors} end the wait)` : ''
  for (const message of new Set(failures.map(({ message }) => message)))
    await logger.info(`${withPeriod(message)}${inRow} Still waiting.`)
}

/** The shortest pause that suits any of them; no shorter than the service asks for, within reason. */
function nextDelay(
  waiting: readonly WaitTarget[],
  failures: readonly MergeqError[],
  { interval }: WaitOptions,
  random: number,
): number {
  const pauses = waiting.map(({ state, errors }) =>
    interval === 'auto' ? pollDelay(state, errors, random) : interval,
  )
  return Math.max(Math.min(...pauses), requestedDelay(failures))
}
