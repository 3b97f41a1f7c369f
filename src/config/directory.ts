import type { Host } from '../host/host.ts'
import { joinPath } from './file-paths.ts'

const isAbsolute = (path: string | undefined): path is string =>
  path !== undefined && (path.startsWith('/') || /^[A-Za-z]:[\\/]|^\\\\/.test(path))

/**
 * Returns the directory of the stored settings: MERGEQ_CONFIG_DIR, or the directory of the platform.
 * Returns undefined when the variables name no absolute directory: nothing is stored then, and nothing is
 * written below the working directory.
 */
function configDirectory({ env, runtime }: Pick<Host, 'env' | 'runtime'>): string | undefined {
  if ((env.MERGEQ_CONFIG_DIR ?? '') !== '')
    return isAbsolute(env.MERGEQ_CONFIG_DIR) ? env.MERGEQ_CONFIG_DIR : undefined
  if (runtime.platform === 'win32') return isAbsolute(env.APPDATA) ? `${env.APPDATA}\\mergeq` : undefined
  if (isAbsolute(env.XDG_CONFIG_HOME)) return `${env.XDG_CONFIG_HOME}/mergeq`
  if (runtime.platform === 'darwin')
    return isAbsolute(env.HOME) ? `${env.HOME}/Library/Preferences/mergeq` : undefined
  return isAbsolute(env.HOME) ? `${env.HOME}/.config/mergeq` : undefined
}

/**
 * Returns the directory of cached data, which holds the cache of compiled code too. Returns undefined when
 * the variables name no absolute directory.
 */
export function cacheDirectory({ env, runtime }: Pick<Host, 'env' | 'runtime'>): string | undefined {
  const { HOME, LOCALAPPDATA, XDG_CACHE_HOME } = env
  if (runtime.platform === 'win32') return isAbsolute(LOCALAPPDATA) ? `${LOCALAPPDATA}\\mergeq` : undefined
  const base = runtime.platform === 'darwin' ? `${HOME}/Library/Caches` : XDG_CACHE_HOME || `${HOME}/.cache`
  return isAbsolute(base) ? `${base}/mergeq` : undefined
}

/** Returns the path of the file with the stored settings, or undefined when there is no directory for it. */
export function configFile(host: Pick<Host, 'env' | 'runtime'>): string | undefined {
  const directory = configDirectory(host)
  return directory === undefined ? undefined : joinPath(directory, 'config.json', host.runtime.platform)
}
