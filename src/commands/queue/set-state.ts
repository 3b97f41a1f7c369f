import { updateQueue } from '../../api/operations/queues.ts'
import { emptyDecoder } from '../../api/response.ts'
import { defineCommand } from '../../cli/command.ts'
import { constant } from '../../cli/inputs.ts'
import { pluralize } from '../../domain/format.ts'
import { queueEntries } from '../../domain/queue-entries.ts'
import { isUnderTest, normalizeState } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { getString, type JsonObject } from '../../json.ts'
import { message } from '../../output/view.ts'
import { readQueue } from './update.ts'

const verbs = { RUNNING: 'Resumed', PAUSED: 'Paused', DRAINING: 'Draining' } as const

type SettableState = keyof typeof verbs

/**
 * Returns what a change of the state means for the pull requests of the queue:
 * `Paused main: 1 pull request finishes testing, 22 wait.`
 */
export function describeStateChange(state: SettableState, targetBranch: string, before: JsonObject): string {
  if (normalizeState(getString(before, 'state') ?? '') === state)
    return `The queue for ${targetBranch} was already ${state}.`
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
  return `${verbs[state]} ${targetBranch}: ${parts.join(', ') || 'no pull requests are queued'}.`
}

/**
 * A command that sets the state of a queue and no other setting; it prints a receipt, whatever the service
 * responds.
 */
export const defineStateCommand = (verb: string, state: SettableState, summary: string) =>
  defineCommand({
    command: `queue ${verb}`,
    summary,
    operation: { ...updateQueue, decoder: emptyDecoder },
    params: ['repo', 'targetBranch', 'state'],
    inputs: { state: constant<SettableState | undefined>(state) },
    readBefore: (values, context) => readQueue(values, context),
    view: (_, { repo, targetBranch }, { before }) =>
      message(
        before === undefined
          ? `The queue for ${targetBranch} in ${repositoryName(repo)} is now ${state}.`
          : describeStateChange(state, targetBranch, before),
      ),
    examples: [`mergeq queue ${verb}`],
  })
