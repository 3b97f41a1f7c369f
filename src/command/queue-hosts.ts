import { callOperation } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import { failureOrThrow } from '../base/errors.ts'
import { mapConcurrent, maxConcurrent } from '../base/scheduling.ts'
import { defaultHost, type Queue, queueName } from '../values/repository.ts'
import type { Cli } from './command.ts'

/**
 * Returns queues that metrics name, each with the host at which the service knows its repository. Metrics have no host, so
 * where settings and checkout name another one than github.com, each is asked, and github.com last. A queue that none of
 * them has keeps the first host.
 */
export async function withHosts<T extends { readonly name: string; readonly queue: Queue }>(
  queues: readonly T[],
  cli: Cli,
): Promise<readonly T[]> {
  const [first] = queues
  if (first === undefined) return queues
  const known = await cli.settings.knownHosts()
  let hosts = [...new Set([first.queue.repo.host, ...known, defaultHost])]
  if (hosts.length < 2) return queues
  const findHost = async (named: T): Promise<T> => {
    for (const host of hosts) {
      const queue = { ...named.queue, repo: { ...named.queue.repo, host } }
      try {
        await callOperation(cli.client(), getQueue, queue)
        // The next queue is probably at the same host.
        hosts = [host, ...hosts.filter(other => other !== host)]
        return { ...named, queue, name: queueName(queue) }
      } catch (error) {
        const { status } = failureOrThrow(error).details
        // Any other failure says nothing about the host, and is reported when the queue is read.
        if (status !== 404 && status !== 400) return named
      }
    }
    return named
  }
  const found: T[] = []
  for await (const each of mapConcurrent(queues, maxConcurrent, findHost)) found.push(each)
  return found
}
