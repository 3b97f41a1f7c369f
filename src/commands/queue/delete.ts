import { on, type Values } from '../../cli/inputs.ts'
import { cancel } from '../../api/operations/pull-requests.ts'
import { draining, read, remove } from '../../api/operations/queues.ts'
import { isUnderTest } from '../../domain/states.ts'
import { mostErrors, paceOf } from '../../domain/wait.ts'
import { asFailure, ended, Failure, isFinal } from '../../errors.ts'
import { type Desk, silently } from '../../cli/context.ts'
import { exchange } from '../../api/call.ts'
import { tellEndings } from '../../cli/concurrency.ts'
import { confirm, readRuns } from '../../cli/invocation.ts'
import { carryOut, run } from '../../cli/run-operation.ts'
import { at, type Json, listAt, textAt } from '../../json.ts'
import { count, listed } from '../../output/view.ts'
import { command } from '../../cli/command.ts'
import { forAttempts, forRounds, limitOf } from '../pr/wait/time-limits.ts'

type Queue = Values<typeof read.fields>

/** What the queue lists now. */
async function entriesOf(values: Queue, desk: Desk): Promise<readonly Json[]> {
  const { reply } = await exchange(read, { values, sets: [] }, desk)
  return listAt(reply.records[0], 'enqueuedPullRequests')
}

const names = (entries: readonly Json[]): string =>
  listed(entries.map(entry => `#${at(entry, 'prNumber') ?? '?'}`))

/**
 * Sets the queue to draining and waits until nothing in it is being tested, as patiently as `pr wait` does: failed polls
 * are borne, and `--timeout` bounds the whole of it.
 */
async function drain(values: Queue, desk: Desk): Promise<void> {
  const { voice, world, given } = desk
  const patient = await forAttempts(desk)
  await exchange(draining, { values: { ...values, state: 'DRAINING' }, sets: [] }, patient)
  const until = world.clock.now() + limitOf(given)
  const left = () => until - world.clock.now()
  const polling = forRounds(patient, { limit: limitOf(given) }, left)
  let [errors, said] = [0, '']
  try {
    for (;;) {
      const told = await entriesOf(values, polling).then(
        entries => {
          errors = 0
          const tested = entries.filter(entry => isUnderTest(textAt(entry, 'state') ?? ''))
          return tested.length === 0 ? undefined : `Draining: still under test: ${names(tested)}.`
        },
        error => {
          const failure = asFailure(error)
          if (isFinal(failure) || failure.kind === 'not-found' || ++errors >= mostErrors) throw failure
          return `${ended(failure.message)} Still draining.`
        },
      )
      if (told === undefined) return
      if (told !== said) await voice.note(told)
      said = told
      if (left() <= 0) throw new Failure('timed-out', `the time is over. ${told}`)
      const pause = paceOf({ state: 'TESTING' }, errors, world.random())
      await desk.during(
        () => told,
        () => world.clock.sleep(Math.min(pause, left()), world.interrupted),
      )
    }
  } catch (error) {
    const { kind, message, exit, details } = asFailure(error)
    const hint = 'The queue stays DRAINING: run this again, or undo it with `mergeq queue resume`.'
    throw new Failure(kind, message, {
      ...details,
      exit,
      hint: details.hint === undefined ? hint : `${details.hint}\n${hint}`,
    })
  }
}

/** Cancels everything that the queue lists; what has left it meanwhile is no failure. Returns the worst exit code. */
async function cancelAll(values: Queue, desk: Desk): Promise<number> {
  const numbers = (await entriesOf(values, desk)).flatMap(entry => {
    const pr = at(entry, 'prNumber')
    return typeof pr === 'number' ? [pr] : []
  })
  const runs = numbers.map(pr => ({ values: { ...values, pr, yes: true }, sets: [] }))
  const row = { ...cancel, inOrder: true }
  const all = await carryOut(row, runs, silently(desk))
  const hasLeft = all.map(({ failure }) => failure?.kind === 'not-found')
  const endings = all.map((ending, index) => (hasLeft[index] === true ? { code: 0 } : ending))
  const code = await tellEndings(row, runs, endings, desk)
  const those = (left: boolean) =>
    listed(numbers.filter((_, index) => hasLeft[index] === left).map(number => `#${number}`))
  if (code === 0 && hasLeft.includes(false)) await desk.voice.note(`Cancelled ${those(false)}.`)
  if (code === 0 && hasLeft.includes(true))
    await desk.voice.note(`Not in the queue any more: ${those(true)}.`)
  return code
}

/** Why a queue could not be deleted: what it still lists, and what to do. */
const explain =
  (values: Queue, desk: Desk) =>
  async (failure: Failure): Promise<Failure> => {
    const { status, delivery } = failure.details
    // An unknown outcome is no refusal, whatever the last request was answered.
    if (delivery === 'unknown' || (status !== 400 && status !== 409)) return failure
    const left = await entriesOf(values, desk).catch(() => undefined)
    if (left === undefined) return failure
    const listed =
      left.length === 0
        ? 'it lists none, but those that are not ready are not listed'
        : `it lists ${count(left.length, 'pull request')}: ${names(left)}`
    return new Failure(
      'refused',
      `${failure.message.replace(/\.$/, '')}. The queue is not empty: ${listed}.`,
      {
        ...failure.details,
        hint:
          left.length === 0
            ? 'Cancel those by their numbers with `mergeq pr cancel <pr>`, then run it again.'
            : 'Cancel what it holds with --cancel-all, or let it finish first with --drain-first.',
      },
    )
  }

/** `queue delete`, which can empty the queue first. */
export const deleteQueue = command({
  ...remove,
  on: remove,
  asks: [draining, read, cancel],
  ends: ['timed-out'],
  fields: {
    cancelAll: on('--cancel-all', 'Cancel everything that is in the queue first'),
    drainFirst: on('--drain-first', 'Stop new tests first, and wait until nothing is being tested'),
  },
  examples: [...remove.examples, 'mergeq queue delete --cancel-all --yes'],
  async run({ cancelAll: cancels, drainFirst }, desk) {
    const [first] = await readRuns(remove, desk)
    if (first === undefined) return 0
    if (desk.options.dryRun) return run(drainFirst ? draining : cancels ? read : remove, desk)
    await confirm(remove, [first], desk)
    if (drainFirst) await drain(first.values, desk)
    const cancelled = cancels ? await cancelAll(first.values, desk) : 0
    if (cancelled !== 0) return cancelled
    const agreed = { ...desk, given: new Map(desk.given).set('--yes', ['true']) }
    return run(remove, agreed, { explain: explain(first.values, desk) })
  },
})
