import { usageError } from '../base/errors.ts'
import { isObject, type JsonObject, parseJson } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import type { ServiceHost } from '../host/host.ts'
import { pluralize } from '../values/format.ts'
import { isSameRepository, namesHost, readRepository, repositoryName } from '../values/repository.ts'
import { branchName, requireUtf8 } from '../values/text.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import type { CiSource } from './discovery.ts'
import type { ResolvedValue, SettingKey, SettingSource } from './setting-definitions.ts'
import { joinPath, parentDirectory } from './store.ts'

const fileName = '.mergeq.json'
const maxFileSize = 64 * 1024

/**
 * The settings that a project file may contain: whoever can write to a repository must not be able to send
 * a token elsewhere.
 */
const allowedSettings: readonly SettingKey[] = ['repo', 'targetBranch', 'org', 'output']

/** Matches keys that could send a token elsewhere or run a program, in this version or in a later one. */
const forbiddenKey = /url|host|proxy|token|secret|command|exec|program|file|profile/i

/**
 * Returns the nearest file with one of the names, from a directory up to the root of the git checkout. Outside a
 * checkout only directories up to `top` count.
 */
export async function findFileAbove(
  directory: string,
  top: string,
  names: readonly string[],
  { files, runtime: { platform } }: ServiceHost,
): Promise<string | undefined> {
  let nearest: { readonly path: string; readonly isBelowTop: boolean } | undefined
  let isBelowTop = true
  for (let folder = directory; ; folder = parentDirectory(folder)) {
    for (const name of names) {
      const path = joinPath(folder, name, platform)
      if (nearest === undefined && (await files.exists(path))) nearest = { path, isBelowTop }
    }
    if (await files.exists(joinPath(folder, '.git', platform))) return nearest?.path
    if (folder === top) isBelowTop = false
    if (parentDirectory(folder) === folder || !/[\\/]/.test(folder)) break
  }
  return nearest?.isBelowTop === true ? nearest.path : undefined
}

function parseProjectFile(path: string, text: string): JsonObject {
  const document = parseJson(text)
  if (!isObject(document)) {
    const problem = document === undefined ? 'contains invalid JSON' : 'must contain a JSON object'
    throw usageError(`${path} ${problem}.`, 'For example: {"repo":"acme/web","targetBranch":"main"}')
  }
  for (const [key, value] of Object.entries(document)) {
    if (forbiddenKey.test(key))
      throw usageError(
        `${path} contains ${key}, which a project file must not set.`,
        `A project file may set only ${allowedSettings.join(', ')}. A base URL or a token in a repository could send your token elsewhere.`,
      )
    if (allowedSettings.some(name => name === key) && typeof value !== 'string')
      throw usageError(`${path}: ${key} must be a string.`)
  }
  return document
}

/** Whether MERGEQ_PROJECT_FILE switches the project file off. Throws a usage error for any other value. */
function isSwitchedOff({ MERGEQ_PROJECT_FILE: value = '' }: ServiceHost['env']): boolean {
  if (value !== '' && value.toLowerCase() !== 'off')
    throw usageError(
      `MERGEQ_PROJECT_FILE: '${value}' is not valid; must be off.`,
      'To ignore .mergeq.json, set MERGEQ_PROJECT_FILE=off.',
    )
  return value !== ''
}

interface ProjectFileOptions {
  /** Whether the command changes data. */
  readonly changes: boolean
  /** Whether the command passes or fails by what it reads. */
  readonly checks: boolean
  notify(text: string): Promise<void>
  /** Returns how to give a setting a value: `-b main`, or `targetBranch: 'main'` in the library. */
  give(name: 'repo' | 'targetBranch', value: string): string
  ci(): Promise<CiSource>
}

interface ProjectFileSource extends SettingSource {
  /** Returns what the file names, whatever the CI job says. */
  findNamed(name: SettingKey): Promise<ResolvedValue | undefined>
}

/**
 * Returns the project file as a source (docs/reference/cli.md, "Project file"). Its `find` throws a usage
 * error for an invalid file, for settings that a project file may not contain and, in a CI job, for a repository or
 * target branch that is not that of the job: the file may come from a pull request.
 */
export function projectFileSource(host: ServiceHost, options: ProjectFileOptions): ProjectFileSource {
  const { changes, checks, notify, give, ci } = options
  const isCiJob = isContinuousIntegration(host.env)
  const readFile = memoize(async () => {
    const { cwd } = host
    const path = cwd === undefined ? undefined : await findFileAbove(cwd, cwd, [fileName], host)
    if (path === undefined) return undefined
    const text = await host.files.read(path, maxFileSize).catch(error => {
      throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
    })
    const document = parseProjectFile(path, requireUtf8(text ?? '', path))
    const unknown = Object.keys(document).filter(
      key => key !== '$schema' && !allowedSettings.some(name => name === key),
    )
    if (unknown.length > 0)
      await notify(`${path}: ${pluralize(unknown.length, 'unknown key')} ignored${namesOf(unknown)}.`)
    return { path, document }
  })

  /** Returns the repository of the file; in a CI job only after a comparison with that of the job. */
  async function compareRepository(file: ResolvedValue): Promise<ResolvedValue> {
    const job = await (await ci()).find('repo')
    const [named, built] = [readRepository(file.value), job && readRepository(job.value)]
    if (job === undefined || named === undefined || built === undefined) return file
    const isSame = isSameRepository(namesHost(file.value) ? named : { ...named, host: built.host }, built)
    if (isSame) return { ...file, value: repositoryName(built) }
    const [one, other] = [repositoryName(named), repositoryName(built)]
    if (changes || checks)
      throw usageError(
        `${file.origin} names the repository ${one}, but this job is one of ${other} (${job.origin}).`,
        `The file may come from a pull request. Use ${give('repo', other)} or ${give('repo', one)}, or set MERGEQ_REPO.`,
      )
    await notify(`Using the repository ${one} of ${file.origin}; this job is one of ${other}.`)
    return file
  }

  /** Returns the target branch of the file; in a job of a pull request only if that is its base. */
  async function compareBranch(file: ResolvedValue): Promise<ResolvedValue> {
    const base = await (await ci()).findBase()
    const named = branchName(file.value)
    if (base === undefined || base.value === named) return file
    if (changes)
      throw usageError(
        `${file.origin} names the target branch ${named}, but the base of this job is ${base.value} (${base.origin}).`,
        `Use ${give('targetBranch', base.value)} or ${give('targetBranch', named)}, or set MERGEQ_TARGET_BRANCH.`,
      )
    await notify(`Using the target branch ${base.value} of this job, not ${named} of ${file.origin}.`)
    return base
  }

  async function findNamed(name: SettingKey): Promise<ResolvedValue | undefined> {
    if (!allowedSettings.includes(name) || isSwitchedOff(host.env)) return undefined
    if (name === 'output' && isCiJob) return undefined
    const file = await readFile()
    const value = file?.document[name]
    return file === undefined || typeof value !== 'string'
      ? undefined
      : { value, origin: file.path, place: name }
  }

  return {
    findNamed,
    async find(name) {
      const found = await findNamed(name)
      if (found === undefined) return undefined
      if (isCiJob && name === 'repo') return compareRepository(found)
      if (isCiJob && name === 'targetBranch') return compareBranch(found)
      return found
    },
  }
}

/** Returns those keys that look like names, for a message. */
function namesOf(keys: readonly string[]): string {
  const names = keys.filter(key => /^\w[\w.-]{0,39}$/.test(key))
  return names.length === 0 ? '' : `: ${names.join(', ')}`
}
