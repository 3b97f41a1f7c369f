import { memoize } from '../domain/memoize.ts'
import { requireUtf8 } from '../domain/values/text.ts'
import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { joinPath, parentDirectory } from './file-paths.ts'
import type { SettingKey } from './setting-definitions.ts'
import type { SettingSource } from './setting-source.ts'

const fileName = '.mergeq.json'
const maxFileSize = 64 * 1024

/**
 * The settings that a project file may contain: whoever can write to a repository must not be able to send
 * a token elsewhere.
 */
const allowedSettings: readonly SettingKey[] = ['repo', 'targetBranch', 'org', 'output']

/**
 * Returns the path of the nearest project file, from the working directory up to the root of the git
 * checkout. Outside a checkout only the working directory counts.
 */
async function findProjectFile({ cwd, files, runtime: { platform } }: Host): Promise<string | undefined> {
  if (cwd === undefined) return undefined
  const paths: string[] = []
  for (let directory = cwd; ; directory = parentDirectory(directory)) {
    const path = joinPath(directory, fileName, platform)
    if (await files.exists(path)) paths.push(path)
    if (await files.exists(joinPath(directory, '.git', platform))) return paths[0]
    if (parentDirectory(directory) === directory || !/[\\/]/.test(directory)) break
  }
  return paths.find(path => path === joinPath(cwd, fileName, platform))
}

function parseProjectFile(path: string, text: string): JsonObject {
  let document: Json
  try {
    document = JSON.parse(text)
  } catch {
    throw usageError(
      `${path} contains invalid JSON.`,
      'For example: {"repo":"acme/web","targetBranch":"main"}',
    )
  }
  if (!isObject(document))
    throw usageError(
      `${path} must contain a JSON object.`,
      'For example: {"repo":"acme/web","targetBranch":"main"}',
    )
  for (const [key, value] of Object.entries(document)) {
    if (!allowedSettings.some(name => name === key))
      throw usageError(
        `${path} contains ${key}, which a project file must not set.`,
        `A project file may set only ${allowedSettings.join(', ')}. A base URL or a token in a repository could send your token elsewhere.`,
      )
    if (typeof value !== 'string') throw usageError(`${path}: ${key} must be a string.`)
  }
  return document
}

/**
 * Returns the project file as a source (docs/reference/cli.md, "Project file"). Its `find` throws a usage
 * error for an invalid file and for settings that a project file may not contain.
 */
export function projectFileSource(host: Host): SettingSource {
  const readFile = memoize(async () => {
    const path = await findProjectFile(host)
    if (path === undefined) return undefined
    const text = await host.files.read(path, maxFileSize).catch(error => {
      throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
    })
    return { path, document: parseProjectFile(path, requireUtf8(text ?? '', path)) }
  })
  return {
    async find(name) {
      if (!allowedSettings.includes(name)) return undefined
      const file = await readFile()
      const value = file?.document[name]
      return file === undefined || typeof value !== 'string'
        ? undefined
        : { value, origin: file.path, place: name }
    },
  }
}
