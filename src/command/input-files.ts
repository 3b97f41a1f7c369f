import { isMergeqError, usageError } from '../base/errors.ts'
import type { ParseContext } from '../config/settings.ts'
import { joinPath } from '../config/store.ts'

/** Reads a file, or standard input for `-`. Throws a usage error that names an input that cannot be read. */
export async function* openInput(
  path: string,
  { host: { files, input, interrupted }, logger }: ParseContext,
): AsyncIterable<Uint8Array> {
  if (path === '')
    throw usageError('The file name must not be empty.', 'Specify a file name, or - for standard input.')
  try {
    if (path === '-' && input.terminal)
      await logger.info('Reading from the terminal. To finish, press Ctrl-D on an empty line.')
    if (path === '-') yield* input.read()
    else yield* files.stream(path, interrupted)
  } catch (error) {
    if (isMergeqError(error)) throw error
    const reason = (error instanceof Error ? error.message : String(error))
      .replace(/^[A-Z]+: |, \w+( '.*')?$/g, '')
      .replace('illegal operation on a directory', 'it is a directory')
    throw usageError(
      `${path === '-' ? 'Standard input' : path} cannot be read: ${reason}.`,
      'Check the file name and the file permissions.',
    )
  }
}

/** Returns a path or, of a directory, the files below it with one of the endings, by name; throws if it has none. */
export async function expandFiles(
  path: string,
  endings: readonly string[],
  { host: { files, runtime } }: ParseContext,
): Promise<readonly string[]> {
  const directory = path.replace(/(?<=.)[\\/]+$/, '')
  const entries = path === '-' ? undefined : await files.listBelow(directory).catch(() => undefined)
  if (entries === undefined) return [path]
  const names = entries.filter(name => endings.some(ending => name.toLowerCase().endsWith(ending)))
  if (names.length === 0) throw usageError(`${path} contains no ${endings.join(' or ')} file.`)
  return [...names].sort().map(name => joinPath(directory, name, runtime.platform))
}
