import { type CallResult, callOperation } from '../api/call.ts'
import type { Operation, Params, ParamValues } from '../api/operation.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { getQueue } from '../api/operations/queues.ts'
import { withMaxRetries } from '../api/service-client.ts'
import { defineCommand } from '../cli/command.ts'
import { queueInputs } from '../cli/common-inputs.ts'
import { printDryRun } from '../cli/confirm.ts'
import type { CommandContext } from '../cli/context.ts'
import { flag, type Input } from '../cli/inputs.ts'
import { readRequests } from '../cli/requests.ts'
import { createParseContext } from '../config/settings.ts'
import {
  describeLoss,
  isQueued,
  isTested,
  type PushedBranch,
  parsePushes,
  pullRequestName,
} from '../domain/git-push.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { extendError, isNotFound, MergeqError, toMergeqError, usageError } from '../errors.ts'
import type { JsonObject } from '../json.ts'

const guardRequest = { operation: getSubmittedPullRequest, inputs: queueInputs }

/** The URL of the remote; git passes the name of the remote and its URL to the hook. */
const remoteArgument: Input<string | undefined> = {
  definitions: [
    {
      name: 'remote',
      variadic: true,
      summary: 'Name and URL of the remote, as git passes them to the hook',
    },
  ],
  read: args => args.get('remote')?.[1],
}

/** Upper limit for the delay of a push, in milliseconds; --timeout can lower it. */
const maxWait = 3_000

/** Reads the pushed branches that git writes to the standard input of the hook. */
async function readPushes(context: CommandContext): Promise<readonly PushedBranch[]> {
  if (context.host.input.terminal)
    throw usageError(
      '`mergeq guard` is a git hook: git runs it and passes the pushed branches.',
      'To install it, run: mergeq guard --install',
    )
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of createParseContext(context.settings, context).open('-'))
    text += decoder.decode(chunk, { stream: true })
  return parsePushes(text + decoder.decode())
}

/** Whether a URL belongs to another repository, such as a fork. */
async function isOtherRepository(remoteUrl: string | undefined, repo: Repository): Promise<boolean> {
  const { parseGitRemote } = await import('../config/git-remote.ts')
  const pushedRepo = remoteUrl === undefined ? undefined : parseGitRemote(remoteUrl)
  return (
    pushedRepo !== undefined &&
    repositoryName(pushedRepo).toLowerCase() !== repositoryName(repo).toLowerCase()
  )
}

/** Returns the record of the pull request that a push would remove from the queue, or undefined. */
async function findQueuedPullRequest(
  { branch, from }: PushedBranch,
  remoteUrl: string | undefined,
  deadline: number,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  const [template] = await readRequests(guardRequest, context)
  if (template === undefined) return undefined
  const values = { ...template.values, head: branch }
  const record = await callWithDeadline(context, getSubmittedPullRequest, values, deadline)
    .then(({ response }) => response.records[0])
    .catch(error => {
      const failure = toMergeqError(error)
      // The service does not know the branch, so it is not queued. A web page with status 404 proves nothing.
      if (isNotFound(failure)) return undefined
      throw failure
    })
  if (record === undefined || !isQueued(record)) return undefined
  // Two forks may have branches of the same name: the head commit identifies the pull request.
  const { prSha } = record
  const isOtherHead = typeof prSha === 'string' && prSha !== '' && !from.startsWith(prSha)
  return isOtherHead && (await isOtherRepository(remoteUrl, template.values.repo)) ? undefined : record
}

/** Creates the error that blocks a push: what the push would lose, and how to continue. */
async function createBlockedPushError(
  record: JsonObject,
  { branch, isDeletion }: PushedBranch,
  deadline: number,
  context: CommandContext,
): Promise<MergeqError> {
  const [queueInvocation] = await readRequests({ operation: getQueue }, context)
  const queue =
    queueInvocation === undefined
      ? undefined
      : await callWithDeadline(context, getQueue, queueInvocation.values, deadline).then(
          ({ response }) => response.records[0],
          () => undefined,
        )
  const { targetBranch = '' } = queueInvocation?.values ?? {}
  const name = pullRequestName(record)
  const loss = isTested(record) ? 'its position and its test run' : 'its position'
  const numbers = typeof record.prNumber === 'number' ? [record.prNumber] : []
  const { commandLine } = context.settings
  return new MergeqError(
    'check-failed',
    `The ${isDeletion ? 'deletion' : 'push'} of ${branch} was blocked: ${describeLoss(record, queue, { targetBranch, now: context.host.clock.now() })}. ${isDeletion ? 'Deleting the branch' : 'Pushing'} would remove ${name} from the queue and lose ${loss}.`,
    {
      hint: [
        `Wait until ${name} has finished: ${commandLine(['pr', 'wait', ...numbers], queueInvocation?.values)}`,
        `Cancel ${name} first, then push: ${commandLine(['pr', 'cancel', ...numbers], queueInvocation?.values)}`,
        'To push anyway: MERGEQ_GUARD=off git push (or git push --no-verify)',
      ].join('\n'),
    },
  )
}

