import { callOperation } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import { defineCommand } from '../cli/command.ts'
import type { CommandContext } from '../cli/context.ts'
import { flag, type Input } from '../cli/inputs.ts'
import { readInvocations } from '../cli/invocation.ts'
import { printDryRun } from '../cli/run-operation.ts'
import { createParseContext } from '../config/config.ts'
import {
  describeLoss,
  isQueued,
  isTested,
  type PushedBranch,
  parsePushes,
  pullRequestName,
  readPullRequestByBranch,
} from '../domain/git-push.ts'
import { type Repository, repositoryName } from '../domain/values/parsers.ts'
import { MergeqError, toMergeqError, usageError } from '../errors.ts'
import type { JsonObject } from '../json.ts'

/** What git gives its hook: the name of the remote, and its address. */
const remote: Input<string | undefined> = {
  definitions: [
    { syntax: '[remote...]', summary: 'What git gives its hook: a remote and its address', variadic: true },
  ],
  read: args => args.get('remote')?.[1],
}

/** The longest that a push waits for an answer, in milliseconds; --timeout makes it less. */
const maxWait = 3_000

/** What git has written for its hook. */
async function readPushes(context: CommandContext): Promise<readonly PushedBranch[]> {
  if (context.host.input.terminal)
    throw usageError(
      '`mergeq guard` is run by git, which tells it what is pushed.',
      'Install it with `mergeq guard --install`.',
    )
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of createParseContext(context.settings, context).open('-'))
    text += decoder.decode(piece, { stream: true })
  return parsePushes(text + decoder.decode())
}

/** Whether a push to this address leaves the branches of the repository itself alone: it goes to a fork. */
async function isElsewhere(address: string | undefined, repo: Repository): Promise<boolean> {
  const { parseGitRemote } = await import('../config/git-remote.ts')
  const there = address === undefined ? undefined : parseGitRemote(address)
  return there !== undefined && repositoryName(there).toLowerCase() !== repositoryName(repo).toLowerCase()
}

/** The record of a pull request that a push would take out of the queue; undefined where there is none. */
async function findQueuedPullRequest(
  { branch, from }: PushedBranch,
  address: string | undefined,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  const [run] = await readInvocations(readPullRequestByBranch, context)
  if (run === undefined) return undefined
  const one = { ...run, values: { ...run.values, head: branch } }
  const record = await callOperation(readPullRequestByBranch, one, context)
    .then(({ reply }) => reply.records[0])
    .catch(error => {
      const failure = toMergeqError(error)
      // A branch of which the service knows nothing is in no queue; a web page says nothing of that.
      if (failure.kind === 'not-found' && failure.details.isWebPage !== true) return undefined
      throw failure
    })
  if (record === undefined || !isQueued(record)) return undefined
  // Branches of two forks may have the same name: the head tells whose pull request it is.
  const { prSha } = record
  const isAnother = typeof prSha === 'string' && prSha !== '' && !from.startsWith(prSha)
  return isAnother && (await isElsewhere(address, run.values.repo)) ? undefined : record
}

/** Stops a push: what would be lost, and the two ways on. */
async function blockPush(
  record: JsonObject,
  { branch, isDeletion }: PushedBranch,
  context: CommandContext,
): Promise<MergeqError> {
  const [run] = await readInvocations(getQueue, context)
  const queue =
    run === undefined
      ? undefined
      : await callOperation(getQueue, run, context).then(
          ({ reply }) => reply.records[0],
          () => undefined,
        )
  const { targetBranch = '' } = run?.values ?? {}
  const name = pullRequestName(record)
  const loss = isTested(record) ? 'its place and its test run would be lost' : 'its place would be lost'
  const cancel = typeof record.prNumber === 'number' ? ` ${record.prNumber}` : ''
  return new MergeqError(
    'check-failed',
    `the ${isDeletion ? 'deletion' : 'push'} of ${branch} was stopped: ${describeLoss(record, queue, { targetBranch, now: context.host.clock.now() })}, and ${isDeletion ? 'deleting its head branch' : 'a push'} takes it out: ${loss}.`,
    {
      hint: [
        `Wait for it: mergeq pr wait${cancel}`,
        `Cancel ${name} first, then push: mergeq pr cancel${cancel}`,
        'Push all the same: MERGEQ_GUARD=off git push (or git push --no-verify)',
      ].join('\n'),
    },
  )
}

/** The same desk for questions that must be answered soon: nothing is repeated, and each has what time is left. */
function withDeadline(context: CommandContext, until: number): CommandContext {
  const { clock } = context.host
  return {
    ...context,
    withSpinner: (_, work) => work(),
    options: { ...context.options, retries: 0 },
    limits: { timeout: () => Math.max(1, until - clock.now()) },
  }
}

async function guardPush(address: string | undefined, context: CommandContext): Promise<number> {
  const pushes = await readPushes(context)
  const { host, options } = context
  const hasty = withDeadline(context, host.clock.now() + Math.min(maxWait, options.timeout ?? maxWait))
  for (const push of pushes) {
    if (options.dryRun) {
      const runs = await readInvocations(readPullRequestByBranch, context)
      return printDryRun(
        readPullRequestByBranch,
        runs.map(run => ({ ...run, values: { ...run.values, head: push.branch } })),
        context,
      )
    }
    const record = await findQueuedPullRequest(push, address, hasty)
    if (record !== undefined) throw await blockPush(record, push, hasty)
  }
  return 0
}

/** `mergeq guard`: a pre-push hook of git that will not let a push take a pull request out of the queue. */
export const guard = defineCommand({
  command: 'guard',
  summary: 'Keep a push from taking a pull request out of the queue: a git pre-push hook',
  operations: [readPullRequestByBranch, getQueue],
  exitKinds: ['check-failed'],
  output: 'nothing; what it says stands on standard error',
  inputs: {
    remote,
    install: flag('--install', 'Install it as the pre-push hook of this checkout'),
    uninstall: flag('--uninstall', 'Remove it again'),
    isStrict: flag('--fail-closed', 'Stop the push, too, when the queue cannot be asked'),
  },
  examples: [
    'mergeq guard --install',
    'MERGEQ_GUARD=off git push',
    'mergeq guard --install --fail-closed',
    'mergeq guard --uninstall',
  ],
  async run(values, context) {
    if (values.install && values.uninstall)
      throw usageError('--install and --uninstall contradict each other.', 'Leave one of them out.')
    if (values.install || values.uninstall) {
      const hooks = await import('./guard/hook.ts')
      return values.install ? hooks.install(values.isStrict, context) : hooks.uninstall(context)
    }
    if (context.host.env.MERGEQ_GUARD === 'off') return 0
    try {
      return await guardPush(values.remote, context)
    } catch (error) {
      const { kind, message, exit, details } = toMergeqError(error)
      const isTyped = kind === 'usage' && context.host.input.terminal
      if (isTyped || kind === 'check-failed' || kind === 'interrupted') throw error
      if (values.isStrict)
        throw new MergeqError(
          kind,
          `the push was stopped, because the queue could not be asked: ${message}`,
          {
            ...details,
            exit,
            hint: `${details.hint ?? ''}\nPush all the same: MERGEQ_GUARD=off git push (or git push --no-verify)`.trim(),
          },
        )
      await context.logger.warn(`guard: the queue could not be asked, and the push goes on: ${message}`)
      return 0
    }
  },
})
