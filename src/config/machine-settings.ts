import { isMergeqError, usageError } from '../base/errors.ts'
import { isObject, type JsonObject } from '../base/json.ts'
import type { Files, ServiceHost } from '../host/host.ts'
import { maxStoreSize } from '../values/limits.ts'
import { isSwitchedOff } from './setting-definitions.ts'

/** Whether a user other than root can write to a file with these permission bits. */
const isWritableByOthers = (mode: number): boolean => (mode & 0o022) !== 0

/** Returns the document; throws a usage error where others than root can change it, or with a token in it. */
async function readMachineDocument(
  path: string,
  files: Pick<Files, 'openSettings'>,
  parse: (text: string) => JsonObject,
): Promise<JsonObject> {
  const refuse = (problem: string, fix: string) =>
    usageError(
      `The settings of this machine (${path}) are refused: ${problem}.`,
      `${fix}\nTo run a command without them, set MERGEQ_MACHINE_CONFIG=off.`,
    )
  const restrict = `To let only root change them, run: sudo chown root ${path} && sudo chmod 644 ${path}`
  try {
    const file = await files.openSettings(path, maxStoreSize, parse)
    if (file === undefined) return {}
    const { document, owner, mode } = file
    if (owner !== 0) throw refuse(`the file belongs to the user ${owner}, not to root`, restrict)
    if (isWritableByOthers(mode)) {
      const bits = mode.toString(8).padStart(3, '0')
      throw refuse(`others than root can change the file (mode ${bits})`, restrict)
    }
    const { profiles } = document
    const owners = [document, ...(isObject(profiles) ? Object.values(profiles) : [])]
    if (owners.some(each => isObject(each) && Object.hasOwn(each, 'tokens')))
      throw refuse('they contain tokens', 'Remove "tokens" from the file. For a token, use "token-command".')
    return document
  } catch (error) {
    if (isMergeqError(error)) throw error
    throw refuse(error instanceof Error ? error.message : String(error), 'Fix the file.')
  }
}

/** Returns the settings of the machine; nothing with `MERGEQ_MACHINE_CONFIG=off`. */
export async function readMachineSettings(
  { env, files, machineFile: path }: Pick<ServiceHost, 'env' | 'files' | 'machineFile'>,
  parse: (text: string) => JsonObject,
) {
  const isOff = isSwitchedOff(env, 'MERGEQ_MACHINE_CONFIG', 'the settings of the machine')
  return isOff || path === undefined
    ? undefined
    : { path, document: await readMachineDocument(path, files, parse) }
}