/**
 * Calls an operation without retries and without a spinner; no attempt ends after the deadline, in
 * milliseconds since 1970.
 */
function callWithDeadline<P extends Params>(
  context: CommandContext,
  operation: Operation<P>,
  params: ParamValues<P>,
  deadline: number,
): Promise<CallResult<P>> {
  const { host, logger } = context
  const client = context.client()
  const timeout = () => Math.max(1, deadline - host.clock.now())
  return callOperation(
    { ...client, logger: { ...logger, withSpinner: (_, work) => work() } },
    operation,
    params,
    { limits: { ...withMaxRetries(client, 0), timeout } },
  )
}

/**
 * Checks the pushed branches. Throws the error that blocks the push, otherwise the error of the first branch
 * that could not be checked; returns the exit code 0 if there is none.
 */
async function guardPush(remoteUrl: string | undefined, context: CommandContext): Promise<number> {
  const pushes = await readPushes(context)
  const { host, options } = context
  const deadline = host.clock.now() + Math.min(maxWait, options.timeout ?? maxWait)
  const failures: unknown[] = []
  for (const push of pushes) {
    if (options.dryRun) {
      const templates = await readRequests(guardRequest, context)
      return printDryRun(
        getSubmittedPullRequest,
        templates.map(template => ({ ...template, values: { ...template.values, head: push.branch } })),
        context,
      )
    }
    const record = await findQueuedPullRequest(push, remoteUrl, deadline, context).catch(error => {
      failures.push(error)
      return undefined
    })
    host.interrupted.throwIfAborted()
    if (record !== undefined) throw await createBlockedPushError(record, push, deadline, context)
  }
  if (failures.length > 0) throw failures[0]
  return 0
}

export const guardCommand = defineCommand({
  command: 'guard',
  summary: 'Git pre-push hook that blocks pushes to queued pull requests',
  operations: [getSubmittedPullRequest, getQueue],
  exitKinds: ['check-failed'],
  output: 'nothing; messages go to standard error',
  fields: {
    names: ['hook', 'did', 'command', 'would'],
    columns: [
      ['HOOK', 'hook', 'id'],
      ['RESULT', 'did'],
      ['WOULD', 'would', 'prose'],
    ],
  },
  options: {
    remote: remoteArgument,
    install: flag({ name: 'install', summary: 'Install the pre-push hook in this checkout' }),
    uninstall: flag({ name: 'uninstall', summary: 'Remove the pre-push hook' }),
    failClosed: flag({ name: 'fail-closed', summary: 'Also block the push if the queue cannot be read' }),
  },
  examples: [
    'mergeq guard --install',
    'MERGEQ_GUARD=off git push',
    'mergeq guard --install --fail-closed',
    'mergeq guard --uninstall',
  ],
  async run(values, context) {
    if (values.install && values.uninstall)
      throw usageError('--install and --uninstall cannot be used together.', 'Use only one of them.')
    if (values.install || values.uninstall) {
      const hooks = await import('./guard/hook.ts')
      return values.install ? hooks.installHook(values.failClosed, context) : hooks.uninstallHook(context)
    }
    if (context.host.env.MERGEQ_GUARD === 'off') return 0
    try {
      return await guardPush(values.remote, context)
    } catch (error) {
      const failure = toMergeqError(error)
      const { kind, message, details } = failure
      const isTyped = kind === 'usage' && context.host.input.terminal
      if (isTyped || kind === 'check-failed' || kind === 'interrupted') throw error
      if (values.failClosed)
        throw extendError(
          failure,
          {
            hint: `${details.hint ?? ''}\nTo push anyway: MERGEQ_GUARD=off git push (or git push --no-verify)`.trim(),
          },
          `The push was blocked because the queue could not be checked: ${message}`,
        )
      await context.logger.warn(`The queue could not be checked, so the push continues: ${message}`)
      return 0
    }
  },
})
