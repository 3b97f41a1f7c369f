import { getString } from '../base/json.ts'
import type { Config } from '../config/settings.ts'
import { isCompleteCommit } from '../values/commit.ts'
import type { PullRequest } from '../values/pull-request.ts'
import type { Queue } from '../values/repository.ts'
import type { CommandWords } from '../values/suggested-command.ts'
import type { ActionSubject, ExplainSources } from './explain-pull-request.ts'
import type { Action, QueueAction } from './readiness.ts'

/** The words of the command that does what an explanation suggests. */
export function wordsFor(action: Action, pr: number, { record, run }: ActionSubject): CommandWords {
  const sha = getString(record, 'prSha') ?? ''
  switch (action) {
    case 'submit':
    case 'wait':
      return ['pr', action, pr]
    case 'restart-tests':
      return ['pr', 'restart', pr]
    case 'show-record':
      return ['pr', 'get', pr, '--json']
    case 'show-timeline':
      return ['pr', 'get', pr, '--timeline']
    case 'show-test-run':
      return ['pr', 'testing', run?.id ?? '']
    case 'upload-targets': {
      const commit = isCompleteCommit(sha) ? ['--sha', sha] : []
      return ['pr', 'targets', pr, '--from', 'targets.txt', ...commit]
    }
    default:
      return queueWords[action]
  }
}

const queueWords: Readonly<Record<QueueAction, CommandWords>> = {
  'list-queues': ['queue', 'list'],
  'list-not-ready': ['pr', 'list', '--state', 'not-ready'],
  'resume-queue': ['queue', 'resume'],
}

/** What a suggested command is about: its queue, unless it lists all. */
const placeOf = (action: Action, { repo, targetBranch }: Queue) =>
  action === 'list-queues' ? { repo: null, targetBranch: null } : { repo, targetBranch }

/** Returns what an explanation of a pull request suggests as command lines. */
export const nextCommands =
  ({ commandLine }: Pick<Config, 'commandLine'>, pullRequest: PullRequest): ExplainSources['commandFor'] =>
  (action, subject) =>
    commandLine(wordsFor(action, pullRequest.pr, subject), placeOf(action, pullRequest))

/** Returns what an explanation of a queue suggests as command lines. */
export const nextQueueCommands =
  ({ commandLine }: Pick<Config, 'commandLine'>, queue: Queue) =>
  (action: QueueAction): string =>
    commandLine(queueWords[action], placeOf(action, queue))
