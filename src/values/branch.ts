/** Why a text is no name of a branch, without a full stop, and the branch that is probably meant. */
interface BranchProblem {
  readonly problem: string
  readonly meant?: string | undefined
}

/** What git allows in no name of a branch (git-check-ref-format(1)). */
const refusedParts: readonly (readonly [RegExp, string])[] = [
  [/^-/, 'begins with a dash'],
  [/[\0- \x7f]/, 'contains a space or a control character'],
  [/[~^:?*[\\]/, 'contains one of ~ ^ : ? * [ and a backslash'],
  [/\.\./, 'contains two dots in a row'],
  [/^\/|\/\/|\/$/, 'begins or ends with a slash, or has two in a row'],
  [/(?:^|\/)\./, 'has a part that begins with a dot'],
  [/\.lock(?:\/|$)/, 'has a part that ends with .lock'],
  [/\.$/, 'ends with a dot'],
  [/@\{|^@$/, 'is an expression of git'],
  [/^HEAD$/, 'is the name of what is checked out'],
]

/** Returns why git has no branch of a name; undefined for a branch. With `isExact`, `refs/heads/` stood before it. */
export function findBranchProblem(name: string, isExact = false): BranchProblem | undefined {
  const url = /^[a-z][a-z\d+.-]*:\/\/[^/]+(\/.*)?$/i.exec(name)
  if (url !== null) {
    const meant = /\/(?:tree|-\/tree|src\/branch)\/([^?#]+?)\/?(?:[?#].*)?$/.exec(url[1] ?? '')?.[1]
    return { problem: 'is a URL', meant: meant !== undefined && isBranch(meant) ? meant : undefined }
  }
  const remote = /^(?:refs\/)?remotes\/[^/]+\/(.+)$/.exec(name)?.[1]
  if (remote !== undefined && !isExact) return { problem: 'is a branch of a remote', meant: remote }
  if (name.startsWith('refs/')) return { problem: 'is a ref, but not that of a branch' }
  const found = refusedParts.find(([pattern]) => pattern.test(name))
  if (found === undefined) return undefined
  const meant = name.replace(/^[\s/-]+|[\s/.]+$/g, '')
  return { problem: found[1], meant: meant !== name && isBranch(meant) ? meant : undefined }
}

const isBranch = (name: string): boolean => name !== '' && findBranchProblem(name) === undefined
