import { readIfFound } from '../../../api/call.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { MergeqError } from '../../../base/errors.ts'
import type { Cli } from '../../../command/command.ts'
import { type Queue, queueName } from '../../../values/repository.ts'
import { type LiveSettings, liveSettings } from './files/queue-file.ts'

export async function requireLive(queue: Queue, includesState: boolean, cli: Cli): Promise<LiveSettings> {
  const live = await readLive(queue, includesState, cli)
  if (live !== undefined) return live
  throw new MergeqError('not-found', `The queue for ${queueName(queue)} does not exist.`, {
    hint: 'To use another queue, name it with --repo and --target-branch.',
    status: 404,
  })
}

export async function readLive(
  queue: Queue,
  includesState: boolean,
  cli: Cli,
): Promise<LiveSettings | undefined> {
  const record = await readIfFound(cli.client(), getQueue, queue)
  return record && liveSettings(record, includesState)
}
