import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { listHeads } from '../../config/checkout.ts'
import { extendError, failureOrThrow, usageError } from '../../errors.ts'
import { columns } from '../../output/view.ts'
import type { Cli } from '../../run/cli.ts'
import { command } from '../../run/command.ts'
import { flag, type Input } from '../../run/inputs.ts'
import { hookColumns, installHook, uninstallHook } from './hook.ts'
import { guardPush, maxWait } from './push.ts'

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

/** Warns if the guard would not find every pull request in this checkout. */
async function warnOfLimits({ host, logger, settings }: Cli): Promise<void> {
  try {
    const heads = await listHeads(host, await settings.require('repo'), '*', maxWait)
    if (typeof heads === 'string')
      await logger.warn(`Pushes will be checked by the name of the branch only: ${heads}.`)
  } catch (error) {
    await logger.warn(`Pushes cannot be checked: ${failureOrThrow(error).message}`)
  }
}

export const guardCommand = command({
  name: 'guard',
  summary: 'Git pre-push hook that blocks pushes to queued pull requests',
  alsoSends: [getSubmittedPullRequest, getQueue],
  exits: ['check-failed'],
  settings: 'optional',
  tokenTime: maxWait,
  prints: 'nothing; messages go to standard error',
  fields: {
    names: ['hook', 'did', 'command', 'would'],
    columns: [...hookColumns, ...columns(['WOULD', 'would', 'prose'])],
  },
  options: {
    remote: remoteArgument,
    install: flag('Install the pre-push hook in this checkout'),
    uninstall: flag('Remove the pre-push hook'),
    check: flag('Check the current branch, without a push'),
    failClosed: flag('Also block the push if the queue cannot be read'),
  },
  examples: [
    'mergeq guard --install',
    'mergeq guard --check',
    'MERGEQ_GUARD=off git push',
    'mergeq guard --install --fail-closed',
    'mergeq guard --uninstall',
  ],
  async run(values, cli) {
    if ([values.install, values.uninstall, values.check].filter(Boolean).length > 1)
      throw usageError('--install, --uninstall and --check cannot be used together.', 'Use only one of them.')
    if (values.install) {
      const code = await installHook(values.failClosed, cli)
      if (!cli.options.dryRun) await warnOfLimits(cli)
      return code
    }
    if (values.uninstall) return uninstallHook(cli)
    if (values.check) return guardPush(values.remote, true, cli)
    if (cli.host.env.MERGEQ_GUARD === 'off') return 0
    try {
      return await guardPush(values.remote, false, cli)
    } catch (error) {
      const failure = failureOrThrow(error)
      const { kind, message, details } = failure
      const isTyped = kind === 'usage' && cli.host.input.terminal
      if (isTyped || kind === 'check-failed') throw error
      if (values.failClosed)
        throw extendError(
          failure,
          {
            hint: `${details.hint ?? ''}\nPush again when the queue can be read. To find the cause, run: mergeq doctor`.trim(),
          },
          `The push was blocked because the queue could not be checked: ${message}`,
        )
      await cli.logger.warn(`The queue could not be checked, so the push continues: ${message}`)
      return 0
    }
  },
})
