import { nameOfWord, on } from '../../cli/inputs.ts'
import { poll, submit } from '../../api/operations/pull-requests.ts'
import { read } from '../../api/operations/queues.ts'
import { kindOfOutcome } from '../../domain/wait.ts'
import { asFailure, Failure, usage } from '../../errors.ts'
import { type Desk, silently } from '../../cli/context.ts'
import { exchange } from '../../api/call.ts'
import { tellEndings } from '../../cli/concurrency.ts'
import { type Run, readRuns } from '../../cli/invocation.ts'
import { carryOut, rehearse, run } from '../../cli/run-operation.ts'
import type { JsonObject } from '../../json.ts'
import { command } from '../../cli/command.ts'
import { type WaitFlags, waitFields } from './wait/options.ts'
import { beforeWait, forAttempts, termsOf } from './wait/time-limits.ts'
import { tellUnwaited, waitForAll } from './wait/wait-for-all.ts'

/** The record of a pull request as it stands; undefined where it was never submitted. */
async function recordOf({ values }: Run<typeof poll.fields>, desk: Desk): Promise<JsonObject | undefined> {
  try {
    return (await exchange(poll, { values, sets: [] }, desk)).reply.records[0]
  } catch (error) {
    const failure = asFailure(error)
    if (failure.kind === 'not-found' && failure.details.page !== true) return undefined
    throw failure
  }
}

/**
 * Submits, and waits for what was submitted. What stood there before is read first: it is no answer. `--timeout` bounds
 * all of it: nothing more is submitted once it is over, and what that takes is less for the waiting.
 */
async function submitAndWaitFor(flags: WaitFlags, desk: Desk): Promise<number> {
  const { clock, interrupted } = desk.world
  const runs = await readRuns(submit, desk)
  const terms = termsOf(flags, runs.length, desk)
  if (desk.options.dryRun) return rehearse(submit, runs, desk)
  const startedAt = clock.now()
  const left = () => startedAt + terms.limit - clock.now()
  // The answer of a wait is its result: receipts of the submission would be a second document.
  const { reading, change } = beforeWait(silently(await forAttempts(desk)), terms, left)
  const before = new Map<Run, JsonObject | undefined>()
  const begun = new Map<Run, number>()
  const endings = await carryOut(submit, runs, change, {
    async before(one) {
      const run = runs.find(other => other === one)
      if (run === undefined) return
      if (terms.limit > 0 && left() <= 0)
        throw new Failure('timed-out', `the time was over before #${run.values.pr} was submitted.`)
      before.set(run, await recordOf(run, reading))
      begun.set(run, clock.now())
    },
  })
  const to = clock.now()
  const candidates = runs.map((run, index) => ({
    run: { values: run.values, sets: [] },
    before: before.get(run),
    submission: { from: begun.get(run) ?? startedAt, to },
    failure: endings[index]?.failure,
  }))
  const failures = endings.flatMap(({ failure }) => failure ?? [])
  const isStopped = terms.stopsOnError && failures.length > 0
  if (isStopped && !interrupted.aborted) await tellUnwaited(candidates, startedAt, desk)
  if (isStopped || interrupted.aborted) return tellEndings(submit, runs, endings, desk)
  if (failures.length < runs.length) for (const { message } of failures) await desk.voice.note(message)
  return waitForAll(candidates, terms, desk, startedAt)
}

/** `pr submit`, which with --wait goes on as `pr wait`. */
export const submitAndWait = command({
  ...submit,
  on: submit,
  asks: [poll, read],
  ends: Object.values(kindOfOutcome),
  prints: {
    table: 'a sentence for each; on a pipe the row pr, ok, delivery, message',
    json: 'a receipt for each, {"operation","repo","targetBranch","pr","ok","delivery"}; with --wait a result',
    ndjson: 'the same; with --wait the lines of `mergeq pr wait`',
  },
  fields: { wait: on('--wait', 'Wait until it has merged, failed or been cancelled'), ...waitFields },
  async run({ wait, ...flags }, desk) {
    if (wait) return submitAndWaitFor(flags, desk)
    const stray = Object.values(waitFields)
      .flatMap(({ words }) => words.map(({ spell }) => nameOfWord(spell)))
      .find(name => desk.given.has(name))
    if (!wait && stray !== undefined) throw usage(`${stray} says how to wait.`, 'Give --wait with it.')
    return run(submit, desk)
  },
})
