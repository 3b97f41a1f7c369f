import { type CallResult, callOperation } from '../api/call.ts'
import type { Operation, Params, ParamValues } from '../api/operation.ts'
import { getSubmittedPullRequest } from '../api/operations/pull-requests.ts'
import { getQueue } from '../api/operations/queues.ts'
import { defineCommand } from '../cli/command.ts'
import { printDryRun } from '../cli/confirm.ts'
import type { CommandContext } from '../cli/context.ts'
import { flag, type Input } from '../cli/inputs.ts'
import { parseGitRemote } from '../config/git.ts'
import { createParseContext } from '../config/settings.ts'
import { elapsedSince, formatAge } from '../domain/format.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import { isUnderTest, normalizeState, outcomeOfRecord } from '../domain/states.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { extendError, isNotFound, MergeqError, toMergeqError, usageError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { installHook, uninstallHook } from './guard/hook.ts'

interface PushedBranch {
  readonly branch: string
  readonly isDeletion: boolean
  readonly from: string
}

const refUpdate = /^(\S+) ([\da-f]{40,64}) (\S+) ([\da-f]{40,64})$/
const isZero = (sha: string): boolean => /^0+$/.test(sha)

/**
 * Parses the standard input of a git pre-push hook (githooks(5)): `<local ref> <local sha> <remote ref>
 * <remote sha>` on each line. Omits tags, branches that do not move, and branches that the remote does not
 * have yet, because no pull request can come from them. Throws a usage error for any other line.
 */
export function parsePushes(text: string): readonly PushedBranch[] {
  return text
    .split(/\r?\n/)
    .filter(line => line !== '')
    .flatMap(line => {
      const [, , to = '', remote = '', from = ''] = refUpdate.exec(line) ?? []
      if (remote === '')
        throw usageError(
          `'${line.slice(0, 80)}' is not valid input for a pre-push hook.`,
          'Git writes `<local ref> <local sha> <remote ref> <remote sha>` on each line.',
        )
      const branch = remote.startsWith('refs/heads/') ? remote.slice('refs/heads/'.length) : undefined
      if (branch === undefined || isZero(from) || to === from) return []
      return [{ branch, isDeletion: isZero(to), from }]
    })
}

/** Whether a record says that its pull request is in the queue, so that a push would remove it. */
export const isQueued = (record: JsonObject): boolean =>
  outcomeOfRecord(record) === 'pending' && record.isCurrentlySubmittedToQueue !== false

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
function isOtherRepository(remoteUrl: string | undefined, repo: Repository): boolean {
  const pushedRepo = remoteUrl === undefined ? undefined : parseGitRemote(remoteUrl)
  return (
    pushedRepo !== undefined &&
    repositoryName(pushedRepo).toLowerCase() !== repositoryName(repo).toLowerCase()
  )
}

/** The queue whose pull requests are guarded. */
type Queue = ParamValues<typeof getQueue.params>

async function readQueueName(context: CommandContext): Promise<Queue> {
  const settings = createParseContext(context.settings, context)
  return { repo: await settings.require('repo'), targetBranch: await settings.require('targetBranch') }
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
    { limits: { maxRetries: 0, timeout } },
  )
}

/** Returns the record of the pull request that a push would remove from the queue, or undefined. */
async function findQueuedPullRequest(
  { branch, from }: PushedBranch,
  queue: Queue,
  remoteUrl: string | undefined,
  deadline: number,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  const values = { ...queue, head: branch }
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
  return isOtherHead && isOtherRepository(remoteUrl, queue.repo) ? undefined : record
}

/**
 * Describes what a pull request loses if a push removes it from the queue:
 * `#7 has been TESTING for 4m, position 2 of 5 in the queue for main`. `now` is in milliseconds since 1970.
 */
function describeLoss(
  record: JsonObject,
  queue: JsonObject | undefined,
  targetBranch: string,
  now: number,
): string {
  const state = normalizeState(getString(record, 'state') ?? 'in an unknown state')
  const elapsed = elapsedSince(getString(record, 'stateChangedAt'), now)
  const duration = elapsed === undefined ? '' : ` for ${formatAge(elapsed)}`
  const entries = queueEntries(queue ?? {})
  const position = entries.find(({ pr }) => pr === record.prNumber)?.position
  const place =
    position === undefined ? 'in the queue' : `position ${position} of ${entries.length} in the queue`
  return `${pullRequestName(record)} ${duration === '' ? 'is' : 'has been'} ${state}${duration}, ${place} for ${targetBranch}`
}

const pullRequestName = ({ prNumber }: JsonObject): string =>
  typeof prNumber === 'number' ? `#${prNumber}` : 'its pull request'

/** Creates the error that blocks a push: what the push would lose, and how to continue. */
async function createBlockedPushError(
  record: JsonObject,
  { branch, isDeletion }: PushedBranch,
  queue: Queue,
  deadline: number,
  context: CommandContext,
): Promise<MergeqError> {
  const queueRecord = await callWithDeadline(context, getQueue, queue, deadline).then(
    ({ response }) => response.records[0],
    () => undefined,
  )
  const name = pullRequestName(record)
  const now = context.host.clock.now()
  const isTested = isUnderTest(getString(record, 'state') ?? '')
  const loss = isTested ? 'its position and its test run' : 'its position'
  const numbers = typeof record.prNumber === 'number' ? [record.prNumber] : []
  const { commandLine } = context.settings
  return new MergeqError(
    'check-failed',
    `The ${isDeletion ? 'deletion' : 'push'} of ${branch} was blocked: ${describeLoss(record, queueRecord, queue.targetBranch, now)}. ${isDeletion ? 'Deleting the branch' : 'Pushing'} would remove ${name} from the queue and lose ${loss}.`,
    {
      hint: [
        `Wait until ${name} has finished: ${commandLine(['pr', 'wait', ...numbers], queue)}`,
        `Cancel ${name} first, then push: ${commandLine(['pr', 'cancel', ...numbers], queue)}`,
        'To push anyway: MERGEQ_GUARD=off git push (or git push --no-verify)',
      ].join('\n'),
    },
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
      const values = { ...(await readQueueName(context)), head: push.branch }
      return printDryRun(getSubmittedPullRequest, [{ values, overrides: [] }], context)
    }
    let blocked: MergeqError | undefined
    try {
      const queue = await readQueueName(context)
      const record = await findQueuedPullRequest(push, queue, remoteUrl, deadline, context)
      if (record !== undefined) blocked = await createBlockedPushError(record, push, queue, deadline, context)
    } catch (error) {
      failures.push(error)
    }
    host.interrupted.throwIfAborted()
    if (blocked !== undefined) throw blocked
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
    if (values.install) return installHook(values.failClosed, context)
    if (values.uninstall) return uninstallHook(context)
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
