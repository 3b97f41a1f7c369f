import { failureOrThrow, MergeqError, withPeriod } from '../../base/errors.ts'
import { type Cli, command } from '../../command/command.ts'
import { flag } from '../../command/inputs.ts'
import { gitOutput } from '../../config/git.ts'
import { newSubmissionNote } from '../../domain/states.ts'
import type { Host } from '../../host/host.ts'
import { guarding, guardPush, type PushedBranch } from './shared/push.ts'

export const definition = command({
  name: 'guard check',
  summary: 'Check the current branch, without a push',
  ...guarding,
  exits: ['check-failed'],
  options: { failClosed: flag('Exit 21 also if that cannot be told, for example without a token') },
  examples: ['mergeq guard check'],
  async run({ failClosed }, cli) {
    const reason = await checkBranch(cli)
    if (reason === undefined) return 0
    const sentence = `Not known: ${withPeriod(reason)}`
    if (failClosed) throw new MergeqError('check-failed', sentence)
    await cli.logger.info(sentence)
    return 0
  },
})

/** Checks the current branch like a push of it; returns why it is not known whether that would be blocked. */
async function checkBranch(cli: Cli): Promise<string | undefined> {
  const { logger, options, settings } = cli
  await settings.checkStore()
  for (const name of ['repo', 'targetBranch'] as const)
    if ((await settings.read(name)) === undefined)
      return settings.require(name).then(
        () => undefined,
        error => failureOrThrow(error).message,
      )
  const pushes = await currentPushes(cli.host)
  const [push] = pushes
  if (push === undefined) return 'no branch is checked out here'
  try {
    const problem = await guardPush(pushes, undefined, true, cli)
    if (problem !== undefined)
      return `only the name of the branch ${push.branch} was checked, because ${problem}`
  } catch (error) {
    const { kind, message } = failureOrThrow(error)
    if (['usage', 'check-failed', 'internal'].includes(kind)) throw error
    return message
  }
  if (!options.dryRun)
    await logger.info(
      `A push of ${push.branch} removes no pull request from the queue. If one was just submitted: ${newSubmissionNote}.`,
    )
  return undefined
}

/** Returns the current branch with each commit that it has at a remote; without any, with HEAD. */
async function currentPushes(host: Host): Promise<readonly PushedBranch[]> {
  const read = async (...args: string[]) => (await gitOutput(host, ...args))?.trim()
  const branch = await read('symbolic-ref', '--short', 'HEAD')
  if (branch === undefined) return []
  // A branch that was pushed without -u has no @{push}.
  const pushed =
    (await read('rev-parse', '@{push}')) ||
    (await read('for-each-ref', '--format=%(objectname)', `refs/remotes/*/${branch}`)) ||
    (await read('rev-parse', 'HEAD'))
  const commits = new Set(pushed?.split('\n') ?? [''])
  return [...commits].map(from => ({ branch, isDeletion: false, from }))
}
