import { usageError } from '../base/errors.ts'
import {
  isSameRepository,
  namesHost,
  parseRepository,
  type Repository,
  readRepository,
  repositoryKey,
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

/** The name of a pull request of the service, to look it up: `github.com/acme/web main #7`. */
export const pullRequestKey = ({ repo, targetBranch, pr }: PullRequest): string =>
  `${repositoryKey(repo)} ${targetBranch} #${pr}`

/** The largest pull request number that the service accepts (docs/reference/service.md, "Common fields"). */
export const maxPullRequestNumber = 4_294_967_295

const pullRequestUrl =
  /^(?:https?:\/\/)?([^/?#\s@:]+(?::\d+)?\/[^?#\s@]+?)\/(?:pull|-\/merge_requests)\/(\d+)(?![^/?#])(.*)$/is

/** What browsers append to the address of a pull request: one of its pages, a query, a fragment. */
const browserSuffix =
  /^(?:\/(?:files|changes|commits|checks|conflicts|diffs|pipelines)(?:\/[^?#\s]*)?)?\/?(?:[?#]\S*)?$/

/** What stands after a URL in a sentence. */
const punctuation = /[.,;:!?)\]}>'"]+$/

interface Reference {
  readonly number: number
  /** The repository that the reference names, as `host/owner/name`. */
  readonly repo?: string
}

function readAddress(text: string): Reference | undefined {
  const [, path = '', digits = '', suffix = ''] = pullRequestUrl.exec(text) ?? []
  return namesHost(path) && browserSuffix.test(suffix) ? toReference(path, digits) : undefined
}

function toReference(path: string, digits: string): Reference | undefined {
  const repo = isNumber(digits) ? readRepository(path) : undefined
  return repo && { number: Number(digits), repo: repositoryName(repo) }
}

const isNumber = (text: string): boolean =>
  /^#?[1-9]\d{0,9}$/.test(text) && Number(text.replace('#', '')) <= maxPullRequestNumber

/** Reads `123`, `#123`, `acme/web#123`, or an address, which may end a sentence; undefined for any other text. */
function readPullRequest(text: string): Reference | undefined {
  if (isNumber(text)) return { number: Number(text.replace('#', '')) }
  const [, path, digits = ''] = /^([^\s#@:]+\/[^\s#]+)#(\d+)$/.exec(text) ?? []
  if (path !== undefined) return toReference(path, digits)
  return readAddress(text) ?? readAddress(text.replace(punctuation, ''))
}

export const isPullRequestReference = (text: string): boolean => readPullRequest(text) !== undefined

/** Returns what to type instead of a text that is not a pull request. */
const hintInsteadOf = (text: string): string =>
  /^#?\d+(?:,#?\d+)+$/.test(text)
    ? `Separate pull requests with spaces: ${text.replaceAll(/[#,]+/g, ' ').trim()}`
    : text.includes('://')
      ? 'Use the URL of a pull request; pr testing and pr explain also take a URL with the ID of a test run.'
      : "Use a number (123 or '#123'), acme/web#123 or the URL of the pull request."

/** Reads a pull request; throws a usage error for a text that is none (docs/reference/cli.md, "Pull requests"). */
export function parsePullRequest(text: string): Reference {
  const reference = readPullRequest(text)
  if (reference === undefined) throw usageError(`'${text}' is not a pull request.`, hintInsteadOf(text))
  return reference
}

/** Returns what a reference names. Throws a usage error if the caller gave another repository, as the text `repo`. */
export function readReference(
  reference: string,
  repo: string | undefined,
  nameOf: (name: string) => string,
): Reference {
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

/** Where a pull request is, for the record that a script goes on with. */
export const placeFieldsOf = ({ repo, targetBranch, pr }: PullRequest) => ({
  repo: repositoryName(repo),
  targetBranch,
  url: urlOfPullRequest(repo, pr),
})
