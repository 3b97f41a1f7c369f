import { projectFileSource } from '../../config/project-file.ts'
import { configKeys, settingDefinition } from '../../config/setting-definitions.ts'
import { openStore, sectionOf } from '../../config/store.ts'
import { parsePullRequest } from '../../domain/values/pull-request.ts'
import { parseRepository, repositoryName } from '../../domain/values/repository.ts'
import type { Host } from '../../host/host.ts'
import { isObject } from '../../json.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import type { SecretOutput } from '../context.ts'
import { globalOptions } from '../global-options.ts'
import type { ValueSource } from '../inputs.ts'
import type { CompletionCandidate, ValueLookup } from './complete.ts'

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
      const { readServiceValues } = await import('./service-values.ts')
      const values = await readServiceValues(source, lookup, deadline, host, secrets)
      const typed = new Set(lookup.positionals.map(toNumber))
      return source === 'tests' ? values : values.filter(({ value }) => !typed.has(value))
    }
    case 'branches': {
      const { listRemoteBranches } = await import('../../config/run-git.ts')
      return (await listRemoteBranches(host)).map(value => ({ value }))
    }
    case 'queues': {
      const { readServiceValues } = await import('./service-values.ts')
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
  const name = configKeys.get(lookup.positionals[0] ?? '')
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
  const { listRemotes } = await import('../../config/git.ts')
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
