import type { Host } from '../host/host.ts'

const isAbsolute = (path: string | undefined): path is string =>
  path !== undefined && (path.startsWith('/') || /^[A-Za-z]:[\\/]|^\\\\/.test(path))

/**
 * The folder of the stored settings: MERGEQ_CONFIG_DIR, or the platform's own. Undefined where none can be told for
 * certain: then nothing is stored, and nothing is ever written below the working folder.
 */
export function configDirectory({ env, runtime }: Pick<Host, 'env' | 'runtime'>): string | undefined {
  if ((env.MERGEQ_CONFIG_DIR ?? '') !== '')
    return isAbsolute(env.MERGEQ_CONFIG_DIR) ? env.MERGEQ_CONFIG_DIR : undefined
  if (runtime.platform === 'win32') return isAbsolute(env.APPDATA) ? `${env.APPDATA}\\mergeq` : undefined
  if (runtime.platform === 'darwin')
    return isAbsolute(env.HOME) ? `${env.HOME}/Library/Preferences/mergeq` : undefined
  if (isAbsolute(env.XDG_CONFIG_HOME)) return `${env.XDG_CONFIG_HOME}/mergeq`
  return isAbsolute(env.HOME) ? `${env.HOME}/.config/mergeq` : undefined
}

/** The file of the stored settings. */
export function configFile(host: Pick<Host, 'env' | 'runtime'>): string | undefined {
  const folder = configDirectory(host)
  return folder === undefined
    ? undefined
    : `${folder}${host.runtime.platform === 'win32' ? '\\' : '/'}config.json`
}
