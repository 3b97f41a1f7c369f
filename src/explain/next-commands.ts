import { getString, type JsonObject } from '../base/json.ts'
import type { TestRun } from '../domain/test-run.ts'
import { isCompleteCommit } from '../values/commit.ts'
import type { Queue } from '../values/repository.ts'
import type { CommandLine, CommandWords } from '../values/suggested-command.ts'
import type { Action, Step } from './readiness.ts'

/** What an explanation is about, with what was read of it; a queue has no pull request. */
interface Subject extends Queue {
  readonly pr?: number
  readonly record?: JsonObject | undefined
  readonly run?: TestRun | undefined
}

/** A next step: a command, or, if `command` is null, something that a person does elsewhere. */
export type NextStep = Pick<Step, 'when' | 'why'> & { readonly command: string | null }

/** Returns a step with its command line. */
export function nextStep(
  { action, ...step }: Step,
  { pr = 0, repo, targetBranch, record, run }: Subject,
  commandLine: CommandLine,
): NextStep {
  if (action === undefined) return { command: null, ...step }
  const sha = getString(record, 'prSha') ?? ''
  const commit = isCompleteCommit(sha) ? ['--sha', sha] : []
  const words: Readonly<Record<Action, CommandWords>> = {
    submit: ['pr', 'submit', pr],
    wait: ['pr', 'wait', pr],
    'restart-tests': ['pr', 'restart', pr],
    'show-record': ['pr', 'get', pr, '--json'],
    'show-timeline': ['pr', 'get', pr, '--timeline'],
    'show-test-run': ['pr', 'testing', run?.id ?? ''],
    'upload-targets': ['pr', 'targets', pr, '--from', 'targets.txt', ...commit],
    'list-queues': ['queue', 'list'],
    'list-not-ready': ['pr', 'list', '--state', 'not-ready'],
    'resume-queue': ['queue', 'resume'],
  }
  const place = action === 'list-queues' ? { repo: null, targetBranch: null } : { repo, targetBranch }
  return { command: commandLine(words[action], place), ...step }
}
