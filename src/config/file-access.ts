import type { Host } from '../host/host.ts'

/** Something about who may use the stored settings that should be otherwise. */
export interface AccessProblem {
  readonly path: string
  readonly kind: 'owner' | 'file' | 'folder'
  /** What is wrong, to be put after the path: `belongs to another user (uid 1000; this is uid 0)`. */
  readonly what: string
  /** Whether somebody else may have written the settings: then they never decide where a token goes. */
  readonly isForeign: boolean
}

const folderOf = (path: string): string => path.replace(/[\\/][^\\/]*$/, '') || '/'
const inOctal = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0')

const root = 0

/**
 * What is wrong with who may use a settings file: another user owns it, others can read or write it, or others can
 * replace it, because its folder is theirs or open to them. Nothing where users have no ids (Windows).
 */
export async function accessProblems(
  { files, runtime: { user } }: Pick<Host, 'files' | 'runtime'>,
  path: string,
): Promise<readonly AccessProblem[]> {
  if (user === undefined) return []
  const own: number = user
  const problems: AccessProblem[] = []
  const ofAnother = (owner: number) => `belongs to another user (uid ${owner}; this is uid ${own})`
  // Of a link what it leads to matters as well as where it is.
  const target = await files.follow(path).catch(() => path)
  for (const folder of new Set([folderOf(path), folderOf(target)])) {
    const { owner, mode } = (await files.access(folder)) ?? { owner: own, mode: 0 }
    // Root may write everywhere anyway.
    if (owner !== own && owner !== root)
      problems.push({ path: folder, kind: 'owner', what: ofAnother(owner), isForeign: true })
    if ((mode & 0o022) !== 0)
      problems.push({
        path: folder,
        kind: 'folder',
        what: `can be written by others (mode ${inOctal(mode)})`,
        isForeign: (mode & 0o002) !== 0,
      })
  }
  const { owner, mode } = (await files.access(target)) ?? { owner: own, mode: 0 }
  if (owner !== own) problems.push({ path, kind: 'owner', what: ofAnother(owner), isForeign: true })
  if ((mode & 0o077) !== 0)
    problems.push({
      path,
      kind: 'file',
      what: `can be ${(mode & 0o022) === 0 ? 'read' : 'written'} by others (mode ${inOctal(mode)})`,
      isForeign: (mode & 0o002) !== 0,
    })
  return problems
}
