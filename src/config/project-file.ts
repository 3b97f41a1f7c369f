import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { SettingKey } from './setting-definitions.ts'
import type { SettingSource } from './source.ts'

const fileName = '.mergeq.json'
const largestFile = 64 * 1024

/** What a project file may hold: whoever can write to a repository must not be able to send a token elsewhere. */
const permitted: readonly SettingKey[] = ['repo', 'targetBranch', 'org', 'output']

const parentOf = (folder: string): string => folder.replace(/[\\/][^\\/]*$/, '') || '/'

/** The nearest project file from the working folder up to the root of the git checkout; outside one, its own. */
async function nearest({ cwd, files }: Host): Promise<string | undefined> {
  if (cwd === undefined) return undefined
  const paths: string[] = []
  for (let folder = cwd; ; folder = parentOf(folder)) {
    const path = `${folder === '/' ? '' : folder}/${fileName}`
    if (await files.exists(path)) paths.push(path)
    if (await files.exists(`${folder === '/' ? '' : folder}/.git`)) return paths[0]
    if (parentOf(folder) === folder || !/[\\/]/.test(folder)) break
  }
  return paths.find(path => path === `${cwd === '/' ? '' : cwd}/${fileName}`)
}

function read(path: string, text: string): JsonObject {
  let document: Json
  try {
    document = JSON.parse(text)
  } catch {
    throw usageError(`${path} is not JSON.`, 'For example {"repo":"acme/web","targetBranch":"main"}.')
  }
  if (!isObject(document)) throw usageError(`${path} is not a JSON object.`)
  for (const [key, value] of Object.entries(document)) {
    if (!permitted.some(name => name === key))
      throw usageError(
        `${path} holds ${key}, which a project file may not set.`,
        `It may hold ${permitted.join(', ')}: a base address or a token in a repository could send your token elsewhere.`,
      )
    if (typeof value !== 'string') throw usageError(`${path}: ${key} is not text.`)
  }
  return document
}

/** The project file as a source (CLI.md section 3); anything else in it than what is permitted is a usage failure. */
export function projectFileSource(host: Host): SettingSource {
  let reading: Promise<{ path: string; document: JsonObject } | undefined> | undefined
  const load = async () => {
    const path = await nearest(host)
    if (path === undefined) return undefined
    const text = await host.files.read(path, largestFile).catch(error => {
      throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
    })
    return { path, document: read(path, text ?? '') }
  }
  return {
    async find(name) {
      if (!permitted.includes(name)) return undefined
      reading ??= load()
      const file = await reading
      const value = file?.document[name]
      return file === undefined || typeof value !== 'string'
        ? undefined
        : { value, origin: file.path, place: name }
    },
  }
}
