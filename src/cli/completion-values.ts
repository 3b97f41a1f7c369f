import { callOperation } from '../api/call.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { RequestLimits } from '../api/service-client.ts'
import { createServiceTime } from '../api/service-time.ts'
import { getString } from '../base/json.ts'
import type { CommandClient, SecretOutput } from '../command/command.ts'
import { flagName, type ValueSource } from '../command/inputs.ts'
import { listRemoteBranches } from '../config/git.ts'
import { type ParsedArgs, resolveSettings } from '../config/settings.ts'
import { findStored, openStore, profileNames } from '../config/store.ts'
import { queueEntries } from '../domain/queue-entries.ts'
import { stateWords } from '../domain/states.ts'
import type { Host } from '../host/host.ts'
import { createLogger } from '../output/logger.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { truncateCell } from '../output/text-width.ts'
import { pluralize } from '../values/format.ts'
import { defaultPageSize } from '../values/limits.ts'
import { isPullRequestReference, parsePullRequest } from '../values/pull-request.ts'
import { createCommandClient } from './run.ts'

/** A whole word that is valid at the cursor. */
export interface CompletionCandidate {
  readonly value: string
  readonly description?: string
}

/** Values that must be looked up, because the definitions of the commands do not contain them. */
export interface ValueLookup {
  readonly source: ValueSource
  /** The part of the current word before the value: `--head=`, or empty. */
  readonly prefix: string
  readonly current: string
  readonly args: ParsedArgs
  readonly words: readonly string[]
}

const lookupTimeLimit = 1_000

/** In milliseconds. */
const day = 86_400_000

/** The largest response that is read, in bytes: reading a larger one would take too long. */
const maxResponseSize = 1024 * 1024

const maxDescriptionWidth = 60

/** Returns the values that begin with what was typed; none that has a secret, and none after a second. */
export async function readValues(
  lookup: ValueLookup,
  host: Host,
  secrets: SecretOutput,
): Promise<readonly CompletionCandidate[]> {
  const { prefix, current } = lookup
  const deadline = host.clock.monotonic() + lookupTimeLimit
  const remaining = () => Math.max(1, deadline - host.clock.monotonic())
  const git: Host['git'] = (args, options) =>
    host.git(args, { ...options, timeout: Math.min(options.timeout, remaining()) })
  const describe = (text: string) => {
    // Cut after redaction: a part of a token must not remain.
    const description = truncateCell(secrets.redact(sanitizeLine(text)), maxDescriptionWidth)
    return description === '' ? {} : { description }
  }
  try {
    const values = await readSource(lookup, { ...host, git }, secrets, deadline)
    return values
      .filter(([value]) => value.startsWith(current) && secrets.redact(value) === value)
      .map(([value, text]) => ({ value: `${prefix}${value}`, ...describe(text) }))
  } catch {
    return []
  }
}

async function readSource(
  lookup: ValueLookup,
  host: Host,
  secrets: SecretOutput,
  deadline: number,
): Promise<Values> {
  switch (lookup.source) {
    case 'branches':
      return (await listRemoteBranches(host)).map(branch => [branch, ''])
    case 'profiles': {
      const store = openStore(host)
      const names = await profileNames(store)
      return Promise.all(
        names.map(async name => [name, (await findStored(store, name, 'repo'))?.value ?? ''] as const),
      )
    }
    case 'pull-requests':
      return readFromService(lookup, host, secrets, deadline, (...given) => readQueue(lookup.words, ...given))
    case 'owners':
      return readFromService(lookup, host, secrets, deadline, readOwners)
  }
}

type Values = readonly (readonly [value: string, description: string])[]

/** Reads values from the service by one request, until `deadline`. Throws where a command would. */
async function readFromService(
  { args }: ValueLookup,
  host: Host,
  secrets: SecretOutput,
  deadline: number,
  read: (client: CommandClient, limits: RequestLimits, remaining: () => number) => Promise<Values>,
): Promise<Values> {
  const silent = { write: async () => undefined }
  const settings = resolveSettings(args, host, {
    changes: false,
    nameOf: flagName,
    notify: silent.write,
  })
  const remaining = () => Math.max(0, deadline - host.clock.monotonic())
  const client = createCommandClient({
    host,
    settings,
    secrets,
    serviceTime: createServiceTime(host),
    logger: createLogger(silent, { quiet: true, verbose: false, json: false }),
    options: { retries: 0, timeout: remaining(), verbose: false, dryRun: false },
    // No program is run while somebody is typing: it may ask a question.
    tokenTime: 0,
  })
  try {
    return await read(client, { maxRetries: 0, timeout: remaining, maxResponseSize }, remaining)
  } finally {
    // A DNS lookup that hangs must not delay the shell.
    client.close().catch(() => undefined)
  }
}

/** Returns the pull requests of the queue that were not typed yet. */
async function readQueue(
  words: readonly string[],
  client: CommandClient,
  limits: RequestLimits,
  remaining: () => number,
): Promise<Values> {
  const repo = await client.settings.require('repo')
  const targetBranch = await client.settings.require('targetBranch')
  if (remaining() === 0) return []
  const { response } = await callOperation(client, getQueue, { repo, targetBranch }, { limits })
  const typed = new Set(words.filter(isPullRequestReference).map(word => parsePullRequest(word).number))
  return queueEntries(response.records[0] ?? {})
    .filter(({ pr }) => !typed.has(pr))
    .map(({ pr, state, record }) => {
      const texts = [stateWords(state), getString(record, 'prTitle') ?? '']
      return [String(pr), texts.filter(text => text !== '').join(': ')]
    })
}

/** Returns the owners of the tests that failed in the last day, as far as one page has them, by how many those are. */
async function readOwners(
  client: CommandClient,
  limits: RequestLimits,
  remaining: () => number,
): Promise<Values> {
  const repo = await client.settings.require('repo')
  const org = await client.settings.require('org')
  if (remaining() === 0) return []
  const { failingTestsPage } = await import('../api/operations/tests.ts')
  const end = client.serviceTime.now()
  const page = { repo, org, start: end - day, end, pageSize: defaultPageSize, pageToken: '' }
  const { response } = await callOperation(client, failingTestsPage, page, { limits })
  const { testsByOwner } = await import('../domain/owners.ts')
  return [...testsByOwner(response.records)]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([owner, tests]) => [owner, pluralize(tests.length, 'test')])
}
