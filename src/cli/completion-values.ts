import {
  readFailedPullRequests,
  readKnownTests,
  readQueueBranches,
  readQueuedPullRequests,
} from '../api/known-values.ts'
import type { ValueSource } from '../api/operation.ts'
import { configKeys, settingDefinition } from '../config/setting-definitions.ts'
import { type ParsedArgs, projectFileSource, resolveSettings } from '../config/settings.ts'
import { cacheDirectory, openStore, sectionOf } from '../config/store.ts'
import { parsePullRequest } from '../domain/values/pull-request.ts'
import { parseRepository, repositoryName } from '../domain/values/repository.ts'
import type { Host } from '../host/host.ts'
import { getString, isObject, parseJson } from '../json.ts'
import { createLogger } from '../output/logger.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { truncateCell } from '../output/text-width.ts'
import { createCommandClient, type SecretOutput } from './context.ts'
import { globalOptions } from './parse.ts'

/** A whole word that is valid at the cursor. */
export interface CompletionCandidate {
  readonly value: string
  readonly description?: string
}

/** Values that must be looked up, because the definitions of the commands do not contain them. */
export interface ValueLookup {
  readonly source: ValueSource
  /** The part of the current word before the value: `--repo=`, or empty. */
  readonly prefix: string
  /** The value as far as it was typed. */
  readonly current: string
  /** The arguments and options that were typed before. */
  readonly args: ParsedArgs
  /** The arguments that were typed before. */
  readonly words: readonly string[]
}

type Candidates = Promise<readonly CompletionCandidate[]>

/** The time in which all values must be found, in milliseconds. */
export const lookupTimeLimit = 1_000

/**
 * Returns the values of a lookup that begin with what was typed, in the order of their source. Returns none
 * when the values cannot be found within a second: the user is typing a command line at that moment. Values
 * that contain a secret are left out, and descriptions are redacted.
 */
export async function readValues(lookup: ValueLookup, host: Host, secrets: SecretOutput): Candidates {
  const { prefix, current } = lookup
  const deadline = host.clock.now() + lookupTimeLimit
  try {
    const limitedHost = { ...host, git: limitGit(host, deadline) }
    const candidates = await readSource(lookup.source, lookup, deadline, limitedHost, secrets)
    return candidates
      .filter(({ value }) => value.startsWith(current) && secrets.redact(value) === value)
      .map(({ value, description = '' }) => ({
        value: `${prefix}${value}`,
        ...(description === '' ? {} : { description: secrets.redact(sanitizeLine(description)) }),
      }))
  } catch {
    return []
  }
}

/** Returns `git` with a time limit that ends at the deadline, in milliseconds since 1970. */
const limitGit =
  ({ git, clock }: Host, deadline: number): Host['git'] =>
  (args, { env, timeout }) =>
    git(args, { env, timeout: Math.max(1, Math.min(timeout, deadline - clock.now())) })

async function readSource(
  source: ValueSource,
  lookup: ValueLookup,
  deadline: number,
  host: Host,
  secrets: SecretOutput,
): Candidates {
  switch (source) {
    case 'pull-requests':
    case 'recent-pull-requests':
    case 'tests': {
      const values = await readServiceValues(source, lookup, deadline, host, secrets)
      const typed = new Set(lookup.words.map(toNumber))
      return source === 'tests' ? values : values.filter(({ value }) => !typed.has(value))
    }
    case 'branches': {
      const { listRemoteBranches } = await import('../config/git.ts')
      return (await listRemoteBranches(host)).map(value => ({ value }))
    }
    case 'queues': {
      const [queues, branches] = await Promise.all([
        readServiceValues(source, lookup, deadline, host, secrets).catch(() => []),
        readSource('branches', lookup, deadline, host, secrets),
      ])
      return [...queues, ...branches.filter(({ value }) => !queues.some(queue => queue.value === value))]
    }
    case 'repositories':
      return readRepositories(lookup.current, host)
    case 'profiles':
      return (await readProfiles(host)).map(({ name, repo }) => ({
        value: name,
        ...(repo === undefined ? {} : { description: repo }),
      }))
    case 'setting-values':
      return readSettingValues(lookup, deadline, host, secrets)
  }
}

function toNumber(word: string): string {
  try {
    return String(parsePullRequest(word).number)
  } catch {
    return word
  }
}

async function readSettingValues(
  lookup: ValueLookup,
  deadline: number,
  host: Host,
  secrets: SecretOutput,
): Candidates {
  const name = configKeys.get(lookup.words[0] ?? '')
  if (name === undefined) return []
  const { choices, flag } = settingDefinition(name)
  if (choices !== undefined) return choices.map(value => ({ value }))
  const source = globalOptions.find(option => option.name === flag)?.values
  return source === undefined || source === 'setting-values'
    ? []
    : readSource(source, lookup, deadline, host, secrets)
}

