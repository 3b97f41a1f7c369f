import { usageError } from '../base/errors.ts'
import { isObject, type JsonObject, parseJson } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import type { ServiceHost } from '../host/host.ts'
import { pluralize } from '../values/format.ts'
import { requireUtf8 } from '../values/text.ts'
import { isContinuousIntegration } from './ci-systems.ts'
import { isSwitchedOff, type SettingKey, type SettingSource } from './setting-definitions.ts'
import { joinPath, parentDirectory } from './store.ts'

const fileName = '.mergeq.json'
const maxFileSize = 64 * 1024

/** Whoever can write to a repository must not be able to send a token elsewhere. */
const allowedSettings: readonly SettingKey[] = ['repo', 'targetBranch', 'org', 'output']

/** Matches keys that could send a token elsewhere or run a program, in this version or in a later one. */
const forbiddenKey = /url|host|proxy|token|secret|command|exec|program|file|profile/i

/** Returns the nearest file of these names up to the root of the checkout; outside of one, up to `top`. */
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

/** Returns the project file as a source, which throws a usage error for an invalid file. */
export function projectFileSource(host: ServiceHost, notify: (text: string) => Promise<void>): SettingSource {
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
    const names = unknown.filter(key => /^\w[\w.-]{0,39}$/.test(key)).join(', ')
    const list = names === '' ? '' : `: ${names}`
    if (unknown.length > 0)
      await notify(`${path}: ${pluralize(unknown.length, 'unknown key')} ignored${list}.`)
    return { path, document }
  })

  return {
    async find(name) {
      if (!allowedSettings.includes(name) || isSwitchedOff(host.env, 'MERGEQ_PROJECT_FILE', fileName))
        return undefined
      if (name === 'output' && isContinuousIntegration(host.env)) return undefined
      const file = await readFile()
      const value = file?.document[name]
      return file === undefined || typeof value !== 'string'
        ? undefined
        : { value, origin: file.path, place: name }
    },
  }
}
