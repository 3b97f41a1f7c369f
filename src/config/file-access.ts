import type { Environment, Host } from '../host/host.ts'

/** A problem with the permissions or the owner of the stored settings. */
export interface AccessProblem {
  readonly path: string
  readonly kind: 'owner' | 'file' | 'folder' | 'place'
  /**
   * What is wrong, as the rest of a sentence that begins with the path: `belongs to another user (uid 1000;
   * this is uid 0)`.
   */
  readonly description: string
  /**
   * Whether another user may have written the settings; such settings never decide where a token is sent.
   */
  readonly isForeign: boolean
}

/** Returns the directory of a file or directory; `/` at the root. */
export const parentDirectory = (path: string): string => path.replace(/[\\/][^\\/]*$/, '') || '/'
const formatMode = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0')

const root = 0

/** Returns the problem of a settings file outside the profile of a Windows user. */
function placeProblems(env: Environment, path: string): readonly AccessProblem[] {
  const normalize = (text: string) => `${text.replaceAll('/', '\\').toLowerCase()}\\`.replace(/\\+$/, '\\')
  const profiles = [env.USERPROFILE, env.APPDATA, env.LOCALAPPDATA].flatMap(directory =>
    directory ? [normalize(directory)] : [],
  )
  if (profiles.length === 0 || profiles.some(profile => normalize(path).startsWith(profile))) return []
  const description = 'is outside your user profile, so other users may be able to read it'
  return [{ path: parentDirectory(path), kind: 'place', description, isForeign: false }]
}

/**
 * Returns the problems with the permissions of a settings file: another user owns it, others can read or
 * write it, or others can replace it because they own or can write its directory. Returns no problems on
 * systems without user ids; on Windows a directory outside the profile of the user is a problem, because only
 * the profile is closed to other users.
 */
export async function accessProblems(
  { files, env = {}, runtime: { user, platform } }: Pick<Host, 'files' | 'runtime'> & Partial<Host>,
  path: string,
): Promise<readonly AccessProblem[]> {
  if (platform === 'win32') return placeProblems(env, path)
  if (user === undefined) return []
  const userId: number = user
  const problems: AccessProblem[] = []
  const wrongOwner = (owner: number) => `is owned by another user (uid ${owner}; you are uid ${userId})`
  // The directory of a link and the directory of its target both matter.
  const target = await files.resolveLink(path).catch(() => path)
  for (const directory of new Set([parentDirectory(path), parentDirectory(target)])) {
    const { owner, mode } = (await files.access(directory)) ?? { owner: userId, mode: 0 }
    // Root can write everywhere in any case.
    if (owner !== userId && owner !== root)
      problems.push({ path: directory, kind: 'owner', description: wrongOwner(owner), isForeign: true })
    if ((mode & 0o022) !== 0)
      problems.push({
        path: directory,
        kind: 'folder',
        description: `is writable by other users (mode ${formatMode(mode)})`,
        isForeign: (mode & 0o002) !== 0,
      })
  }
  const { owner, mode } = (await files.access(target)) ?? { owner: userId, mode: 0 }
  if (owner !== userId)
    problems.push({ path, kind: 'owner', description: wrongOwner(owner), isForeign: true })
  if ((mode & 0o077) !== 0)
    problems.push({
      path,
      kind: 'file',
      description: `is ${(mode & 0o022) === 0 ? 'readable' : 'writable'} by other users (mode ${formatMode(mode)})`,
      isForeign: (mode & 0o002) !== 0,
    })
  return problems
}
