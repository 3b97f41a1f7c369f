import { nameOfWord, on } from '../contract/field.ts'
import { poll, submit } from '../contract/pulls.ts'
import { read } from '../contract/queues.ts'
import { kindOfOutcome } from '../contract/waiting.ts'
import { asFailure, usage } from '../failure.ts'
import { type Desk, silently } from '../run/desk.ts'
import { exchange } from '../run/exchange.ts'
import { tellEndings } from '../run/many.ts'
import { type Run, readRuns } from '../run/prepare.ts'
import { carryOut, run } from '../run.ts'
import type { JsonObject } from '../view/shapes.ts'
import { command } from './command.ts'
import { type WaitFlags, waitFields } from './waiting/flags.ts'
import { forAttempts, termsOf } from './waiting/terms.ts'
import { waitForAll } from './waiting/waiting.ts'

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

/** Submits, and waits for what was submitted. What stood there before is read first: it is no answer. */
async function submitAndWaitFor(flags: WaitFlags, desk: Desk): Promise<number> {
  const runs = await readRuns(submit, desk)
  const terms = termsOf(flags, runs.length, desk)
  // The answer of a wait is its result: receipts of the submission would be a second document.
  const patient = silently(await forAttempts(desk))
  const before = new Map<Run, JsonObject | undefined>()
  const endings = await carryOut(submit, runs, patient, {
    async before(one) {
      const run = runs.find(other => other === one)
      if (run !== undefined) before.set(run, await recordOf(run, patient))
    },
  })
  const failures = endings.flatMap(({ failure }) => failure ?? [])
  if (desk.world.interrupted.aborted || (terms.stopsOnError && failures.length > 0))
    return tellEndings(submit, runs, endings, desk)
  if (failures.length < runs.length) for (const { message } of failures) await desk.voice.note(message)
  return waitForAll(
    runs.map((run, index) => ({
      run: { values: run.values, sets: [] },
      before: before.get(run),
      failure: endings[index]?.failure,
    })),
    flags,
    desk,
  )
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
    if (wait && !desk.options.dryRun) return submitAndWaitFor(flags, desk)
    const stray = Object.values(waitFields)
      .flatMap(({ words }) => words.map(({ spell }) => nameOfWord(spell)))
      .find(name => desk.given.has(name))
    if (!wait && stray !== undefined) throw usage(`${stray} says how to wait.`, 'Give --wait with it.')
    return run(submit, desk)
  },
})
