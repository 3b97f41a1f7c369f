import * as operations from '../../../../api/operations/queues.ts'
import { emptyDecoder } from '../../../../api/response.ts'
import type { JsonObject } from '../../../../base/json.ts'
import type { Cli } from '../../../../command/command.ts'
import { forOne, readForPerson, send, show } from '../../../../command/send.ts'
import { setOf } from '../../../../command/set-option.ts'
import { queueEntries } from '../../../../domain/queue-entries.ts'
import { isUnderTest, stateOf, stateWords } from '../../../../domain/states.ts'
import { pluralize } from '../../../../values/format.ts'
import { type Queue, queueName } from '../../../../values/repository.ts'

const { getQueue } = operations
// The command gives the setting.
const { check: _, exclusive: __, ...updateQueue } = operations.updateQueue
const { repo, targetBranch, state } = updateQueue.params

/** Sets the state of a queue and no other setting; there is a receipt, whatever the service responds. */
export const setQueueState = {
  ...updateQueue,
  params: { repo, targetBranch, state },
  decoder: emptyDecoder,
}

/** What a change to a state is called: of one queue before and after it, and in the question before several change. */
export const settableStates = {
  RUNNING: { before: 'Resume {queue}', after: 'Resumed {queue}', done: 'Resumed', does: 'resumes' },
  PAUSED: { before: 'Pause {queue}', after: 'Paused {queue}', done: 'Paused', does: 'pauses' },
  DRAINING: { before: 'Drain {queue}', after: 'Drained {queue}', done: 'Draining', does: 'drains' },
} as const

export type SettableState = keyof typeof settableStates

export const isSettable = (state: string): state is SettableState => Object.hasOwn(settableStates, state)

/** `Paused main of acme/web: 1 pull request finishes testing, 22 wait.` */
export function describeStateChange(state: SettableState, queue: Queue, before: JsonObject): string {
  if (stateOf(before) === state) return `The queue for ${queueName(queue)} was already ${stateWords(state)}.`
  const entries = queueEntries(before)
  const testing = entries.filter(entry => isUnderTest(entry.state)).length
  const waiting = entries.length - testing
  const parts: string[] = []
  if (testing > 0) {
    const finish = testing === 1 ? 'finishes ' : 'finish '
    parts.push(`${pluralize(testing, 'pull request')} ${state === 'RUNNING' ? '' : finish}testing`)
  }
  if (waiting > 0) {
    const count = testing === 0 ? pluralize(waiting, 'pull request') : waiting
    parts.push(`${count} ${waiting === 1 ? 'waits' : 'wait'}`)
  }
  return `${settableStates[state].done} ${queueName(queue)}: ${parts.join(', ') || 'no pull requests are queued'}.`
}

/** What `--set` adds to the request that sets a state, which the command says. */
export const setOfState = setOf(setQueueState, { state: { definitions: [] } })

export const changeState = (cli: Cli, queue: Queue, state: SettableState): Promise<number> =>
  forOne(cli, setQueueState, queue, async () => {
    const before = await readForPerson(cli, getQueue, queue)
    const change = { ...operations.queueUpdate, sentence: settableStates[state] }
    const operation = { ...setQueueState, change }
    const sent = await send(cli, operation, { ...queue, state })
    return show(
      sent,
      before === undefined
        ? `The queue for ${queueName(queue)} is now ${stateWords(state)}.`
        : describeStateChange(state, queue, before),
    )
  })
