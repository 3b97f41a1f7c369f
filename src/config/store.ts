import { isMergeqError, type MergeqError, usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import { isObject, type JsonObject } from '../json.ts'
import { parseJson } from '../json-text.ts'
import { configFile } from './directory.ts'
import { type AccessProblem, accessProblems } from './file-access.ts'
import { configKeyOf } from './setting-definitions.ts'
import type { SettingSource } from './source.ts'

/** More than any settings file needs: what is larger is not one. */
export const maxStoreSize = 1024 * 1024

/** What is stored, as it stands in the file: `profiles` by name, `tokens` by origin, and whatever else is there. */
export interface Store {
  /** The file; undefined where no folder can be told. */
  readonly path: string | undefined
  /** The whole document; empty where there is no file. A file that cannot be read is a usage failure that names it. */
  read(): Promise<JsonObject>
  /** What is wrong with the file, once it was read in vain. */
  trouble(): MergeqError | undefined
  /** What is wrong with who may use the file and its folder. */
  accessProblems(): Promise<readonly AccessProblem[]>
}

/** The file that settings are stored in; a usage failure where no folder can be told. */
export function storeFile({ settings: { store } }: { readonly settings: { readonly store: Store } }): string {
  if (store.path === undefined)
    throw usageError(
      'There is no folder to store settings in.',
      'Set HOME, or MERGEQ_CONFIG_DIR to an absolute path.',
    )
  return store.path
}

/** Opens the stored settings for reading: read once, when first asked, and never made or changed. */
export function openStore(host: Host): Store {
  const path = configFile(host)
  let reading: Promise<JsonObject> | undefined
  let trouble: MergeqError | undefined
  const read = async () => {
    if (path === undefined) return {}
    try {
      return await readDocument(host, path, path)
    } catch (error) {
      if (isMergeqError(error)) trouble = error
      throw error
    }
  }
  return {
    path,
    trouble: () => trouble,
    accessProblems: async () => (path === undefined ? [] : accessProblems(host, path)),
    read() {
      reading ??= read()
      return reading
    },
  }
}

/** The document in a settings file at the end of a link; what cannot be read is a usage failure that names the link. */
export async function readDocument(host: Host, target: string, path: string): Promise<JsonObject> {
  try {
    return documentIn(await host.files.read(target, maxStoreSize), path)
  } catch (error) {
    if (isMergeqError(error)) throw error
    const problems = await accessProblems(host, path).catch(() => [])
    const theirs = problems.find(({ kind }) => kind === 'owner')
    throw broken(path, error instanceof Error ? error.message : String(error), theirs)
  }
}

/** The document in the text of a settings file. */
function documentIn(text: string | undefined, path: string): JsonObject {
  if (text === undefined) return {}
  const document = text.startsWith('\uFEFF') ? undefined : parseJson(text)
  if (document === undefined) throw broken(path, text.trim() === '' ? 'it is empty' : 'it is not JSON')
  if (!isObject(document)) throw broken(path, 'it is not a JSON object')
  return document
}

const broken = (path: string, why: string, theirs?: AccessProblem): MergeqError =>
  usageError(
    `the stored settings in ${path} cannot be read: ${why.replace(/^.*cannot be read: /, '').replace(/\.$/, '')}.`,
    theirs === undefined
      ? 'Mend the file, or move it away to start anew; mergeq never overwrites a file that it cannot read.'
      : `${theirs.path} ${theirs.what}. Run mergeq as that user, change the owner with chown, or name a folder of your own in MERGEQ_CONFIG_DIR.`,
  )

/** A part of the document by its name, where that is an object. */
export const sectionOf = (document: JsonObject, name: string): JsonObject => {
  const part = Object.hasOwn(document, name) ? document[name] : undefined
  return isObject(part) ? part : {}
}

/** The values of a profile. One that was never made is a usage failure, unless it is the default one. */
export function profileIn(document: JsonObject, name: string): JsonObject {
  const profiles = sectionOf(document, 'profiles')
  if (name !== 'default' && !Object.hasOwn(profiles, name))
    throw usageError(
      `There is no profile ${name}.`,
      `Make it with \`mergeq config set <key> <value> --profile ${name}\`.`,
    )
  return sectionOf(profiles, name)
}

/** The profile as a source. A broken file gives nothing here: it is warned of, and stops only what needs it. */
export const profileSource = (store: Store, profile: () => Promise<string>): SettingSource => ({
  async find(name) {
    const key = configKeyOf(name)
    if (key === undefined) return undefined
    const chosen = await profile()
    const document = await store.read().catch(() => undefined)
    if (document === undefined) return undefined
    const value = profileIn(document, chosen)[key]
    if (typeof value !== 'string') return undefined
    const flag = chosen === 'default' ? '' : ` --profile ${chosen}`
    // Only the base address decides where something is sent.
    const problems = name === 'baseUrl' ? await store.accessProblems() : []
    const foreign = problems.find(({ isForeign }) => isForeign)
    return {
      value,
      ...(foreign === undefined ? {} : { foreign: `${foreign.path} ${foreign.what}` }),
      origin: `profile ${chosen}`,
      place: `${key} in ${store.path}`,
      fix: `Change it with \`mergeq config set ${key} <value>${flag}\`, or remove it with \`mergeq config unset ${key}${flag}\`.`,
    }
  },
})
