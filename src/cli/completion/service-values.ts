import {
  readFailedPullRequests,
  readKnownTests,
  readQueueBranches,
  readQueuedPullRequests,
} from '../../api/known-values.ts'
import { withMaxRetries } from '../../api/service-client.ts'
import { resolveSettings } from '../../config/config.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import type { Host } from '../../host/host.ts'
import { getString } from '../../json.ts'
import { createLogger } from '../../output/logger.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import { truncateCell } from '../../output/text-width.ts'
import { createCommandClient } from '../command-client.ts'
import type { SecretOutput } from '../context.ts'
import { cacheCandidates } from './candidate-cache.ts'
import type { CompletionCandidate, ValueLookup } from './complete.ts'

/** The largest width of a description, in columns of a terminal. */
const maxDescriptionWidth = 60

/**
 * Returns the values that only the service knows: the pull requests of the queue, also those that failed in
 * the last 24 hours for `recent-pull-requests`, the tests that failed in the last 24 hours, or the branches
 * that have a queue. Sends one request, two for `recent-pull-requests`, without retries, which end at
 * `deadline`, in milliseconds since 1970. Throws where a command would: without a token, and when the request
 * fails.
 */
export async function readServiceValues(
  source: 'pull-requests' | 'recent-pull-requests' | 'tests' | 'queues',
  { args }: Pick<ValueLookup, 'args'>,
  deadline: number,
  host: Host,
  secrets: SecretOutput,
): Promise<readonly CompletionCandidate[]> {
  const remaining = () => Math.max(0, deadline - host.clock.now())
  const silent = { write: async () => undefined }
  const settings = resolveSettings(args, host, {
    changes: false,
    changesSettings: false,
    notify: silent.write,
  })
  const client = createCommandClient({
    host,
    settings,
    secrets,
    logger: createLogger(silent, { quiet: true, verbose: false, json: false }),
    options: { retries: 0, timeout: Math.max(1, remaining()), maxResponseSize: undefined, verbose: false },
  })
  const limits = { ...withMaxRetries(client, 0), timeout: () => Math.max(1, remaining()) }
  /** Cuts the text after redaction: a part of a token must not remain. */
  const describe = (text: string) => truncateCell(secrets.redact(sanitizeLine(text)), maxDescriptionWidth)
  const load = async (
    key: readonly string[],
    read: () => Promise<readonly CompletionCandidate[]>,
  ): Promise<readonly CompletionCandidate[]> => {
    // The token is checked before the cache is read: a command that may not ask the service offers nothing.
    await client.token()
    return cacheCandidates(host, JSON.stringify([source, await settings.require('baseUrl'), ...key]), () => {
      if (remaining() === 0) throw new Error('no time is left for a request')
      return read()
    })
  }
  try {
    if (source === 'queues') {
      const repo = await settings.read('repo')
      return await load([repo === undefined ? '' : repositoryName(repo)], async () => {
        const branches = await readQueueBranches(client, repo, limits)
        return branches.map(value => ({ value, description: 'has a queue' }))
      })
    }
    const repo = await settings.require('repo')
    if (source === 'tests') {
      const org = await settings.require('org')
      return await load([repositoryName(repo), org], async () => {
        const tests = await readKnownTests(client, { repo, org }, limits)
        return tests.flatMap(test => {
          const id = getString(test, 'id')
          return id === undefined ? [] : [{ value: id, description: describe(getString(test, 'name') ?? '') }]
        })
      })
    }
    const targetBranch = await settings.require('targetBranch')
    return await load([repositoryName(repo), targetBranch], async () => {
      const queue = { repo, targetBranch }
      const [queued, failed] = await Promise.all([
        readQueuedPullRequests(client, queue, limits),
        source === 'pull-requests' ? [] : readFailedPullRequests(client, queue, limits).catch(() => []),
      ])
      const finished = failed.filter(({ pr }) => !queued.some(entry => entry.pr === pr))
      return [...queued, ...finished].map(({ pr, state, record }) => {
        const title = getString(record, 'prTitle') ?? ''
        const words = [state.toLowerCase().replaceAll('_', ' '), title].filter(word => word !== '')
        return { value: String(pr), description: describe(words.join(': ')) }
      })
    })
  } finally {
    // A DNS lookup that hangs must not delay the shell.
    client.close().catch(() => undefined)
  }
}
