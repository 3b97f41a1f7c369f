import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'

export function joinPath(directory: string, name: string, platform: string): string {
  const separator = platform === 'win32' ? '\\' : '/'
  return /[\\/]$/.test(directory) ? `${directory}${name}` : `${directory}${separator}${name}`
}

/** Returns the directory of a file or directory; `/` at the root. */
export const parentDirectory = (path: string): string => path.replace(/[\\/][^\\/]*$/, '') || '/'

/** Returns a path with the separators of the platform; git writes `/` on Windows too. */
export const platformPath = (path: string, platform: string): string =>
  platform === 'win32' ? path.replaceAll('/', '\\') : path

/** Returns a test for the names that a pattern with `*` and `?` matches, in any case as on Windows. */
function matcherOf(pattern: string): (name: string) => boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  const whole = new RegExp(`^${source}$`, 'iu')
  return name => whole.test(name)
}

/**
 * Returns the files that a typed path names, in the order of their names: the files with one of the endings,
 * such as `.xml`, in a directory; on Windows, whose shells do not expand `*` and `?`, the files that a pattern
 * matches; any other path as it is. Throws a usage error if there is no such file.
 */
export async function expandFiles(
  path: string,
  endings: readonly string[],
  { files, runtime: { platform } }: Pick<Host, 'files' | 'runtime'>,
): Promise<readonly string[]> {
  if (path === '-') return [path]
  const list = async (directory: string, matches: (name: string) => boolean) =>
    (await files.list(directory).catch(() => [])).filter(name => !/[\\/]/.test(name) && matches(name)).sort()
  const [, directory = '', pattern = ''] = /^(.*[\\/])?([^\\/]*)$/s.exec(path) ?? []
  if (platform === 'win32' && /[*?]/.test(pattern)) {
    const names = await list(
      directory === '' ? '.' : directory.replace(/(?<=[^:\\/])[\\/]+$/, ''),
      matcherOf(pattern),
    )
    if (names.length === 0)
      throw usageError(`No file matches ${path}.`, 'Check the directory and the pattern.')
    return names.map(name => `${directory}${name}`)
  }
  const folder = path.replace(/(?<=.)[\\/]+$/, '')
  const entries = await files.list(folder).catch(() => [])
  if (entries.length === 0) return [path]
  const names = await list(folder, name => endings.some(ending => name.toLowerCase().endsWith(ending)))
  if (names.length === 0) throw usageError(`${path} contains no ${endings.join(', ')} file.`)
  return names.map(name => joinPath(folder, name, platform))
}
