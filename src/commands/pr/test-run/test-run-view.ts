import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { get, getArray, getString, type Json, type JsonObject } from '../../../json.ts'
import { linkSpan, type StyledLine, stateSpan, stateStyle } from '../../../output/styled-text.ts'
import { table, type View } from '../../../output/view.ts'

const isFailed = (check: JsonObject): boolean => stateStyle(getString(check, 'state') ?? '')?.style === 'red'

/** Returns the page of a test run: of its first failed check, or else of its first check. */
export const pageOf = (checks: readonly JsonObject[]): string | undefined =>
  [...checks.filter(isFailed), ...checks].map(check => getString(check, 'url')).find(Boolean)

/** Returns the pull requests that were tested, each as a link to its page. */
function testedLine(run: JsonObject, repo: Repository): StyledLine {
  const numbers = getArray(run, 'testedPullRequests').flatMap(tested => {
    const pr = get(tested, 'prNumber')
    return typeof pr === 'number' ? [pr] : []
  })
  if (numbers.length === 0) return 'for unknown pull requests'
  return [
    'for ',
    ...numbers.flatMap((pr, index) => [
      ...(index === 0 ? [] : [', ']),
      linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)),
    ]),
  ]
}

const piecesOf = (line: StyledLine) => (typeof line === 'string' ? [line] : line)

/** The states of a run, each with the state of a pull request that looks the same. */
const runStates: ReadonlyMap<string, string> = new Map([
  ['in_progress', 'TESTING'],
  ['succeeded', 'SUCCESS'],
  ['failed', 'FAILED'],
  ['cancelled', 'CANCELLED'],
])

function statusPieces(status: string | undefined): StyledLine {
  if (status === undefined) return 'unknown status'
  const known = runStates.get(status.toLowerCase())
  if (known === undefined) return status
  const { text, ...look } = stateSpan(known)
  return [{ ...look, text: `${text.split(' ')[0]} ${status.toLowerCase().replaceAll('_', ' ')}` }]
}

/** Returns a test run for a terminal: its status, then its checks, those that failed first. */
export function testRunView(run: JsonObject, checks: readonly JsonObject[], repo: Repository): View {
  const ordered: readonly Json[] = [...checks.filter(isFailed), ...checks.filter(check => !isFailed(check))]
  return {
    ...table(ordered, [
      ['STATE', 'state', 'state'],
      ['NAME', 'name', 'id'],
      ['KIND', 'kind', 'plain', 1],
      ['URL', 'url', 'id'],
    ]),
    heading: [
      [
        'Test run ',
        ...piecesOf(statusPieces(getString(run, 'status'))),
        ' ',
        ...piecesOf(testedLine(run, repo)),
        `, on ${getString(run, 'testBranch') ?? 'an unknown branch'}`,
      ],
    ],
  }
}
