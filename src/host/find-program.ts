import { accessSync, constants, statSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { Environment } from './host.ts'
import { windowsEnvironment } from './windows-environment.ts'

/** Where a program is looked up. */
export interface LookupOptions {
  readonly env: Environment
  readonly platform: string
  /** Whether relative entries of PATH count too. On Windows they never do. */
  readonly allowsRelative?: boolean
}

/** The endings of programs on Windows without the variable PATHEXT. */
const defaultEndings = '.COM;.EXE;.BAT;.CMD'

/** The directories that are searched outside Windows without the variable PATH. */
const defaultDirectories = '/usr/bin:/bin'

/** Returns an environment variable; on Windows upper and lower case are the same. */
export const readVariable = (name: string, env: Environment, platform: string): string | undefined =>
  (platform === 'win32' ? windowsEnvironment(env) : env)[name]

/** Whether a path names a directory whatever the working directory and the current drive are. */
const isFixed = (path: string, platform: string): boolean =>
  platform === 'win32' ? /^(?:[A-Za-z]:[\\/]|[\\/]{2}[^\\/])/.test(path) : posix.isAbsolute(path)

/** Returns the entries of a PATH that name a directory whatever the working directory is. */
export function absoluteEntries(path: string, platform: string): readonly string[] {
  return path
    .split(platform === 'win32' ? ';' : ':')
    .map(entry => (platform === 'win32' ? entry.replace(/^"(.*)"$/, '$1') : entry))
    .filter(entry => isFixed(entry, platform))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * Returns the path of a program as the shells of the platform find it, except that the working directory is
 * never searched: a name is looked up in the absolute entries of PATH, on Windows with the endings of
 * PATHEXT. A name with a directory stays; on Windows it gets its ending. Returns undefined when there is no
 * such program.
 */
export function findProgram(
  name: string,
  { env, platform, allowsRelative = false }: LookupOptions,
  exists = isProgram,
): string | undefined {
  const isWindows = platform === 'win32'
  const hasDirectory = (isWindows ? /[\\/]|^[A-Za-z]:/ : /\//).test(name)
  // Outside Windows the system itself looks up what is not searched here.
  if (!isWindows && (hasDirectory || allowsRelative)) return name
  const endings = isWindows
    ? (readVariable('PATHEXT', env, platform) || defaultEndings).split(';').filter(ending => ending !== '')
    : ['']
  const isComplete = endings.some(ending => name.toLowerCase().endsWith(ending.toLowerCase()))
  const names = [...(isComplete ? [name] : []), ...endings.map(ending => `${name}${ending.toLowerCase()}`)]
  if (hasDirectory) return names.find(exists)
  const path = readVariable('PATH', env, platform) ?? (isWindows ? '' : defaultDirectories)
  const { join } = isWindows ? win32 : posix
  return absoluteEntries(path, platform)
    .flatMap(directory => names.map(file => join(directory, file)))
    .find(exists)
}
