import { on, type Values } from '../contract/field.ts'
import { cancel } from '../contract/pulls.ts'
import { draining, read, remove } from '../contract/queues.ts'
import { Failure } from '../failure.ts'
import type { Desk } from '../run/desk.ts'
import { exchange } from '../run/exchange.ts'
import { confirm, readRuns } from '../run/prepare.ts'
import { run } from '../run.ts'
import { at, count, type Json, listAt, textAt } from '../view/shapes.ts'
import { command } from './command.ts'

type Queue = Values<typeof read.fields>

/** What the queue lists now. */
async function entriesOf(values: Queue, desk: Desk): Promise<readonly Json[]> {
  const { reply } = await exchange(read, { values, sets: [] }, desk)
  return listAt(reply.records[0], 'enqueuedPullRequests')
}

const pollPause = 10_000
const underTest = /^(TESTING|TESTS_PASSED|PENDING_FAILURE)$/

/** Sets the queue to draining and waits until nothing in it is being tested. */
async function drain(values: Queue, desk: Desk): Promise<void> {
  const { voice, world } = desk
  await exchange(draining, { values: { ...values, state: 'DRAINING' }, sets: [] }, desk)
  for (;;) {
    const tested = (await entriesOf(values, desk)).filter(entry =>
      underTest.test(textAt(entry, 'state') ?? ''),
    )
    if (tested.length === 0) return
    await voice.note(`Draining: ${count(tested.length, 'pull request')} under test.`)
    await world.clock.sleep(pollPause, world.interrupted)
  }
}

/** Cancels everything that the queue lists. */
async function cancelAll(values: Queue, desk: Desk): Promise<void> {
  for (const entry of await entriesOf(values, desk)) {
    const pr = at(entry, 'prNumber')
    if (typeof pr !== 'number') continue
    await exchange(cancel, { values: { ...values, pr, yes: true }, sets: [] }, desk)
    await desk.voice.note(`Cancelled #${pr}.`)
  }
}

/** Why a queue could not be deleted: what it still lists, and what to do. */
const explain =
  (values: Queue, desk: Desk) =>
  async (failure: Failure): Promise<Failure> => {
    const { status } = failure.details
    if (status !== 400 && status !== 409) return failure
    const left = await entriesOf(values, desk).catch(() => undefined)
    if (left === undefined) return failure
    const listed =
      left.length === 0
        ? 'it lists none, but pull requests that are not ready are not listed'
        : `it lists ${count(left.length, 'pull request')}: ${left.map(entry => `#${at(entry, 'prNumber') ?? '?'}`).join(', ')}`
    return new Failure(
      'refused',
      `${failure.message.replace(/\.$/, '')}. The queue is not empty: ${listed}.`,
      {
        ...failure.details,
        hint: 'Cancel what it holds with --cancel-all, or let it finish first with --drain-first.',
      },
    )
  }

/** `queue delete`, which can empty the queue first. */
export const deleteQueue = command({
  ...remove,
  on: remove,
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
    if (cancels) await cancelAll(first.values, desk)
    const agreed = { ...desk, given: new Map(desk.given).set('--yes', ['true']) }
    return run(remove, agreed, { explain: explain(first.values, desk) })
  },
})
