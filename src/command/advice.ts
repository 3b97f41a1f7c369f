import type { OperationName } from '../api/operations/index.ts'
import type { Resource } from '../api/resource.ts'
import type { Advice, RefusedRequest } from '../api/service-client.ts'
import { newSubmissionNote } from '../domain/states.ts'
import { type CommandLine, commandLinesByQueue } from '../values/suggested-command.ts'

type Hint = (request: RefusedRequest, commandLine: CommandLine) => string | undefined

const anyQueue = { repo: null, targetBranch: null } as const

const listQueues = (commandLine: CommandLine): string =>
  `To list the queues, run: ${commandLine(['queue', 'list'], anyQueue)}`

const getPullRequest = ({ resource }: RefusedRequest, commandLine: CommandLine): string | undefined =>
  resource.pr === undefined
    ? undefined
    : `To check the state of the pull request, run: ${commandLine(['pr', 'get', resource.pr], resource)}`

/** After a request about a pull request was refused: first see what the service knows of it. */
const afterPullRequest: Hint = (request, commandLine) => {
  const hint = getPullRequest(request, commandLine)
  if (hint === undefined || (request.status !== 404 && request.status !== 409)) return undefined
  return `${request.status === 404 ? 'Check --repo and --target-branch. ' : ''}${hint}`
}

const afterMissingQueue: Hint = ({ status }, commandLine) =>
  status === 404 ? `Check --repo and --target-branch.\n${listQueues(commandLine)}` : undefined

/** What to do after the service refused a request, where it depends on the operation. */
const hints: Readonly<Record<string, Hint>> = {
  getSubmittedPullRequest: ({ status, resource }, commandLine) =>
    status === 404 && resource.pr !== undefined
      ? `If it was just submitted (${newSubmissionNote}), run: ${commandLine(['pr', 'wait', resource.pr], resource)}\nIf it was not submitted, run: ${commandLine(['pr', 'submit', resource.pr], resource)}\nIf it should be there, check --repo and --target-branch.`
      : undefined,
  submitPullRequest: (request, commandLine) =>
    request.status === 404
      ? `Check the pull request number, --repo and --target-branch.\n${listQueues(commandLine)}`
      : // Most refusals are about the pull request: it is merged or closed.
        [request.status === 409 ? '' : 'Nothing was changed. ', getPullRequest(request, commandLine)].join(
          '',
        ),
  setImpactedTargets: (request, commandLine) =>
    request.status === undefined
      ? 'To send "ALL" instead of the list, use --all.'
      : afterPullRequest(request, commandLine),
  getMergeQueueTestingDetails: (request, commandLine) =>
    request.status === 404 ? getPullRequest(request, commandLine) : undefined,
  // The error says that not every service has the operation.
  listPullRequests: () => undefined,
  listMergeQueueTestingResults: () => undefined,
  createQueue: ({ status, resource }, commandLine) =>
    status === 409
      ? `To see the existing queue, run: ${commandLine(['queue', 'get'], resource)}\nTo change its settings, see: mergeq queue update --help`
      : undefined,
} satisfies Partial<Record<OperationName, Hint>>

function authentication({ token, resource }: RefusedRequest, commandLine: CommandLine): string | undefined {
  if (token === undefined)
    return resource.forkedRun === undefined
      ? undefined
      : 'The workflow run must be in progress, come from a fork and test the commit in --sha. If a token is available, set MERGEQ_TOKEN and omit --forked-run.'
  const check = 'Check that the token is complete and belongs to this organization.'
  if (token === 'MERGEQ_TOKEN_FILE') return `${check} Put another token into the file.`
  if (token.endsWith(')')) return `${check} The program must print another one.`
  const login = commandLine(['auth', 'login'], anyQueue)
  return /^\w+$/.test(token)
    ? `${check} Set ${token} to another token, or unset it and run: ${login}`
    : `${check} To store another token, run: ${login}`
}

/** What to do after a refusal, by what the request is about. */
const hintOf = ({ operation, resource }: RefusedRequest): Hint | undefined =>
  hints[operation] ??
  (resource.pr !== undefined
    ? afterPullRequest
    : resource.targetBranch !== undefined
      ? afterMissingQueue
      : undefined)

/** The advice of the command line: what to type next. */
export const createAdvice = (commandLine: CommandLine): Advice => ({
  afterRefusal: request =>
    request.status === 401 ? authentication(request, commandLine) : hintOf(request)?.(request, commandLine),
  toInspect(resources: readonly Resource[]) {
    const pullRequests = resources.filter(({ pr }) => pr !== undefined)
    if (pullRequests.length > 0) return commandLinesByQueue(['pr', 'get'], pullRequests, commandLine)
    const queues = resources.flatMap(({ repo, targetBranch }) =>
      targetBranch === undefined ? [] : [{ repo, targetBranch }],
    )
    return commandLinesByQueue(['queue', 'get'], queues, commandLine)
  },
  toCancel: pullRequests => commandLinesByQueue(['pr', 'cancel'], pullRequests, commandLine),
  toWait: pullRequests =>
    commandLinesByQueue(['pr', 'wait'], pullRequests, (words, place) =>
      commandLine(words, place, ['--until']),
    ),
  toSubmit: pullRequest => commandLine(['pr', 'submit', pullRequest.pr], pullRequest),
})
