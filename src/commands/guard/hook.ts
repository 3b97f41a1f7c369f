import { extendError, failureOrThrow } from '../../base/errors.ts'
import { command } from '../../command/command.ts'
import { flag, type Input } from '../../command/inputs.ts'
import { guarding, guardPush, readPushes } from './shared/push.ts'

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

export const definition = command({
  name: 'guard hook',
  summary: 'Block a push to queued pull requests; git runs this before a push',
  ...guarding,
  exits: ['check-failed', 'timed-out'],
  options: {
    remote: remoteArgument,
    failClosed: flag('Also block the push if the queue cannot be read'),
  },
  examples: ['MERGEQ_GUARD=off git push'],
  async run({ remote, failClosed }, cli) {
    if (cli.host.env.MERGEQ_GUARD === 'off') return 0
    try {
      const pushes = await readPushes(cli.host)
      const problem = await guardPush(pushes, remote, false, cli)
      const what = pushes.length === 1 ? pushes[0]?.branch : `${pushes.length} branches`
      if (problem !== undefined)
        await cli.logger.warn(`The push of ${what} was checked by the name of the branch only: ${problem}.`)
      return 0
    } catch (error) {
      const failure = failureOrThrow(error)
      const { kind, message, details } = failure
      const isTyped = kind === 'usage' && cli.host.input.terminal
      if (isTyped || kind === 'check-failed') throw error
      if (failClosed)
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
