import { usageError } from '../base/errors.ts'
import {
  isSameRepository,
  looksLikeHost,
  parseRepository,
  type Repository,
  repositoryName,
} from './repository.ts'

/** A pull request, and the queue that it is in: the values of a request that name it. */
export type PullRequest = {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number
  /** How it was found, such as `branch fix-cart`, where nobody named it: no argument, no variable and no CI job. */
  readonly guess?: string
}

/** Returns the name of a pull request; one that nobody named has how it was found: `#9 (branch fix-cart)`. */
export const pullRequestName = ({
  pr,
  guess,
}: {
  readonly pr?: number | undefined
  readonly guess?: string | undefined
}): string => (guess === undefined ? `#${pr}` : `#${pr} (${guess})`)

/** The largest pull request number that the service accepts (docs/reference/service.md, "Common fields"). */
export const maxPullRequestNumber = 4_294_967_295

const pullRequestUrl =
  /^https?:\/\/([^/?#\s@]+)\/([^?#\s]+?)\/(?:pull|-\/merge_requests)\/(\d+)(?![^/?#])(.*)$/s

/** What browsers append to the address of a pull request: one of its pages, a query, a fragment. */
const browserSuffix =
  /^(?:\/(?:files|changes|commits|checks|conflicts|diffs|pipelines)(?:\/[^?#\s]*)?)?\/?(?:[?#]\S*)?$/

/** Returns the parts of the address of a pull request; undefined for any other text. */
function readAddress(text: string): { readonly number: string; readonly repo: string } | undefined {
  const [, host = '', path, number = '', suffix = ''] = pullRequestUrl.exec(text) ?? []
  return looksLikeHost(host) && isNumber(number) && browserSuffix.test(suffix)
    ? { number, repo: `${host}/${path}` }
    : undefined
}

const isNumber = (text: string): boolean =>
  /^#?[1-9]\d{0,9}$/.test(text) && Number(text.replace('#', '')) <= maxPullRequestNumber

export const isPullRequestReference = (text: string): boolean =>
  isNumber(text) || readAddress(text) !== undefined

/** Returns what to type instead of a text that is not a pull request. */
const hintInsteadOf = (text: string): string =>
  /^#?\d+(?:,#?\d+)+$/.test(text)
    ? `Separate pull requests with spaces: ${text.replaceAll(/[#,]+/g, ' ').trim()}`
    : `Use a number (123 or '#123', at most ${maxPullRequestNumber}) or the URL of the pull request.`

/**
 * Parses a pull request: `123`, `#123` or a URL, which also names the repository
 * (docs/reference/cli.md, "Pull requests"). Throws a usage error for any other text.
 */
export function parsePullRequest(text: string): { readonly number: number; readonly repo?: string } {
  const address = readAddress(text)
  if (address !== undefined) return { number: Number(address.number), repo: address.repo }
  if (!isNumber(text)) throw usageError(`'${text}' is not a pull request.`, hintInsteadOf(text))
  return { number: Number(text.replace('#', '')) }
}

/**
 * Returns the number of a pull request and, where its address names it, its repository. Throws a usage error if the
 * caller gave another repository.
 *
 * @param repo the repository that the caller gave, as a text
 */
export function readReference(
  reference: string,
  repo: string | undefined,
  nameOf: (name: string) => string,
): ReturnType<typeof parsePullRequest> {
  const parsed = parsePullRequest(reference)
  if (
    parsed.repo !== undefined &&
    repo !== undefined &&
    !isSameRepository(parseRepository(repo), parseRepository(parsed.repo))
  )
    throw usageError(
      `'${reference}' and ${nameOf('repo')} ${repo} name different repositories.`,
      'Use only one of them.',
    )
  return parsed
}

export const urlOfPullRequest = (repo: Repository, pr: number): string =>
  `https://${repositoryName(repo)}/pull/${pr}`
