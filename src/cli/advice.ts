import type { Advice, RefusedRequest } from '../api/advice.ts'
import type { Resource } from '../api/operation.ts'
import { newSubmissionNote } from '../domain/states.ts'
import { type CommandLine, commandLinesByQueue } from '../domain/suggested-command.ts'

type Hint = (request: RefusedRequest, commandLine: CommandLine) => string | undefined

const anyQueue = { repo: null, targetBranch: null } as const

const listQueues = (commandLine: CommandLine): string =>
  `To list the queues, run: ${commandLine(['queue', 'list'], anyQueue)}`

const getPullRequest = ({ resource }: RefusedRequest, commandLine: CommandLine): string | undefined =>
  resource.pr === undefined
    ? undefined
    : `To check the state of the pull request, run: ${commandLine(['pr', 'get', resource.pr], resource)}`

/** After a change of a pull request was refused: first see what the service knows of it. */
const afterChange: Hint = (request, commandLine) => {
  const hint = getPullRequest(request, commandLine)
  if (hint === undefined || (request.status !== 404 && request.status !== 409)) return undefined
  return `${request.status === 404 ? 'Check --repo and --target-branch. ' : ''}${hint}`
}

const afterMissingQueue: Hint = ({ status }, commandLine) =>
  status === 404 ? `Check --repo and --target-branch.\n${listQueues(commandLine)}` : undefined

/** What to do after the service refused a request, by the operation. */
const hints: Readonly<Record<string, Hint>> = {
  getSubmittedPullRequest: ({ status, resource }, commandLine) =>
    status === 404 && resource.pr !== undefined
      ? `${newSubmissionNote} To wait for it, run: ${commandLine(['pr', 'wait', resource.pr], resource)}\nIf it does not appear, check --repo and --target-branch.`
      : undefined,
  submitPullRequest: (request, commandLine) =>
    request.status === 404
      ? `Check the pull request number, --repo and --target-branch.\n${listQueues(commandLine)}`
      : afterChange(request, commandLine),
  cancelPullRequest: afterChange,
  restartTestsOnPullRequest: afterChange,
  setImpactedTargets: (request, commandLine) =>
    request.status === undefined
      ? 'To send "ALL" instead of the list, use --all.'
      : afterChange(request, commandLine),
  getMergeQueueTestingDetails: (request, commandLine) =>
    request.status === 404 ? getPullRequest(request, commandLine) : undefined,
  getQueue: afterMissingQueue,
  updateQueue: afterMissingQueue,
  createQueue: ({ status, resource }, commandLine) =>
    status === 409
      ? `To see the existing queue, run: ${commandLine(['queue', 'get'], resource)}\nTo change its settings, see: mergeq queue update --help`
      : undefined,
}

/** The command that shows what a change is about. */
const inspectCommands: Readonly<Record<string, readonly string[]>> = {
  submitPullRequest: ['pr', 'get'],
  cancelPullRequest: ['pr', 'get'],
  restartTestsOnPullRequest: ['pr', 'get'],
  setImpactedTargets: ['pr', 'get'],
  createQueue: ['queue', 'get'],
  updateQueue: ['queue', 'get'],
  deleteQueue: ['queue', 'get'],
}

function authentication({ token, resource }: RefusedRequest): string | undefined {
  if (token === undefined)
    return resource.forkedRun === undefined
      ? undefined
      : 'The workflow run must be in progress, come from a fork and test the commit in --sha. If a token is available, set MERGEQ_TOKEN and omit --forked-run.'
  const check = 'Check that the token is complete and belongs to this organization.'
  return /^\w+$/.test(token)
    ? `${check} Set ${token} to another token, or unset it and run: mergeq auth login`
    : `${check} To store another token, run: mergeq auth login`
}

/** The advice of the command line: what to type next. */
export const createAdvice = (commandLine: CommandLine): Advice => ({
  afterRefusal: request =>
    request.status === 401 ? authentication(request) : hints[request.operation]?.(request, commandLine),
  toInspect(operation: string, resources: readonly Resource[]) {
    const words = inspectCommands[operation]
    if (words === undefined) return []
    const isPullRequest = words[0] === 'pr'
    // A command about a pull request shows nothing without its number.
    const shown = isPullRequest ? resources.filter(({ pr }) => pr !== undefined) : resources
    const places = isPullRequest ? shown : shown.map(({ repo, targetBranch }) => ({ repo, targetBranch }))
    return commandLinesByQueue(words, places, commandLine)
  },
})