async function readProfiles(
  host: Host,
): Promise<readonly { readonly name: string; readonly repo: string | undefined }[]> {
  const profiles = sectionOf(await openStore(host).read(), 'profiles')
  return Object.entries(profiles).map(([name, profile]) => ({
    name,
    repo: isObject(profile) && typeof profile.repo === 'string' ? profile.repo : undefined,
  }))
}

interface FoundRepository {
  readonly text: string
  readonly description: string
}

/** The default host is left out, unless it was typed. */
function toRepositoryCandidate(
  { text, description }: FoundRepository,
  current: string,
): readonly CompletionCandidate[] {
  try {
    const name = repositoryName(parseRepository(text))
    const short = name.replace(/^github\.com\/(?=[^/]+\/[^/]+$)/, '')
    return [{ value: short.startsWith(current) ? short : name, description }]
  } catch {
    return []
  }
}

/**
 * From the project file, the remotes and the stored profiles, each once. A source that cannot be read has
 * none.
 */
async function readRepositories(current: string, host: Host): Candidates {
  const { listRemotes } = await import('../config/git.ts')
  const sources: readonly (() => Promise<readonly FoundRepository[]>)[] = [
    async () => {
      const found = await projectFileSource(host).find('repo')
      return found === undefined ? [] : [{ text: found.value, description: '.mergeq.json' }]
    },
    async () =>
      (await listRemotes(host)).flatMap(({ name, repo }) =>
        repo === undefined ? [] : [{ text: repositoryName(repo), description: `git remote ${name}` }],
      ),
    async () =>
      (await readProfiles(host)).map(({ name, repo = '' }) => ({
        text: repo,
        description: `profile ${name}`,
      })),
  ]
  const found = (await Promise.all(sources.map(read => read().catch(() => [])))).flat()
  const candidates = found.flatMap(repository => toRepositoryCandidate(repository, current))
  return candidates.filter(
    ({ value }, index) => candidates.findIndex(other => other.value === value) === index,
  )
}

/** The largest width of a description, in columns of a terminal. */
const maxDescriptionWidth = 60

/**
 * Returns the values that only the service knows: the pull requests of the queue, also those that failed in
 * the last 24 hours for `recent-pull-requests`, the tests that failed in the last 24 hours, or the branches
 * that have a queue. Sends one request, two for `recent-pull-requests`, without retries, which end at
 * `deadline`, in milliseconds since 1970. Throws where a command would: without a token, and when the request
 * fails.
 */
async function readServiceValues(
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
    options: { retries: 0, timeout: Math.max(1, remaining()), verbose: false },
  })
  const limits = { maxRetries: 0, timeout: () => Math.max(1, remaining()) }
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

/** How long candidates from the service are reused, in milliseconds. */
const candidateLifetime = 5_000

/** The largest cache file that is read, in bytes. */
const maxFileSize = 4 * 1024 * 1024

/**
 * Returns the path of the cache file. Returns undefined where the cache directory does not exist, or where
 * other users can access it: the titles of pull requests are not for them.
 */
async function cacheFile({ env, runtime, files }: Host): Promise<string | undefined> {
  const directory = cacheDirectory({ env, runtime })
  const access = directory === undefined ? undefined : await files.access(directory)
  if (access === undefined) return undefined
  const { user, platform } = runtime
  if (user !== undefined && (access.owner !== user || (access.mode & 0o077) !== 0)) return undefined
  return `${directory}${platform === 'win32' ? '\\' : '/'}completion.json`
}

function readEntry(text: string, key: string, now: number): readonly CompletionCandidate[] | undefined {
  const entry = parseJson(text)
  if (!isObject(entry) || entry.key !== key || !Array.isArray(entry.candidates)) return undefined
  const age = now - Number(entry.at)
  if (!(age >= 0 && age < candidateLifetime)) return undefined
  return entry.candidates.flatMap(candidate => {
    if (!isObject(candidate) || typeof candidate.value !== 'string') return []
    const { value, description } = candidate
    return [typeof description === 'string' ? { value, description } : { value }]
  })
}

/**
 * Returns the candidates that were read for the same key within the last 5 seconds, and calls `load` only
 * where there are none. When `load` fails there are no candidates, for 5 seconds too: the next press of the
 * key does not wait for the same failure. A cache that cannot be read or written is ignored.
 */
async function cacheCandidates(
  host: Host,
  key: string,
  load: () => Promise<readonly CompletionCandidate[]>,
): Promise<readonly CompletionCandidate[]> {
  const { files, clock, interrupted } = host
  const path = await cacheFile(host).catch(() => undefined)
  if (path === undefined) return load()
  const text = await files.read(path, maxFileSize).catch(() => undefined)
  const cached = text === undefined ? undefined : readEntry(text, key, clock.now())
  if (cached !== undefined) return cached
  const candidates = await load().catch(() => [])
  // A request that the user interrupted says nothing about the service.
  if (!interrupted.aborted)
    await files
      .replace(path, JSON.stringify({ key, at: clock.now(), candidates }), 0o600)
      .catch(() => undefined)
  return candidates
}
