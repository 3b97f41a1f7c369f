import { usageError } from '../base/errors.ts'

const digits = /^(?!0+$)[\da-f]{7,64}$/i

/** Parses the hash of a commit, or its first 7 digits or more, into lower case. Throws a usage error for others. */
export function parseCommit(text: string): string {
  if (digits.test(text)) return text.toLowerCase()
  if (text === 'HEAD')
    throw usageError('HEAD is not a commit hash.', 'To use HEAD of the checkout, leave it out.')
  throw usageError(
    `'${text}' is not a commit hash.`,
    'Use all 40 or 64 hexadecimal digits, or at least the first 7 of a commit in the checkout.',
  )
}

/** Whether a commit has all digits of a SHA-1 or a SHA-256 hash. */
export const isCompleteCommit = (commit: string): boolean =>
  digits.test(commit) && (commit.length === 40 || commit.length === 64)

/** Returns the first seven digits of two commits, or more if these are equal. */
export function shortCommits(expected: string, found: string): readonly [expected: string, found: string] {
  const length = expected.slice(0, 7) === found.slice(0, 7) ? 64 : 7
  return [expected.slice(0, length), found.slice(0, length)]
}

/** Whether two commits differ. Either may be abbreviated; a commit that is not known counts as the same. */
export function isOtherCommit(one = '', other = ''): boolean {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()]
  return !first.startsWith(second) && !second.startsWith(first)
}
