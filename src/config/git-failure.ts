import type { GitResult } from '../host/host.ts'

/** The characters of a message of git that are shown. */
const maxReasonLength = 160

/**
 * What git and ssh print for common failures, and what to say instead; the first pattern that matches wins.
 * The text of a match is used where nothing is said instead.
 */
const knownFailures: readonly (readonly [pattern: RegExp, reason?: string])[] = [
  [/not a git repository/i, 'the working directory is not in a git checkout'],
  [/dubious ownership/i, 'git does not trust this checkout, because another user owns it'],
  [/ambiguous argument 'HEAD'|unknown revision/i, 'the current branch has no commit yet'],
  [/host identification has changed/i, 'the host key differs from the key that ssh knows'],
  [
    /host key verification failed|no \S+ host key is known/i,
    'ssh does not know the host key; connect to the host once with ssh to accept it',
  ],
  [/permission denied \([^)\n]*\)/i],
  [/could not read (?:username|password)/i, 'the remote asks for a login, and git has no stored credential'],
  [
    /authentication failed|invalid username or (?:password|token)/i,
    'the remote rejected the stored credential',
  ],
  [
    /repository (?:'[^']*' )?not found/i,
    'the repository was not found, or the credential does not give access to it',
  ],
  [/could not resolve host(?:name)?:? [\w.-]+/i],
  [/cannot run ssh|unable to fork/i, 'ssh was not found'],
  [/connection (?:refused|timed out|reset)|network is unreachable/i],
]

/** Lines of git that do not say what happened. */
const uselessLine = /could not read from remote repository|correct access rights|repository exists|^\s*$/i

/** Returns why git failed, in a few words without a full stop. A credential in a URL is left out. */
export function describeGitFailure({ code, err = '', timedOut }: GitResult): string {
  if (timedOut === true) return 'git did not finish in time'
  if (code === 127 && err === '') return 'git was not found'
  for (const [pattern, reason] of knownFailures) {
    const [match] = pattern.exec(err) ?? []
    if (match !== undefined) return reason ?? match
  }
  const lines = err.split(/\r?\n/).filter(line => !uselessLine.test(line))
  const line = lines.findLast(text => text.startsWith('fatal: ')) ?? lines.at(-1) ?? `exit code ${code}`
  return line
    .replace(/^(?:fatal|error): /, '')
    .replace(/:\/\/[^/@\s]*@/g, '://')
    .replace(/\.$/, '')
    .slice(0, maxReasonLength)
}
