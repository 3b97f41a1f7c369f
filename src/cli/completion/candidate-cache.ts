import { cacheDirectory } from '../../config/store.ts'
import type { Host } from '../../host/host.ts'
import { isObject, parseJson } from '../../json.ts'
import type { CompletionCandidate } from './complete.ts'

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
export async function cacheCandidates(
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
